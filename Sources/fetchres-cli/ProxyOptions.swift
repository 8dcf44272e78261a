import Failure
import FetchResKit

/// `--proxy`, `--no-proxy`, `--tor`: which way out a run takes.
enum ProxyOptions {
  /// - Throws: `usage` where they exclude each other.
  static func setting(_ arguments: ParsedArguments) throws(FetchFailure) -> ProxySetting {
    let isTor = arguments.has("--tor") || arguments.value("--tor-socks") != nil
    let chosen = [
      arguments.value("--proxy") != nil ? "--proxy" : nil,
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
      if isTor { return .tor(arguments.value("--tor-socks") ?? ProxySetting.usualTor) }
      return arguments.has("--no-proxy") ? .none : .environment
    }
    if proxy.contains("@"), arguments.isTyped("--proxy") {
      Talk.warning(
        "a password on the command line can be seen by others; --proxy-auth-file reads it")
    }
    return .server(
      proxy, user: authentication?.user, password: authentication?.password ?? "")
  }

  private static func authentication(
    _ arguments: ParsedArguments
  ) throws(FetchFailure) -> (user: String, password: String)? {
    guard let path = arguments.value("--proxy-auth-file") else { return nil }
    let lines = try FileArgument.texts("@" + path, "--proxy-auth-file")
    guard lines.count == 1, let colon = lines[0].firstIndex(of: ":"),
      colon != lines[0].startIndex
    else {
      throw FetchFailure(
        .usage, "the file of --proxy-auth-file has to hold one line, USER:PASSWORD")
    }
    return (String(lines[0][..<colon]), String(lines[0][lines[0].index(after: colon)...]))
  }
}
