import FetchResKit
import Failure
import SignedNote

/// What the configuration adds to a command line.
extension ParsedArguments {
  /// The same with what the configuration says of a command.
  ///
  /// - Parameter origin: whose lines count before those for all; nil if it is none, or not known.
  func configured(
    _ spec: CommandSpec, for origin: Origin? = nil
  ) throws(FetchFailure) -> ParsedArguments {
    var filled = self
    let settings = try Configuration.load(self).settings(for: origin)
    // Another command may have an option of the same name that means something else.
    filled.fill(settings.filter { spec.option($0.option.name)?.isConfigurable ?? false })
    return filled
  }

  /// The same for the origin that a URL is known to be of.
  func configured(
    _ spec: CommandSpec, forURL url: String
  ) throws(FetchFailure) -> ParsedArguments {
    let option = OptionSpec.stateDirectory.name
    let common = try Configuration.load(self).settings(for: nil)
    var request = PullRequest(url: url)
    request.stateDirectory = value(option) ?? common.first { $0.option.name == option }?.value
    // Where no state is kept, nothing is known of it.
    return try configured(spec, for: (try? request.expectedOrigin()) ?? nil)
  }
}
