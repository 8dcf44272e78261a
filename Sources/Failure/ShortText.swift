extension StringProtocol {
  /// The first scalars of a text that somebody else wrote, for a message. Not characters: a single one
  /// may be of any length.
  package func shortened(to count: Int) -> String {
    String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
  }
}
