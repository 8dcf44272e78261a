import Crypto
import Failure

/// Attempts at one password, until one is right or there is nobody left to ask.
struct PasswordAttempts {
  let source: PasswordSource
  /// What is opened, such as `the identity 'me'`.
  let subject: String
  let report: (String) -> Void

  /// - Parameter open: nil for a wrong password; what it throws ends the attempts and counts as none.
  func run<Opened>(
    _ open: (SecretBytes) throws(FetchFailure) -> Opened?
  ) throws(FetchFailure) -> Opened {
    while true {
      guard let password = try source.ask("password of \(subject): ") else {
        throw FetchFailure(
          .usage, "there is nobody to ask for the password of \(subject)",
          hint: "run it on a terminal, or give --password-file FILE")
      }
      if let opened = try open(password) { return opened }
      guard source.asksAgain else {
        throw FetchFailure(.usage, "the password of \(subject) is wrong")
      }
      report("the password of \(subject) is wrong")
    }
  }
}
