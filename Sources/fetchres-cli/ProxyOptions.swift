import Failure
import FetchResKit
import System

/// `--proxy`, `--no-proxy`, `--tor` and what belongs to them: which way out a run takes. Every command
/// that asks others has them, so that a line of the configuration counts for all of them.
enum ProxyOptions {
  private static let group = "route"

  static let specs = [
    OptionSpec("--proxy", "URL", "go through this proxy: http, https or socks5h"),
    OptionSpec("--proxy-auth-file", "FILE", "its user and password, as USER:PASSWORD"),
    OptionSpec("--no-proxy", "go through none, whatever the environment says"),
    OptionSpec("--tor", "go through Tor, at \(ProxySetting.usualTor)"),
    OptionSpec("--tor-socks", "ADDR:PORT", "go through Tor, at this address"),
    OptionSpec("--tor-control", "ADDR:PORT", "go through Tor, and ask there how far it is"),
    OptionSpec("--tor-password-file", "FILE", "the password of that control port"),
  ].map { $0.configurable.oneOf(group) }

  /// Those that mean Tor: what is typed puts out all that is configured, so each of them means it alone.
  private static let tor = ["--tor", "--tor-socks", "--tor-control", "--tor-password-file"]

  /// - Throws: `usage` where they exclude each other.
  static func setting(_ arguments: ParsedArguments) throws(FetchFailure) -> ProxySetting {
    let isTor = tor.contains { arguments.has($0) }
    let chosen = [
      arguments.has("--proxy") ? "--proxy" : nil,
      arguments.has("--no-proxy") ? "--no-proxy" : nil, isTor ? "--tor" : nil,
    ].compactMap { $0 }
    guard chosen.count <= 1 else {
      throw FetchFailure(.usage, "\(chosen[0]) and \(chosen[1]) exclude each other")
    }
    let authentication = try authentication(arguments)
    guard let proxy = arguments.value("--proxy") else {
      guard authentication == nil else {
        throw FetchFailure(.usage, "--proxy-auth-file is for --proxy, which is not given")
      }
      if isTor { return try torSetting(arguments) }
      return arguments.has("--no-proxy") ? .none : .environment
    }
    if proxy.contains("@") {
      ThisProcess.forbidCoreDumps()
      if arguments.isTyped("--proxy") {
        Talk.warning(
          "a password on the command line can be seen by others; --proxy-auth-file reads it")
      }
    }
    return .server(
      proxy, user: authentication?.user, password: authentication?.password ?? "")
  }

  /// Why it is that one.
  static func grounds(_ arguments: ParsedArguments) -> ProxyGrounds {
    let option = (["--proxy", "--no-proxy"] + tor).first { arguments.has($0) }
    var grounds = ProxyGrounds(chosenBy: option.map { arguments.place($0) ?? $0 })
    let unused = arguments.putOut.first {
      $0.option.group == group && $0.option.name != "--no-proxy"
    }
    if arguments.isTyped("--no-proxy"), let unused {
      let isTor = tor.contains(unused.option.name)
      grounds.turnedOff = (isTor ? "Tor, which" : "the proxy that") + " \(unused.place) names"
    }
    return grounds
  }

  /// The way of a command that has no events to say what it costs.
  static func spoken(_ arguments: ParsedArguments) throws(FetchFailure) -> ProxySetting {
    let setting = try setting(arguments)
    if let warning = setting.cost(grounds(arguments)) { Talk.note(warning) }
    return setting
  }

  private static func torSetting(_ arguments: ParsedArguments) throws(FetchFailure) -> ProxySetting
  {
    let socks = arguments.value("--tor-socks") ?? ProxySetting.usualTor
    let password = try line(of: "--tor-password-file", arguments)
    guard let control = arguments.value("--tor-control") else {
      guard password == nil else {
        throw FetchFailure(.usage, "--tor-password-file is for --tor-control, which is not given")
      }
      return .tor(socks)
    }
    return .tor(socks, control: TorControl(control, password: password))
  }

  private static func authentication(
    _ arguments: ParsedArguments
  ) throws(FetchFailure) -> (user: String, password: String)? {
    guard let text = try line(of: "--proxy-auth-file", arguments) else { return nil }
    guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
      throw FetchFailure(
        .usage, "the file of --proxy-auth-file has to hold one line, USER:PASSWORD")
    }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }

  /// The one line of the file that an option names.
  private static func line(
    of option: String, _ arguments: ParsedArguments
  ) throws(FetchFailure) -> String? {
    guard let path = arguments.value(option) else { return nil }
    ThisProcess.forbidCoreDumps()
    let lines = try FileArgument.texts("@" + path, option)
    guard lines.count == 1 else {
      throw FetchFailure(.usage, "the file of \(option) has to hold one line")
    }
    return lines[0]
  }
}
