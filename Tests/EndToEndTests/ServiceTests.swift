import Foundation
import System
import Testing

/// Runs that nobody watches: cron, systemd, nohup, closed streams.
@Suite struct ServiceTests {
  /// Runs a command line of sh with nothing in the environment but what is named.
  private func bare(
    _ bench: Workbench, _ script: String, _ variables: [String: String] = [:]
  ) throws -> Outcome {
    let words = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    return try Outcome(
      of: try Child(
        "/usr/bin/env", ["-i"] + words + ["/bin/sh", "-c", script], environment: [:],
        directory: bench.scratch.path))
  }

  private func line(_ bench: Workbench, _ more: String...) -> String {
    ([Fetchres.binary] + bench.pulling(more)).map { "'\($0)'" }.joined(separator: " ")
  }

  @Test("cron: an environment of nothing needs --state-dir, and then works")
  func cron() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(1_000))
    try bare(bench, line(bench)).expectRefusal(2, "no place for the state", "--state-dir")
    let outcome = try bare(bench, line(bench, "--state-dir", bench.scratch("own")))
    outcome.expect(0)
    #expect(!outcome.error.contains("\u{1B}") && !outcome.error.contains("\r"))
    #expect(outcome.line == "\(bench.directory)/v1/\(release.file)")
    try bench.expectComplete(release)
  }

  @Test("the unit among the samples runs, with nothing but what a service gets")
  func unit() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(1_000))
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Samples/systemd/fetchres@.service")
    let unit = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let start = try #require(unit.first { $0.hasPrefix("ExecStart=") }?.dropFirst(10))
    let etc = bench.scratch("etc")
    try Disk.write("\(etc)/fetchres/thing.pub", Array(bench.site.key.utf8))
    try Disk.write("\(etc)/fetchres/config", Array("connections 2\n".utf8))
    let command = String(start).replacing("/usr/local/bin/fetchres", with: Fetchres.binary)
      .replacing("/etc", with: etc).replacing("%i", with: "thing")
      .replacing("%C", with: bench.scratch("cache"))
    let outcome = try bare(
      bench, String(command),
      [
        "URL": bench.server.base + "manifest", "STATE_DIRECTORY": bench.scratch("state-directory"),
        "XDG_CONFIG_HOME": etc,
      ])
    outcome.expect(0)
    let path = bench.scratch("cache/fetchres/thing/v1/\(release.file)")
    #expect(outcome.line == path)
    #expect(try Disk.read(path) == release.bytes)
    #expect(Disk.exists(bench.scratch("state-directory")))
    #expect(unit.contains("UnsetEnvironment=HOME XDG_STATE_HOME"))
  }

  @Test("a closed standard output is a failure, and no file gets what belonged there")
  func closedOutput() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(1_000))
    let state = ["HOME": bench.scratch("home")]
    let outcome = try bare(bench, "exec " + line(bench) + " >&-", state)
    outcome.expect(6)
    #expect(outcome.error.contains("cannot write to standard output"))
    try bench.expectComplete(release)
    let silent = try bare(bench, "exec " + line(bench) + " >&- 2>&- <&-", state)
    silent.expect(6)
    try bench.expectComplete(release)
    for name in Disk.names(in: "\(bench.directory)/.fetchres") where name != "partial" {
      let text = String(
        decoding: try Disk.read("\(bench.directory)/.fetchres/\(name)"), as: UTF8.self)
      #expect(!text.contains("complete") && !text.contains("/v1/"), "\(name): \(text)")
    }
  }

  @Test("a reader that has gone is no failure of the pull")
  func brokenPipe() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(1_000))
    let outcome = try bare(
      bench, "(" + line(bench) + "; echo $? >status) | true", ["HOME": bench.scratch("home")])
    outcome.expect(0)
    try bench.expectComplete(release)
  }

  @Test("nohup: a hang-up that is ignored stays ignored")
  func noHangUp() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let origin = try bench.origin()
    origin.bendData(of: release) { _, response in
      (response.limit, response.ending) = (Int64(Site.blockSize), .hold)
    }
    let words = ([Fetchres.binary] + bench.pulling()).map { "'\($0)'" }.joined(separator: " ")
    let child = try Child(
      "/bin/sh", ["-c", "trap '' HUP; exec \(words)"], environment: bench.fetchres.environment)
    #expect(origin.waitForHeld(1))
    child.send(SIGHUP)
    // Were it not ignored, this one would be the second, and end the process at once.
    child.send(SIGTERM)
    let outcome = try Outcome(of: child)
    outcome.expect(143)
    #expect(outcome.error.contains("error: terminated"))
  }

  @Test("a log has no codes of terminals, and --progress only adds lines to it")
  func log() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(3 * Site.blockSize))
    let outcome = try bench.fetchres.run(
      bench.pulling(["--progress"]), variables: ["NO_COLOR": nil, "TERM": "xterm"])
    outcome.expect(0)
    #expect(!outcome.error.contains("\u{1B}") && !outcome.error.contains("\r"))
    #expect(outcome.error.contains(" 100 %: 192 KiB of 192 KiB"))
    #expect(outcome.output.split(separator: "\n").count == 1)
    #expect(outcome.error.contains(" is complete: 192 KiB, 192 KiB fetched in 0:0"))
  }
}
