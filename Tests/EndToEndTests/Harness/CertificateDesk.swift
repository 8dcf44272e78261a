import Glibc
import System
import Testing

/// Certificates of the moment, made with the `openssl` command in a directory of their own: a root, an
/// authority below it, and whom they vouch for.
final class CertificateDesk: Sendable {
  let scratch: Scratch

  static let isAvailable = Command.path(of: "openssl") != nil
  static let need: Comment = "needs the openssl command"

  /// Makes `root.pem` and, signed by it, `middle.pem`.
  init() throws {
    scratch = try Scratch()
    try Disk.write(
      scratch("authority.ext"),
      Array("basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n".utf8))
    try openssl(
      Self.newKey("root") + [
        "req", "-x509", "-new", "-key", "root.key", "-subj", "/CN=root", "-days", "30", "-addext",
        "basicConstraints=critical,CA:TRUE", "-out", "root.pem",
      ])
    try issue("middle", by: "root", extensions: "authority.ext")
  }

  private static func newKey(_ name: String) -> [String] {
    ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "\(name).key", "--"]
  }

  func callAsFunction(_ name: String) -> String { scratch(name) }

  /// Runs `openssl`; several commands are told apart by a word `--`. All have to succeed.
  func openssl(_ words: [String]) throws {
    for command in words.split(separator: "--") {
      let outcome = try Command.run("openssl", Array(command), in: scratch.path)
      try #require(outcome.exitCode == 0, "\(command): \(outcome.testDescription)")
    }
  }

  func openssl(_ words: String...) throws { try openssl(words) }

  /// Makes `<name>.key` and `<name>.pem`.
  ///
  /// - Parameter days: how long it is valid; a negative number for one that has expired.
  func issue(
    _ name: String, by authority: String, extensions: String? = nil, subject: String? = nil,
    days: Int = 30
  ) throws {
    try openssl(
      Self.newKey(name) + [
        "req", "-new", "-key", "\(name).key", "-subj", subject ?? "/CN=\(name)", "-out",
        "\(name).csr",
      ])
    try sign(name, by: authority, extensions: extensions, days: days)
  }

  /// Signs `<name>.csr` again.
  func sign(_ name: String, by authority: String, extensions: String?, days: Int) throws {
    try openssl(
      [
        "x509", "-req", "-in", "\(name).csr", "-CA", "\(authority).pem", "-CAkey",
        "\(authority).key", "-set_serial", "\(UInt32.random(in: 1 ... .max))", "-days", "\(days)",
        "-out", "\(name).pem",
      ] + (extensions.map { ["-extfile", $0] } ?? []))
  }

  /// Makes `<name>.key` and `<name>.pem` for a server on the loopback address.
  func issueServer(
    _ name: String, by authority: String = "root",
    names: String = "IP:127.0.0.1,DNS:localhost", days: Int = 30
  ) throws {
    let extensions = "\(name).ext"
    try Disk.write(scratch(extensions), Array("subjectAltName=\(names)\n".utf8))
    try issue(name, by: authority, extensions: extensions, days: days)
  }

  /// Makes `<name>.p12` out of a key and a certificate of that name.
  @discardableResult
  func export(
    _ name: String, to file: String? = nil, chain: [String] = [], password: String = "s3cret",
    _ more: [String] = []
  ) throws -> String {
    let issuers = try chain.flatMap { try Disk.read(scratch("\($0).pem")) }
    try Disk.write(scratch("chain.pem"), issuers)
    let out = file ?? "\(name).p12"
    try openssl(
      [
        "pkcs12", "-export", "-in", "\(name).pem", "-inkey", "\(name).key", "-passout",
        "pass:\(password)", "-out", out,
      ] + (chain.isEmpty ? [] : ["-certfile", "chain.pem"]) + more)
    return scratch(out)
  }

  /// Signs `<name>.csr` again, with dates of a century to come.
  func signForFuture(_ name: String, by authority: String, extensions: String? = nil) throws {
    try scratch.write(
      "future.cnf",
      Array(
        """
        [ca]
        default_ca = desk
        [desk]
        database = index
        rand_serial = yes
        new_certs_dir = .
        default_md = sha256
        policy = policy
        [policy]
        commonName = supplied
        organizationName = optional

        """.utf8))
    try scratch.write("index", [])
    try openssl(
      [
        "ca", "-batch", "-notext", "-config", "future.cnf", "-in", "\(name).csr", "-cert",
        "\(authority).pem", "-keyfile", "\(authority).key", "-startdate", "21000101000000Z",
        "-enddate", "21100101000000Z", "-out", "\(name).pem",
      ] + (extensions.map { ["-extfile", $0] } ?? []))
  }

  /// A file that holds a password, for its owner alone.
  func password(_ bytes: [UInt8], _ name: String = "password") throws -> String {
    let path = try scratch.write(name, bytes)
    try #require(chmod(path, 0o600) == 0)
    return path
  }

  func password(_ text: String = "s3cret") throws -> String {
    try password(Array(text.utf8) + [0x0A], "password-\(text.utf8.count)-\(text.hashValue)")
  }
}

/// Other programs that tests use.
enum Command {
  /// Nil if it is not installed.
  static func path(of name: String) -> String? {
    let path = (ThisProcess.environment("PATH") ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { Disk.exists($0) }
  }

  static func run(
    _ name: String, _ arguments: [String], in directory: String
  ) throws -> Outcome {
    let program = try #require(path(of: name), "\(name) is not installed")
    return try Outcome(
      of: try Child(
        program, arguments, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"],
        directory: directory))
  }
}
