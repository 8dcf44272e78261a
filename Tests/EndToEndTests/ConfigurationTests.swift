import Testing

/// The configuration file, as pulls find it.
@Suite struct ConfigurationTests {
  private let bench: Workbench
  private let release: Release

  init() throws {
    bench = try Workbench()
    release = try bench.site.publish(randomBytes(3 * Site.blockSize))
  }

  private func configure(_ text: String) throws -> String {
    try bench.fetchres.scratch.write("config/fetchres/config", Array(text.utf8))
  }

  @Test("a line that is wrong ends the run, and file and line are named")
  func wrong() throws {
    let path = try configure("memory 32M\nconections 4\n")
    try bench.pull().expectRefusal(2, "no option 'conections' (\(path):2)", "'connections'")
    try bench.fetchres.run("status", bench.directory).expect(2)
    try bench.pull("--config", "none").expect(0)
    try bench.expectComplete(release)
  }

  @Test("a file of one's own has to be there")
  func chosen() throws {
    _ = try configure("nonsense\n")
    try bench.pull("--config", bench.scratch("nothing")).expectRefusal(6, "cannot read")
    let own = try bench.scratch.write("own", Array("quiet\n".utf8))
    let outcome = try bench.pull("--config", own)
    outcome.expect(0)
    #expect(outcome.error.isEmpty)
  }

  @Test("the section of the origin that is expected counts, and no other")
  func sections() throws {
    _ = try configure(
      "[origin example.org/other]\nmemory nonsense\n[origin example.org/thing]\nquiet\n")
    let outcome = try bench.pull()
    outcome.expect(0)
    #expect(outcome.error.isEmpty)
    // Found again without a key on the command line.
    try bench.fetchres.run("trust", "add", bench.site.key).expect(0)
    let again = try bench.fetchres.run(
      ["pull", bench.server.base + "manifest", "-d", bench.directory])
    again.expect(0)
    #expect(again.error.isEmpty)
  }

  @Test("command line, file and environment, in this order, decide where the state is")
  func precedence() throws {
    let (file, typed) = (bench.scratch("from-file"), bench.scratch("typed"))
    _ = try configure("state-dir \(file)\n")
    try bench.pull("--state-dir", typed).expect(0)
    #expect(Disk.exists(typed) && !Disk.exists(file))
    try bench.pull().expect(0)
    #expect(Disk.exists(file))
    #expect(!Disk.exists("\(bench.fetchres.home)/state/fetchres/sites"))
    let help = try bench.fetchres.run("help", "config")
    help.expect(0)
    #expect(help.output.contains("\nstate-dir"))
    #expect(help.output.contains("\(file)  \(bench.fetchres.home)/config/fetchres/config:1"))
    let none = try bench.fetchres.run("help", "config", "--config", "none")
    #expect(none.output.contains("$XDG_STATE_HOME") && none.output.contains("file: none"))
  }

  @Test("the help tells the proxy of the environment, without its password")
  func proxies() throws {
    for url in ["http://me:hunter2@127.0.0.1:9", "me:hunter2@127.0.0.1:9"] {
      let help = try bench.fetchres.run(["help", "config"], variables: ["http_proxy": url])
      help.expect(0)
      #expect(help.output.contains("***@127.0.0.1:9") && help.output.contains("  $http_proxy"))
      #expect(!help.output.contains("hunter2"))
    }
  }

  @Test("what is typed puts out what the file says of the same matter")
  func typedTalk() throws {
    _ = try configure("quiet\n")
    let outcome = try bench.pull("--json")
    outcome.expect(0)
    #expect(try outcome.last().event == "complete")
  }
}
