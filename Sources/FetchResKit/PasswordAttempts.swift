import Crypto
import Failure
import System

/// Attempts at one password, until one is right or there is nobody left to ask.
struct PasswordAttempts {
  let source: PasswordSource
  /// What is opened, such as `the identity 'me'`.
  let subject: String
  let ladder: PasswordLadder
  let interruption: Interruption
  let report: (String) -> Void

  /// - Parameters:
  ///   - open: nil for a wrong password; what it throws ends the attempts and counts as none.
  ///   - onWrong: gets the number of wrong ones in a row.
  /// - Throws: `unavailable` where the ladder says to wait and nobody is there to wait.
  func run<Opened>(
    onWrong: (UInt32) throws(FetchFailure) -> Void = { _ throws(FetchFailure) in },
    _ open: (SecretBytes) throws(FetchFailure) -> Opened?
  ) throws(FetchFailure) -> Opened {
    while true {
      try waitForTurn()
      guard let password = try source.ask("password of \(subject): ") else {
        throw FetchFailure(
          .usage, "there is nobody to ask for the password of \(subject)",
          hint: "run it on a terminal, or give --password-file FILE")
      }
      if let opened = try open(password) {
        try ladder.reset()
        return opened
      }
      let failures = try ladder.fail()
      try onWrong(failures)
      guard source.asksAgain else {
        throw FetchFailure(.usage, "the password of \(subject) is wrong")
      }
      report("the password of \(subject) is wrong")
    }
  }

  private func waitForTurn() throws(FetchFailure) {
    let wait = try ladder.wait()
    guard wait > 0 else { return }
    let times = "\(ladder.failures) wrong passwords in a row"
    let left = "\(Int(wait.rounded(.up))) s"
    guard source.asksAgain else {
      throw FetchFailure(
        .unavailable, "\(times) for \(subject): the next attempt is in \(left)",
        hint: "run it again then")
    }
    report("\(times): the next attempt is in \(left)")
    try interruption.sleep(wait)
  }
}
