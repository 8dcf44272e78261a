import Failure
import FetchResKit
import SignedNote
import Testing

@testable import fetchres_cli

@Suite struct ConfigurationTests {
  private func read(_ text: String) throws -> Configuration {
    try Configuration(Array(text.utf8), path: "conf")
  }

  private func pull(_ words: [String] = []) throws -> ParsedArguments {
    try ParsedArguments(["http://127.0.0.1:9/manifest"] + words, PullCommand.spec)
  }

  private let origin = Origin("example.org/thing")

  @Test func `lines name options, comments and empty lines say nothing`() throws {
    let configuration = try read(
      "# for all\n\n  connections   4 \r\nheader Authorization: a b\nquiet\nheader X: y\n")
    var arguments = try pull()
    arguments.fill(configuration.settings(for: nil))
    #expect(arguments.value("--connections") == "4")
    #expect(arguments.all("--header") == ["Authorization: a b", "X: y"])
    #expect(arguments.has("--quiet"))
    #expect(!arguments.isTyped("--header"))
  }

  @Test(
    "what is no configuration is refused, and the line is named",
    arguments: [
      ("conections 4", "no option 'conections' (conf:1)", "did you mean 'connections'?"),
      ("\nkey x", "no option 'key' (conf:2)", nil), ("config x", "no option 'config'", nil),
      ("offline", "no option 'offline'", nil), ("--memory 1M", "no option '--memory'", nil),
      ("memory", "'memory' needs SIZE (conf:1)", nil),
      ("memory 1M\nmemory 2M", "'memory' is said twice (conf:2)", "remove one of the lines"),
      ("quiet maybe", "'maybe' is neither yes nor no for 'quiet' (conf:1)", nil),
      ("[origin example.org/Thing]", "is no section (conf:1)", "[origin NAME]"),
      ("[example.org]", "is no section (conf:1)", nil), ("[origin x", "is no section", nil),
      ("[origin example.org/thing]\nstate-dir /x", "'state-dir' is for all origins (conf:2)", nil),
    ] as [(String, String, String?)])
  func refused(_ text: String, _ message: String, _ hint: String?) throws {
    let failure = #expect(throws: FetchFailure.self) { try read(text) }
    #expect(failure?.category == .usage)
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    if let hint { #expect(failure?.hint?.contains(hint) == true) }
  }

  @Test func `bytes that are no text are refused`() {
    #expect(throws: FetchFailure.self) { try Configuration([0x80, 0x0A], path: "conf") }
  }

  @Test func `a section wins over what is for all, and the command line over both`() throws {
    let configuration = try read(
      """
      connections 2
      memory 32M
      mirror http://a.example.org/
      quiet
      [origin example.org/thing]
      connections 3
      mirror http://b.example.org/
      verbose
      [origin example.org/other]
      memory 1M
      """)
    var own = try pull()
    own.fill(configuration.settings(for: origin))
    #expect(own.value("--connections") == "3")
    #expect(own.value("--memory") == "32M")
    #expect(own.all("--mirror") == ["http://b.example.org/"])
    #expect(own.has("--verbose") && !own.has("--quiet"))

    var other = try pull()
    other.fill(configuration.settings(for: nil))
    #expect(other.value("--connections") == "2" && other.value("--memory") == "32M")
    #expect(other.has("--quiet"))

    var typed = try pull(["--connections", "9", "--json", "--mirror", "http://c.example.org/"])
    typed.fill(configuration.settings(for: origin))
    #expect(typed.value("--connections") == "9")
    #expect(typed.all("--mirror") == ["http://c.example.org/"])
    #expect(!typed.has("--verbose") && !typed.has("--quiet"))
  }

  @Test func `a section can turn a switch off`() throws {
    let configuration = try read("quiet\n[origin example.org/thing]\nquiet no\n")
    var arguments = try pull()
    arguments.fill(configuration.settings(for: origin))
    #expect(!arguments.has("--quiet"))
  }

  @Test func `a value that an option does not take names the line`() throws {
    var arguments = try pull()
    arguments.fill(try read("\n\nmemory 64X").settings(for: nil))
    let failure = #expect(throws: FetchFailure.self) { try PullCommand.request(arguments) }
    #expect(failure?.message == "'64X' is no size for --memory (conf:3)")
  }

  @Test func `the help tells each value and where it came from, and no secret`() throws {
    let settings = EffectiveSettings(
      configuration: try read(
        """
        connections 4
        header Authorization: Bearer hunter2
        mirror http://me:hunter3@a.example.org/
        state-dir /var/lib/x
        [origin example.org/thing]
        connections 2
        """))
    let rows = settings.rows(for: nil)
    func row(_ option: String) -> [String]? {
      rows.first { $0.option == option }.map { [$0.value, $0.place] }
    }
    #expect(row("connections") == ["4", "conf:1"])
    #expect(row("memory") == ["64M", "default"])
    #expect(row("state-dir") == ["/var/lib/x", "conf:4"])
    #expect(settings.rows(for: origin).contains { $0.value == "2" && $0.place == "conf:6" })
    #expect(settings.text.contains("\n[origin example.org/thing]\nconnections"))
    #expect(!settings.text.contains("hunter"))
    #expect(settings.text.contains("Authorization:***"))
    for option in Configuration.options { #expect(settings.text.contains("\n\(option.key) ")) }
  }

  @Test func `every option that the configuration may say can be told from the others`() {
    let options = Configuration.options
    #expect(Set(options.map(\.key)).count == options.count)
    #expect(options.count >= 20)
    // One name means one thing, whatever the command.
    for command in Commands.all {
      for option in command.allOptions where option.isConfigurable {
        let other = options.first { $0.name == option.name }
        #expect(other?.argument == option.argument && other?.isSectional == option.isSectional)
      }
    }
  }
}

@Suite struct StatePlaceTests {
  @Test(
    "the state is where the environment says",
    arguments: [
      (["XDG_STATE_HOME": "/s", "HOME": "/h", "STATE_DIRECTORY": "/d"], "/s/fetchres"),
      (["HOME": "/h", "STATE_DIRECTORY": "/d"], "/h/.local/state/fetchres"),
      (["XDG_STATE_HOME": "", "HOME": "", "STATE_DIRECTORY": "/d:/e"], "/d"),
      (["HOME": ""], nil), ([:], nil),
    ] as [([String: String], String?)])
  func places(_ environment: [String: String], _ path: String?) {
    #expect(StatePlace { environment[$0] }?.path == path)
  }
}
