import Glibc
import System
import Testing

extension Workbench {
  /// Begins a pull whose server falls silent at block `cut`; returns when everything below it is
  /// verified. The server stays like that.
  func beginPull(
    _ release: Release, upTo cut: Int, _ more: [String] = [],
    variables: [String: String] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Child {
    let origin = try origin(sourceLocation: sourceLocation)
    let end = Int64(cut * release.blockSize)
    origin.bendData(of: release) { request, response in
      guard let range = request.range, range.upperBound > end else { return }
      // What it has of a transfer that broke off, the program verifies at once.
      response.limit = max(0, end - range.lowerBound)
      response.ending = range.lowerBound < end ? .close : .hold
    }
    let child = try fetchres.start(pulling(["--json"] + more), variables: variables)
    let isThere = child.waitForOutput(within: Fetchres.patience) {
      $0.contains("\"verified\":\(end),")
    }
    try #require(
      isThere, "\(String(decoding: child.output + child.error, as: UTF8.self))",
      sourceLocation: sourceLocation)
    return child
  }

  /// Leaves a pull behind that was interrupted when all below block `cut` was verified, with a server
  /// that is well again and remembers nothing.
  @discardableResult
  func interruptPull(
    _ release: Release, upTo cut: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let child = try beginPull(release, upTo: cut, sourceLocation: sourceLocation)
    child.send(SIGINT)
    let outcome = try Outcome(of: child, sourceLocation: sourceLocation)
    outcome.expect(130, sourceLocation: sourceLocation)
    let origin = try origin(sourceLocation: sourceLocation)
    origin.bend(nil)
    origin.forget()
    return outcome
  }

  /// Fails unless a pull now completes `release` and asks for exactly these blocks.
  func expectResume(
    _ release: Release, fetching blocks: some Collection<Int>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let outcome = try pull("--json", sourceLocation: sourceLocation)
    outcome.expect(0, sourceLocation: sourceLocation)
    let asked = try origin(sourceLocation: sourceLocation).blocksAsked(of: release)
    #expect(
      asked == Set(blocks), "\(outcome.testDescription)", sourceLocation: sourceLocation)
    let bytes = blocks.reduce(0) { $0 + release.range(of: $1).count }
    #expect(
      try outcome.last().fetched == Int64(bytes), "\(outcome.testDescription)",
      sourceLocation: sourceLocation)
    try expectComplete(release, sourceLocation: sourceLocation)
  }
}
