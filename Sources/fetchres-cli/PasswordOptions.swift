import Crypto
import Failure
import System

/// Where a command gets its passwords: a file, a descriptor, or the terminal; never its own arguments
/// or the environment, which others can see.
enum PasswordOptions {
  static let specs = [
    OptionSpec("--password-file", "FILE", "read the password from the first line of this file"),
    OptionSpec("--password-fd", "N", "read it from this descriptor"),
  ]

  private static let limit = 1_024

  static func source(
    _ arguments: ParsedArguments, _ interruption: Interruption
  ) throws(FetchFailure) -> PasswordSource {
    let descriptor = try arguments.parse("--password-fd", "descriptor") { Quantities.count($0) }
    switch (arguments.value("--password-file"), descriptor) {
    case (_?, _?):
      throw FetchFailure(.usage, "--password-file and --password-fd exclude each other")
    case (let path?, nil):
      return .known(try read(path, interruption))
    case (nil, let number?):
      ThisProcess.forbidCoreDumps()
      let descriptor = Descriptor(owning: Int32(number))
      return .known(
        try firstLine(descriptor, "descriptor \(number)", interruption))
    case (nil, nil):
      return terminal(interruption)
    }
  }

  /// Asks again for as long as nobody interrupts.
  static func terminal(_ interruption: Interruption) -> PasswordSource {
    PasswordSource(asksAgain: true) { question throws(FetchFailure) in
      ThisProcess.forbidCoreDumps()
      do throws(SystemError) {
        guard var line = try Terminal.askSecret(question, limit: limit, interruption) else {
          return nil
        }
        return SecretBytes(taking: &line)
      } catch {
        try interruption.check()
        throw error.failure("cannot read a password from the terminal")
      }
    }
  }

  static let newSpecs =
    specs + [OptionSpec("--password", "ask for a password on the terminal, twice")]

  /// A password that is new; nil if none is wanted.
  static func newPassword(
    _ arguments: ParsedArguments, of subject: String
  ) throws(FetchFailure) -> SecretBytes? {
    let given = newSpecs.map(\.name).filter { arguments.has($0) }
    guard given.count <= 1 else {
      throw FetchFailure(.usage, "\(given[0]) and \(given[1]) exclude each other")
    }
    guard !given.isEmpty else { return nil }
    let source = try source(arguments, Interruption())
    guard let password = try source.ask("new password of \(subject): ") else {
      throw FetchFailure(
        .usage, "there is no terminal to ask for the new password on",
        hint: "give --password-file FILE")
    }
    guard !password.isEmpty else {
      throw FetchFailure(.usage, "an empty password protects nothing")
    }
    if source.asksAgain {
      let again = try source.ask("the same again: ")
      guard again?.isSame(as: password) == true else {
        throw FetchFailure(.usage, "the two passwords are not the same")
      }
    }
    return password
  }

  private static func read(
    _ path: String, _ interruption: Interruption
  ) throws(FetchFailure) -> SecretBytes {
    ThisProcess.forbidCoreDumps()
    let file = try doing("cannot read the password file \(path)") { () throws(SystemError) in
      try Descriptor.open(path, Descriptor.readOnly)
    }
    if let status = try? file.status(), status.kind == .regular, status.permissions & 0o077 != 0 {
      Talk.warning("others can read the password file \(path): chmod 600 it")
    }
    return try firstLine(file, path, interruption)
  }

  private static func firstLine(
    _ descriptor: Descriptor, _ name: String, _ interruption: Interruption
  ) throws(FetchFailure) -> SecretBytes {
    do throws(SystemError) {
      var line = try Terminal.readLine(from: descriptor, limit: limit, interruption) ?? []
      return SecretBytes(taking: &line)
    } catch {
      try interruption.check()
      throw error.failure("cannot read a password from \(name)")
    }
  }
}
