import System
import Testing

/// What is waited for, and for how long.
@Suite struct PatienceTests {
  @Test("a block that takes longer than --give-up-after, and keeps coming, arrives")
  func slowAndSteady() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(512 << 10), blockSize: 512 << 10)
    try bench.origin().bendData(of: release) { _, response in
      response.pace = (bytes: 16 << 10, seconds: 0.1)
    }
    try bench.pull("--give-up-after", "1s").expect(0)
    try bench.expectComplete(release)
  }

  @Test("the body of a redirect does not go on for ever")
  func endlessRedirect() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.origin().bend { request, response in
      guard request.path == "/manifest" else { return }
      response = OriginResponse(302, [UInt8](repeating: 0x20, count: 1 << 20))
      response["Location"] = "/elsewhere"
    }
    try bench.pull("--json").expectFailure("redirect-refused", 4)
  }
}
