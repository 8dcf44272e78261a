import Failure

/// Where a password comes from: a file, a descriptor, or somebody at a terminal.
public struct PasswordSource: Sendable {
  /// Whether a wrong password can be followed by another one.
  public let asksAgain: Bool
  private let answer: @Sendable (String) throws(FetchFailure) -> SecretBytes?

  /// - Parameter answer: gets the question; nil if nobody is there to answer.
  public init(
    asksAgain: Bool, answer: @escaping @Sendable (String) throws(FetchFailure) -> SecretBytes?
  ) {
    (self.asksAgain, self.answer) = (asksAgain, answer)
  }

  /// A password that is known.
  public static func known(_ password: SecretBytes) -> PasswordSource {
    PasswordSource(asksAgain: false) { _ throws(FetchFailure) in password }
  }

  /// Nobody to ask.
  public static let none = PasswordSource(asksAgain: false) { _ throws(FetchFailure) in nil }

  public func ask(_ question: String) throws(FetchFailure) -> SecretBytes? {
    try answer(question)
  }
}
