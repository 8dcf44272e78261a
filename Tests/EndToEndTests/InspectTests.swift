import Testing

@Suite struct InspectTests {
  @Test("a manifest is shown as it is, from a file and from a URL", arguments: Server.available)
  func shows(_ server: Server) throws {
    let bench = try Workbench(server)
    try bench.site.publish(randomBytes(1_000))
    let note = String(decoding: try bench.site.manifest(), as: UTF8.self)
    let file = try bench.fetchres.run("inspect", bench.site.manifestPath())
    file.expect(0)
    #expect(note.hasPrefix(file.output) && file.output.hasSuffix("since 0\n"))
    #expect(file.error.contains("nobody has said that it is trusted"))
    let url = try bench.fetchres.run(
      ["inspect", bench.server.base + "manifest"] + bench.server.pullArguments)
    url.expect(0)
    #expect(url.output == file.output)
  }

  @Test("what its own key did not sign is refused, and not shown")
  func forged() throws {
    let bench = try Workbench()
    try bench.site.publish(randomBytes(1_000))
    let note = String(decoding: try bench.site.manifest(), as: UTF8.self)
    let forged = try bench.scratch.write(
      "forged", Array(note.replacing("size 1000\n", with: "size 1001\n").utf8))
    try bench.fetchres.run("inspect", forged).expectRefusal(5)
    let noise = try bench.scratch.write("noise", randomBytes(500))
    try bench.fetchres.run("inspect", noise).expectRefusal(4)
    for count in [65_536, 70_000] {
      let large = try bench.scratch.write("large", [UInt8](repeating: 0x0A, count: count))
      try bench.fetchres.run("inspect", large).expectRefusal(4, "more than 65535 bytes")
    }
    try bench.fetchres.run("inspect", bench.scratch("missing")).expectRefusal(6, "missing")
    try bench.fetchres.run("inspect", "\(bench.server.base)missing").expectRefusal(4, "404")
  }
}
