/// A line of the configuration that counts for a command.
struct Setting: Sendable {
  var option: OptionSpec
  /// Empty for a switch.
  var value: String
  /// Whether it is a switch that is off.
  var isOff = false
  /// Where it stands.
  var place: String
}
