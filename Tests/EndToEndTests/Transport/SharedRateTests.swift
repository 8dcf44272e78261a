import Failure
import System
import Testing
import Transport

/// Transfers that share a rate.
@Suite struct SharedRateTests {
  /// What each transfer has so far, and what each had when the first one ended.
  private struct Counts: Sendable {
    var bytes: [Int]
    var atFirstEnd: [Int]?
    var ended = 0
  }

  private final class Receiver: ResponseReceiver {
    private let (number, counts): (Int, Monitor<Counts>)

    init(_ number: Int, _ counts: Monitor<Counts>) { (self.number, self.counts) = (number, counts) }

    func receive(head: ResponseHead) {}

    func receive(body: UnsafeRawBufferPointer) -> BodyAnswer {
      counts.change { $0.bytes[number] += body.count }
      return .taken
    }

    func finish(_ failure: FetchFailure?) {
      counts.change { counts in
        counts.ended += 1
        counts.atFirstEnd = counts.atFirstEnd ?? counts.bytes
      }
    }
  }

  @Test("under a limit all transfers move, not one after the other")
  func fair() throws {
    let (scratch, size) = (try Scratch(), 256 << 10)
    try scratch.write("file", randomBytes(size))
    let origin = try Origin(scratch.path)
    let asker = Asker { $0.rateLimit = 2 << 20 }
    let counts = Monitor(Counts(bytes: [Int](repeating: 0, count: 8)))
    for number in 0..<8 {
      let request = Request(try WebURL(origin.base + "file"))
      _ = asker.transport.start(request, Receiver(number, counts))
    }
    _ = counts.wait(until: Clocks.monotonic() + Fetchres.patience) { $0.ended == 8 ? true : nil }
    let found = counts.look { $0 }
    #expect(found.bytes == [Int](repeating: size, count: 8))
    #expect(try #require(found.atFirstEnd).allSatisfy { $0 > size / 4 }, "\(found)")
  }
}
