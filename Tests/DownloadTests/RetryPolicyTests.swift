import Download
import Testing

@Suite struct RetryPolicyTests {
  @Test func `a block waits little, more each time, and never long`() {
    let waits = (1...50).map { RetryPolicy.blockWait(attempts: $0) }
    #expect(waits[0] == 0)
    #expect(waits[1] > 0)
    #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(waits.allSatisfy { $0 <= 2 })
    #expect(RetryPolicy.blockWait(attempts: .max) <= 2)
  }

  @Test func `jitter adds up to a tenth and takes nothing away`() {
    #expect(RetryPolicy.jittered(100, random: 0) == 100)
    #expect(abs(RetryPolicy.jittered(100, random: 0.5) - 105) < 1e-9)
    #expect(RetryPolicy.jittered(100, random: 0.999_999) < 110)
    #expect(RetryPolicy.jittered(0, random: 0.9) == 0)
  }
}
