import System
import Testing

/// Command lines that are refused: exit 2, words that say why, and nothing on standard output.
@Suite struct UsageTests {
  let scratch: Scratch
  let fetchres: Fetchres

  init() throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
  }

  static let key = "example.org/thing+0094bdd4+AX8kmIjwpOD2DCN5mcNrpQwcYlQBexyYhX7fQok6ADVw"

  @Test(
    "what is no command line is refused, and the message names the word",
    arguments: [
      ([], "no command", "fetchres help"),
      (["pul"], "no command 'pul'", "did you mean 'pull'?"),
      (["verfy", "x"], "no command 'verfy'", "did you mean 'verify'?"),
      (["inspct"], "no command 'inspct'", "did you mean 'inspect'?"),
      (["frobnicate"], "no command 'frobnicate'", "'fetchres help' lists the commands"),
      (["help", "pul"], "no command 'pul'", "did you mean 'pull'?"),
      (["--frobnicate"], "'--frobnicate'", "fetchres help"),
      (["pull"], "pull takes URL", "usage: fetchres pull"),
      (["pull", "http://a/", "http://b/"], "pull takes URL", "usage: fetchres pull"),
      (["pull", "http://a/", "--frobnicate"], "no option '--frobnicate'", "fetchres help pull"),
      (["pull", "http://a/", "-x"], "no option '-x'", "fetchres help pull"),
      (["pull", "http://a/", "--key"], "--key needs VKEY", "fetchres help pull"),
      (["pull", "http://a/", "-d"], "-d needs DIR", "fetchres help pull"),
      (["pull", "http://a/", "-d", "x", "-d", "y"], "-d is given twice", "fetchres help pull"),
      (["pull", "http://a/", "--offline=yes"], "--offline takes no value", "fetchres help pull"),
      (["status", "a", "b"], "status takes", "usage: fetchres status"),
      (["path", "--json"], "no option '--json'", "fetchres help path"),
      (["clean", "--force"], "no option '--force'", "fetchres help clean"),
      (["keygen"], "keygen takes ORIGIN", "usage: fetchres keygen"),
      (["inspect"], "inspect takes MANIFEST", "usage: fetchres inspect"),
      (["proof"], "proof takes", "usage: fetchres proof"),
      (["proof", "make", "site"], "usage: fetchres proof", "make SITE VERSION INDEX"),
      (["proof", "bake"], "'proof bake' is not what", "did you mean 'proof make'?"),
      (["proof", "frobnicate"], "usage: fetchres proof", "check --index N"),
      (["trust", "lst"], "'trust lst' is not what", "did you mean 'trust list'?"),
      (
        ["completion", "csh"], "'completion csh' is not what 'completion' takes",
        "did you mean 'completion zsh'?"
      ),
      (["pull", "http://a/", "--ofline"], "no option '--ofline'", "did you mean '--offline'?"),
      (["publish"], "publish needs a file", "usage: fetchres publish"),
      (["publish", "f"], "publish needs --site", "usage: fetchres publish"),
      (["publish", "f", "--site", "s"], "publish needs --version", "usage: fetchres publish"),
      (["publish", "f", "--site", "s", "--version", "v"], "publish needs --key", "usage: "),
      (["serve"], "serve takes SITE", "usage: fetchres serve"),
    ] as [([String], String, String)])
  func refused(_ arguments: [String], _ message: String, _ hint: String) throws {
    try fetchres.run(arguments, in: scratch.path).expectRefusal(2, message, hint)
    #expect(Disk.names(in: scratch.path).isEmpty)
  }

  @Test(
    "a value that an option does not take is refused, and the message names both",
    arguments: [
      (["--connections", "0"], "--connections"), (["--connections", "-1"], "--connections"),
      (["--connections", "many"], "'many'"), (["--memory", "64X"], "'64X' is no size"),
      (["--memory", ""], "'' is no size"), (["--memory", "1.5M"], "'1.5M' is no size"),
      (["--memory", "99999999999T"], "is no size"), (["--memory", "+1M"], "is no size"),
      (["--stall", "1K"], "'1K' is no rate and time"),
      (["--stall", "1K/0"], "is no rate and time"),
      (["--stall", "/1s"], "is no rate and time"), (["--limit-rate", "0"], "'0' is no rate"),
      (["--connect-timeout", "10x"], "'10x' is no time"),
      (["--first-byte-timeout", "1s1"], "'1s1' is no time"),
      (["--give-up-after", "soon"], "'soon' is no time"),
      (["--on-new-version", "ask"], "'ask' is no policy for --on-new-version"),
      (["--keep", "0"], "'0' is no number for --keep"), (["--keep", "x"], "'x' is no number"),
      (["--header", "no colon"], "--header takes 'Name: value'"),
      (["--header", ": x"], "--header takes 'Name: value'"),
      (["--header", "A: b\r\nC: d"], "--header takes 'Name: value'"),
      (["--header", "@/no/such/file"], "/no/such/file"),
      (["--key", "@/no/such/file"], "/no/such/file"),
      (["--cacert", "/no/such/file"], "/no/such/file"),
      (["--json", "--quiet"], "--json and --quiet exclude each other"),
      (["--quiet", "--verbose"], "--quiet and --verbose exclude each other"),
      (["-o", ""], "is no file name"), (["-o", "/"], "is no file name"),
      (["--origin", "Example.org"], "'Example.org' is no origin"),
      (
        ["--origin", "other.org/thing"], "the key is for example.org/thing, not for other.org/thing"
      ),
      (["--key", "nonsense"], "'nonsense' is no public key"),
      (["--key", "\(key)x"], "is no public key"),
      (["--key", String(key.dropLast())], "is no public"),
      (["--key", key.replacing("0094bdd4", with: "0094bdd0")], "is no public key"),
      (["--key", key.uppercased()], "is no public key"),
    ] as [([String], String)])
  func values(_ arguments: [String], _ words: String) throws {
    let outcome = try fetchres.run(
      ["pull", "http://127.0.0.1:9/manifest", "--key", Self.key] + arguments, in: scratch.path)
    // A file that the user named and that is not there is the only one that is not usage.
    let code: Int32 = arguments.last == "@/no/such/file" ? 6 : 2
    if arguments != ["--json", "--quiet"] { outcome.expectRefusal(code, words) }
    outcome.expect(code)
    #expect(outcome.error.contains(words))
    #expect(Disk.names(in: scratch.path).allSatisfy { $0 == "state" })
  }

  @Test(
    "what is no URL of a manifest is refused",
    arguments: [
      ("ftp://example.org/manifest", "is neither http nor https"),
      ("file:///etc/passwd", "is neither http nor https"), ("manifest", "is no URL"),
      ("/tmp/site/manifest", "is no URL"), ("", "is no URL"), ("http://", "is no URL"),
      ("http://exa mple.org/", "is no URL"),
      ("http://[::1/manifest", "is no URL"), ("http://example.org:99999/", "is no URL"),
      ("http://example.org/\u{1}", "is no URL"), ("http://exämple.org/", "is no URL"),
      ("http://example.org/releases/.../manifest", "is no version"),
      ("http://example.org/releases/a%2Fb/manifest", "is no version"),
      ("http://example.org/releases/current/manifest", "is no version"),
    ])
  func urls(_ url: String, _ words: String) throws {
    let outcome = try fetchres.run(["pull", url, "--key", Self.key, "--json"], in: scratch.path)
    outcome.expect(2)
    #expect(try outcome.last().category == "usage")
    #expect(
      outcome.error.contains(words) || outcome.error.contains("neither http nor https")
        || outcome.error.contains("names no host"), "\(outcome.testDescription)")
    #expect(Disk.names(in: scratch.path).isEmpty)
  }

  @Test("without a place for the state the run says so", arguments: ["", nil])
  func noState(_ home: String?) throws {
    let outcome = try fetchres.run(
      ["pull", "http://127.0.0.1:9/manifest", "--key", Self.key],
      variables: ["HOME": home, "XDG_STATE_HOME": nil])
    outcome.expectRefusal(2, "no place for the state", "--state-dir")
  }

  @Test("help and version go to standard output and end with 0")
  func help() throws {
    let version = try fetchres.run("--version")
    version.expect(0)
    #expect(version.output.hasPrefix("fetchres ") && version.error.isEmpty)
    let overview = try fetchres.run("help")
    overview.expect(0)
    #expect(try fetchres.run("--help").output == overview.output)
    for command in [
      "pull", "publish", "keygen", "serve", "status", "path", "verify", "inspect", "clean", "proof",
    ] {
      #expect(overview.output.contains("  \(command) "), "\(command)")
      let help = try fetchres.run("help", command)
      help.expect(0)
      #expect(help.output.hasPrefix("example: fetchres \(command) ") && help.error.isEmpty)
      #expect(help.output.contains("\nusage: fetchres \(command) "))
      #expect(try fetchres.run(command, "--help").output == help.output)
      #expect(try fetchres.run(command, "-h").output == help.output)
    }
  }

  @Test("options may come before operands, with an equals sign, and end with two dashes")
  func spellings() throws {
    let key = scratch("key")
    try fetchres.run("keygen", "--out=\(key)", "example.org/thing").expect(0)
    let input = try scratch.write("-odd", [1, 2, 3])
    try fetchres.run(
      [
        "publish", "--site=\(scratch("site"))", "--version=v", "--key=\(key)", "--as=f", "--",
        "-odd",
      ],
      in: Path.parent(input)
    ).expect(0)
    #expect(try Disk.read(scratch("site/releases/v/f")) == [1, 2, 3])
  }
}
