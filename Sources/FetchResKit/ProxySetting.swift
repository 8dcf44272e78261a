import Failure
import System
import Transport

/// Which way out of this machine a run takes.
public enum ProxySetting: Sendable, Equatable {
  /// As `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` say.
  case environment
  /// None, whatever the environment says.
  case none
  /// That one for everything: `http://`, `https://` or `socks5h://`.
  ///
  /// - Parameters:
  ///   - user: what the proxy is told, with the password; nil for what the URL says, if it does.
  case server(String, user: String? = nil, password: String = "")
  /// Tor, whose SOCKS port is at this address. A control port tells how far it is while it starts.
  case tor(String, control: TorControl? = nil)

  /// Where tor listens if nobody told it otherwise.
  public static let usualTor = "127.0.0.1:9050"
}

/// Where a tor daemon can be asked how far it is, by a password, by its cookie file, or by nothing at
/// all, as it wants.
public struct TorControl: Sendable, Equatable {
  /// `ADDR:PORT`.
  public var address: String
  /// A secret; nil if it takes none.
  public var password: String?

  /// - Parameters:
  ///   - address: `ADDR:PORT`.
  ///   - password: nil where the port takes none.
  public init(_ address: String, password: String? = nil) {
    (self.address, self.password) = (address, password)
  }

  /// - Throws: `usage`.
  func checkedAddress() throws(FetchFailure) -> SocketAddress {
    guard let address = SocketAddress(address) else {
      throw FetchFailure(.usage, "--tor-control takes ADDR:PORT, such as 127.0.0.1:9051")
    }
    return address
  }
}

/// Why a run takes the way that it takes, for the words about it.
package struct ProxyGrounds: Sendable, Equatable {
  /// The option or the line of a file that says so; nil for the option.
  package var chosenBy: String?
  /// What a choice of no proxy puts out; nil if nothing else is configured.
  package var turnedOff: String?

  package init(chosenBy: String? = nil, turnedOff: String? = nil) {
    (self.chosenBy, self.turnedOff) = (chosenBy, turnedOff)
  }
}

extension ProxySetting {
  /// What it costs to go without what is configured; nil unless that is chosen.
  package func cost(
    _ grounds: ProxyGrounds, variable: (String) -> String? = { ThisProcess.environment($0) }
  ) -> String? {
    guard self == .none else { return nil }
    let isNamed = ProxyDecision.names.contains { variable($0).map { !$0.isEmpty } ?? false }
    let named = isNamed ? "the proxy that the environment names" : nil
    return (grounds.turnedOff ?? named).map {
      "without \($0), every source, manifests and mirrors included, sees the address of this machine"
    }
  }
}

/// A setting, thought through to the end.
struct ProxyDecision {
  var choice: ProxyChoice
  /// Which way was chosen, and why.
  var reason: String
  /// What it costs that one was chosen which is less than what is configured; nil if that is not so.
  var warning: String?

  /// - Parameters:
  ///   - url: what is asked first, which the words are about.
  ///   - variable: the value of a variable of the environment.
  /// - Throws: `usage`.
  init(
    _ setting: ProxySetting, for url: WebURL, _ grounds: ProxyGrounds = ProxyGrounds(),
    variable: (String) -> String? = { ThisProcess.environment($0) }
  ) throws(FetchFailure) {
    switch setting {
    case .none:
      choice = ProxyChoice()
      reason = "no proxy: \(grounds.chosenBy ?? "--no-proxy") says so"
      warning = setting.cost(grounds, variable: variable)
    case .server(let text, let user, let password):
      var server = try ProxyServer(text)
      if let user { try server.authenticate(user, password) }
      choice = ProxyChoice(server)
      reason =
        "everything goes through the proxy \(server.shown): \(grounds.chosenBy ?? "--proxy") says so"
    case .tor(let address, let control):
      guard SocketAddress(address) != nil || address.hasPrefix("localhost:") else {
        throw FetchFailure(
          .usage, "--tor-socks takes ADDR:PORT, such as \(ProxySetting.usualTor)")
      }
      _ = try control?.checkedAddress()
      var server = try ProxyServer("socks5h://\(address)")
      server.isolation = url.shown
      choice = ProxyChoice(server)
      reason =
        "everything goes through Tor, at \(address): \(grounds.chosenBy ?? "--tor") says so"
    case .environment:
      (choice, reason) = try Self.environment(url, variable)
    }
  }

  /// Upper case `HTTP_PROXY` is not among them: a web server sets it to what a client sends as `Proxy:`.
  static let names = [
    "https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY",
  ]

  private static func environment(
    _ url: WebURL, _ variable: (String) -> String?
  ) throws(FetchFailure) -> (ProxyChoice, String) {
    func first(_ names: [String]) -> (name: String, text: String)? {
      for name in names {
        // A variable that is empty means that there is no proxy.
        if let text = variable(name) { return (name, text) }
      }
      return nil
    }
    func server(_ found: (name: String, text: String)?) throws(FetchFailure) -> ProxyServer? {
      guard let found, !found.text.isEmpty else { return nil }
      do throws(FetchFailure) { return try ProxyServer(found.text) } catch {
        var named = error
        named.message += ", in \(found.name)"
        throw named
      }
    }
    let all = ["all_proxy", "ALL_PROXY"]
    let secure = first(["https_proxy", "HTTPS_PROXY"] + all)
    let plain = first(["http_proxy"] + all)
    let exceptions = first(["no_proxy", "NO_PROXY"])
    let choice = ProxyChoice(
      secure: try server(secure), plain: try server(plain),
      exceptions: ProxyExceptions(exceptions?.text ?? ""))
    let wanted = url.scheme == "https" ? (choice.secure, secure) : (choice.plain, plain)
    guard let server = wanted.0, let name = wanted.1?.name else {
      return (choice, "no proxy: none is configured")
    }
    if let exceptions, choice.exceptions.contains(url) {
      return (choice, "no proxy: \(exceptions.name) excepts \(url.host) from \(name)")
    }
    return (choice, "requests go through the proxy \(server.shown): \(name) says so")
  }
}
