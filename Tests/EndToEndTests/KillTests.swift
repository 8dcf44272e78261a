import Glibc
import System
import TestSupport
import Testing

/// `kill -9` at moments that nobody chose.
@Suite struct KillTests {
  /// A run is stopped at one of these.
  enum Moment: Sendable, CaseIterable {
    /// When the server has sent so many bytes.
    case bytes
    /// When so much of the time has passed that an undisturbed pull takes, its end included.
    case time
    /// As `bytes`, but asked to end, so that there is something in the journal.
    case politely
  }

  // covers: F21
  @Test("pulls that are killed 50 times never show anything wrong, and end right")
  func killed() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let bench = try Workbench()
    let origin = try bench.origin()
    let release = try bench.site.publish(randomBytes(12_000_000))
    let start = Clocks.monotonic()
    try bench.pull().expect(0)
    let duration = Clocks.monotonic() - start
    var kills = 0
    var attempts = 0
    var resumes = 0
    try Disk.remove(bench.directory)

    while kills < 50, attempts < 500 {
      attempts += 1
      let whatHappened: Comment = "seed \(seed), attempt \(attempts), kill \(kills)"
      let journalled = try bench.pulled.partials.first?.journal.claims() ?? []
      let present = try bench.pulled.partials.first?.present(release) ?? []
      #expect(journalled.isSubset(of: present), whatHappened)
      origin.forget()

      let child = try bench.fetchres.start(bench.pulling())
      let moment = try #require(Moment.allCases.randomElement(using: &random))
      switch moment {
      case .bytes, .politely:
        let bytes = Int64.random(in: 0...Int64(release.bytes.count), using: &random)
        let signal = moment == .bytes ? SIGKILL : SIGINT
        origin.onProgress { if $0 >= bytes { child.send(signal) } }
      case .time:
        _ = child.wait(within: Double.random(in: 0...duration * 1.2, using: &random))
        child.send(SIGKILL)
      }
      let ending = try #require(child.wait(within: Fetchres.patience), whatHappened)
      origin.onProgress(nil)
      #expect(origin.blocksAsked(of: release).isDisjoint(with: journalled), whatHappened)
      try bench.pulled.expectNothingWrong(release)

      switch ending {
      case .killed(SIGKILL): kills += 1
      case .exited(130), .exited(0): break
      case .killed, .exited:
        Issue.record("\(ending) \(whatHappened): \(String(decoding: child.error, as: UTF8.self))")
      }
      if !journalled.isEmpty { resumes += 1 }
      if let available = try bench.path() {
        #expect(areEqual(try Disk.read(available), release.bytes), whatHappened)
        try Disk.remove(bench.directory)
      }
    }
    #expect(kills == 50 && resumes > 0, "seed \(seed)")
    try bench.pull().expect(0)
    try bench.expectComplete(release)
    try bench.fetchres.run("verify", bench.directory).expect(0)
  }
}
