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

  /// The same for the origin that a URL is of, as far as anything tells.
  ///
  /// - Parameter origin: the one it has to be of; nil if that is not known.
  func configured(
    _ spec: CommandSpec, forURL url: String, of origin: Origin? = nil
  ) throws(FetchFailure) -> ParsedArguments {
    let configuration = try Configuration.load(self)
    let option = OptionSpec.stateDirectory.name
    let common = configuration.settings(for: nil)
    var request = PullRequest(url: url)
    request.origin = origin?.name
    request.stateDirectory = value(option) ?? common.first { $0.option.name == option }?.value
    return try configured(spec, for: configuration.origin(of: request))
  }
}
