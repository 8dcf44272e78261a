/// Something that must never be, and was.
package struct Violation: Sendable, Equatable {
  package enum Rule: String, Sendable, CaseIterable {
    /// Something is available, and is not what was published.
    case wrongAndAvailable = "wrong-and-available"
    /// A marker stands beside a file that is not whole.
    case earlyMarker = "early-marker"
    /// A work file holds a byte that is neither zero nor right, and that nobody tampered with.
    case unverifiedByte = "unverified-byte"
    case requests
    case traffic
    case memory
    case exitCode = "exit-code"
    /// A pull ended well without what it was asked for, or an honest origin was of no use.
    case incomplete
    case hang
    case secret
    case strangeRequest = "strange-request"
  }

  package var rule: Rule
  package var text: String

  init(_ rule: Rule, _ text: String) { (self.rule, self.text) = (rule, text) }
}
