import Glibc
import System
import Testing

/// Secret keys under a password, and such as others can read.
@Suite struct LockedKeyTests {
  let scratch: Scratch
  let fetchres: Fetchres

  init() throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
    try scratch.write("input", randomBytes(1_000))
    for (name, text) in [("right", "geheim"), ("wrong", "geraten"), ("empty", "")] {
      let path = try scratch.write(name, Array("\(text)\n".utf8))
      try #require(chmod(path, 0o600) == 0)
    }
  }

  private func make(_ more: String...) throws -> Outcome {
    try fetchres.run(["keygen", "example.org/thing", "--out", scratch("key")] + more)
  }

  private func publish(_ more: String...) throws -> Outcome {
    try fetchres.run(
      [
        "publish", scratch("input"), "--site", scratch("site"), "--version", "1", "--key",
        scratch("key"),
      ] + more)
  }

  @Test("a key under a password is opened by it alone")
  func password() throws {
    let made = try make("--password-file", scratch("right"))
    made.expect(0)
    let text = String(decoding: try Disk.read(scratch("key")), as: UTF8.self)
    #expect(text.hasPrefix("fetchres secret key \(made.line)\n"))
    #expect(text.contains("BEGIN ENCRYPTED PRIVATE KEY") && !text.contains("PRIVATE+KEY"))
    #expect(Disk.permissions(scratch("key")) == 0o600)
    try publish().expectRefusal(2, "is under a password", "--password-file")
    try publish("--password-file", scratch("wrong")).expectRefusal(2, "is wrong")
    #expect(!Disk.exists(scratch("site")))
    try publish("--password-file", scratch("right")).expect(0)
    try fetchres.run(
      "pull", "file:///", "--key", made.line
    ).expect(2)
    try fetchres.run("log", "verify", scratch("site")).expect(0)
  }

  @Test(
    "the openssl command opens the container too",
    .enabled(if: CertificateDesk.isAvailable, CertificateDesk.need))
  func container() throws {
    try make("--password-file", scratch("right")).expect(0)
    let opened = try Command.run(
      "openssl", ["pkey", "-in", scratch("key"), "-passin", "file:\(scratch("right"))", "-text"],
      in: scratch.path)
    opened.expect(0)
    #expect(opened.output.contains("ED25519 Private-Key"))
  }

  @Test("a damaged key under a password is no key")
  func damaged() throws {
    try make("--password-file", scratch("right")).expect(0)
    let whole = String(decoding: try Disk.read(scratch("key")), as: UTF8.self)
    let other = try fetchres.run("keygen", "example.org/thing", "--out", scratch("other")).line
    for damage in [
      String(whole.prefix(200)),
      // The container of one key and the name of another.
      "fetchres secret key \(other)\n" + whole.drop { $0 != "\n" }.dropFirst(),
      String(whole.prefix { $0 != "\n" }) + "\n",
    ] {
      try Disk.write(scratch("key"), Array(damage.utf8))
      try #require(chmod(scratch("key"), 0o600) == 0)
      try publish("--password-file", scratch("right")).expectRefusal(2, scratch("key"))
    }
  }

  @Test("an empty password protects nothing, and two places for one exclude each other")
  func usage() throws {
    try make("--password-file", scratch("empty")).expectRefusal(2, "protects nothing")
    try make("--password-file", scratch("right"), "--password-fd", "0")
      .expectRefusal(2, "exclude each other")
    try make("--password").expectRefusal(2, "no terminal")
    try make("--password-file", scratch("nowhere")).expectRefusal(6, "password file")
    #expect(!Disk.exists(scratch("key")))
  }

  @Test("a key that others can read is not used", arguments: [0o640, 0o604, 0o620, 0o644, 0o610])
  func exposed(_ mode: mode_t) throws {
    try make().expect(0)
    try #require(chmod(scratch("key"), mode) == 0)
    try publish().expectRefusal(6, "others can read the secret key", "chmod 600")
    #expect(!Disk.exists(scratch("site")))
    for allowed in [0o600, 0o400] as [mode_t] {
      try #require(chmod(scratch("key"), allowed) == 0)
      try publish().expect(0)
    }
  }

  @Test("a password file that others can read is used with a warning")
  func exposedPassword() throws {
    try #require(chmod(scratch("right"), 0o644) == 0)
    let made = try make("--password-file", scratch("right"))
    made.expect(0)
    #expect(made.error.contains("others can read the password file"))
  }

  @Test(
    "on a terminal the password is asked for without being shown, again where it is wrong",
    .enabled(if: Command.path(of: "python3") != nil, "needs python3"))
  func asked() throws {
    try make("--password-file", scratch("right")).expect(0)
    let talk = """
      import os, pty, sys
      number, terminal = pty.fork()
      if number == 0: os.execv(sys.argv[1], sys.argv[1:])
      heard = b""
      def hear(count):
          global heard
          while heard.count(b"password of the secret key") < count: heard += os.read(terminal, 1024)
      for count, answer in enumerate([b"geraten\\n", b"geheim\\n"], 1):
          hear(count)
          # The answer is not heard before the terminal is silent.
          import termios
          while termios.tcgetattr(terminal)[3] & termios.ECHO: pass
          os.write(terminal, answer)
      try:
          while True:
              got = os.read(terminal, 1024)
              if not got: break
              heard += got
      except OSError: pass
      print(heard.decode(errors="replace"))
      print("echo" if termios.tcgetattr(terminal)[3] & termios.ECHO else "silent")
      sys.exit(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
      """
    let child = try Child(
      try #require(Command.path(of: "python3")),
      [
        "-c", talk, Fetchres.binary, "publish", scratch("input"), "--site", scratch("site"),
        "--version", "1", "--key", scratch("key"),
      ], environment: fetchres.environment)
    let outcome = try Outcome(of: child)
    outcome.expect(0)
    #expect(!outcome.output.contains("geheim") && !outcome.output.contains("geraten"))
    #expect(Disk.exists(scratch("site/manifest")))
  }

  @Test(
    "interrupted at the question, it ends, and the terminal shows again what is typed",
    .enabled(if: Command.path(of: "python3") != nil, "needs python3"))
  func interrupted() throws {
    try make("--password-file", scratch("right")).expect(0)
    let talk = """
      import os, pty, sys, termios
      number, terminal = pty.fork()
      if number == 0: os.execv(sys.argv[1], sys.argv[1:])
      heard = b""
      while b"password of the secret key" not in heard: heard += os.read(terminal, 1024)
      os.write(terminal, b"\\x03")
      status = os.waitpid(number, 0)[1]
      print("shown" if termios.tcgetattr(terminal)[3] & termios.ECHO else "hidden")
      print(os.waitstatus_to_exitcode(status))
      """
    let child = try Child(
      try #require(Command.path(of: "python3")),
      [
        "-c", talk, Fetchres.binary, "publish", scratch("input"), "--site", scratch("site"),
        "--version", "1", "--key", scratch("key"),
      ], environment: fetchres.environment)
    let outcome = try Outcome(of: child)
    #expect(outcome.output == "shown\n-2\n", "\(outcome.testDescription)")
    #expect(!Disk.exists(scratch("site")))
  }
}
