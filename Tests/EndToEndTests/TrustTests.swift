import System
import Testing

/// Keys that are trusted for good.
@Suite struct TrustTests {
  @Test("a trusted key needs no --key, and the URL itself may name the origin")
  func trusted() throws {
    let bench = try Workbench(origin: "127.0.0.1")
    let release = try bench.site.publish(randomBytes(100_000))
    let url = bench.server.base + "manifest"
    try bench.fetchres.run("pull", url, "-d", bench.directory).expect(5)
    // White space around a key in a file is nothing.
    let file = try bench.scratch.write("vkey", Array("\n  \(bench.site.key) \r\n\n".utf8))
    try bench.fetchres.run("trust", "add", "@\(file)", "--name", "mine").expect(0)
    try bench.fetchres.run("pull", url, "-d", bench.directory).expect(0)
    try bench.expectComplete(release)

    let list = try bench.fetchres.run("trust", "list")
    #expect(list.line == "key \(bench.site.key) (mine)")
    let again = try bench.fetchres.run("trust", "add", bench.site.key)
    again.expect(0)
    #expect(again.error.contains("trusted already"))
    try bench.fetchres.run("trust", "remove", "mine").expect(0)
    #expect(try bench.fetchres.run("trust", "list").output.isEmpty)
    try bench.fetchres.run("trust", "remove", "mine").expectRefusal(1, "is called 'mine'")
    try bench.fetchres.run("pull", url, "-d", bench.directory).expectRefusal(5, "no key is trusted")
  }

  @Test("what is no key is refused with a hint", arguments: ["nonsense", "a+00000000+AAAA", ""])
  func noKey(_ text: String) throws {
    let scratch = try Scratch()
    try Fetchres(scratch).run("trust", "add", text).expectRefusal(2, "is no public key", "hint: ")
    #expect(Disk.names(in: scratch("state")).isEmpty)
  }

  @Test("reset asks first, and then first use begins again")
  func reset() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let first = try bench.pull()
    #expect(first.error.contains("first use of example.org/thing"))
    #expect(!(try bench.pull()).error.contains("first use"))
    try bench.fetchres.run("trust", "reset", "example.org/thing").expectRefusal(2, "--yes")
    #expect(!(try bench.pull()).error.contains("first use"))
    try bench.fetchres.run("trust", "reset", "example.org/thing", "--yes").expect(0)
    #expect(try bench.pull().error.contains("first use of example.org/thing"))
  }

  @Test("a damaged record is never taken for none")
  func damaged() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    try bench.pull().expect(0)
    let logs = bench.scratch("state/fetchres/logs")
    let name = try #require(Disk.names(in: logs).first { !$0.hasPrefix(".") })
    #expect(Disk.permissions("\(logs)/\(name)") == 0o600)
    #expect(Disk.permissions(logs) == 0o700)
    try Disk.flip("\(logs)/\(name)", at: 100)
    try bench.pull().expectRefusal(6, "damaged")
    try bench.fetchres.run("trust", "reset", "example.org/thing", "--yes").expect(0)
    try bench.pull().expect(0)
  }
}
