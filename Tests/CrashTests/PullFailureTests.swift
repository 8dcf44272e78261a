import Failure
import Glibc
import System
import TestSupport
import Testing

/// Fails each operation of whole pulls in turn, with the machine running on: a sync that failed has
/// dropped what it should have written, and the next one works without it.
@Suite struct PullFailureTests {
  static let scenes: [PullScene.Case] = [
    .first, .interrupted, .resumed, .second, .switched, .refreshed, .outputCopied, .kept,
  ]

  @Test(arguments: scenes, [EIO, ENOSPC])
  func `whichever operation fails, nothing wrong is shown, and a rerun writes it again`(
    _ which: PullScene.Case, _ code: Int32
  ) throws {
    let scene = try PullScene(which)
    var operation = 0
    while true {
      operation += Sanitizer.stride
      let (number, fileSystem) = (operation, scene.start.copy())
      fileSystem.onOperation = { operation throws(SystemError) in
        if operation.number == number {
          throw SystemError(code, operation.kind.rawValue, path: operation.path)
        }
      }
      let ended = failure { () throws(FetchFailure) in try scene.work(fileSystem) }
      let what = Comment("operation \(number), ended by \(ended.map { "\($0)" } ?? "nothing")")
      #expect(ended.map { $0.exitCode == 6 } != false, what)
      let isOver = fileSystem.operationCount < number
      let isDone = ended == nil && which != .interrupted
      #expect(try scene.findings(fileSystem.restart(), isComplete: isDone) == [], what)
      let cut = fileSystem.crash(survivors: .nothingUnsynced)
      #expect(try scene.findings(cut, isComplete: isDone) == [], what)
      let next = fileSystem.restart()
      do {
        try scene.rerun(next)
        let after = next.crash(survivors: .nothingUnsynced)
        #expect(try scene.findings(after, isComplete: true) == [], what)
      } catch { Issue.record(error, what) }
      if isOver { break }
    }
    print("\(which), error \(code): \(operation / Sanitizer.stride - 1) operations failed in turn")
    #expect(operation > 15)
  }
}
