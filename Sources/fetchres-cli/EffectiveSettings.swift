import FetchResKit
import SignedNote
import Storage
import System

/// `fetchres help config`: what counts without a command line, and where each value came from.
struct EffectiveSettings {
  struct Row: Equatable {
    var option: String
    var value: String
    var place: String
  }

  let configuration: Configuration

  /// - Parameter origin: nil for what counts for all.
  func rows(for origin: Origin?) -> [Row] {
    let settings = configuration.settings(for: origin)
    return Configuration.options.flatMap { option -> [Row] in
      let own = settings.filter { $0.option.name == option.name }
      guard own.isEmpty else {
        return own.map { Row(option: option.key, value: Self.shown($0), place: $0.place) }
      }
      if option.name == OptionSpec.stateDirectory.name, let place = StatePlace.standard {
        return [Row(option: option.key, value: place.path, place: "$\(place.variable)")]
      }
      if option.name == "--proxy", !settings.contains(where: { $0.option.group == option.group }) {
        let found = Self.proxies
        if !found.isEmpty { return found }
      }
      if option.argument == nil { return [Row(option: option.key, value: "no", place: "default")] }
      return [Row(option: option.key, value: option.standard ?? "-", place: "default")]
    }
  }

  var text: String {
    var lines = [
      "example: echo 'connections 4' >> \(Configuration.standardPath ?? "~/.config/fetchres/config")",
      "",
      "Lines 'option value', named as the long options; '[origin NAME]' begins those for one origin,",
      "which win over those for all. The command line wins over the file, the file over the",
      "environment. --config FILE reads another file, --config none reads none.",
      "",
      "file: \(configuration.path ?? "none")", "",
    ]
    lines += Self.table(rows(for: nil))
    for section in configuration.sections {
      let own = section.settings.map {
        Row(option: $0.option.key, value: Self.shown($0), place: $0.place)
      }
      lines += ["", "[origin \(section.origin)]"] + Self.table(own)
    }
    return lines.joined(separator: "\n")
  }

  /// What the environment says of proxies; which one counts depends on the URL.
  private static var proxies: [Row] {
    let names = [
      "https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    ]
    return names.compactMap { name in
      let value = ThisProcess.environment(name) ?? ""
      guard !value.isEmpty else { return nil }
      return Row(option: "proxy", value: masked(value, after: "--proxy"), place: "$\(name)")
    }
  }

  /// A header line may hold a secret, and so may a URL: neither is ever shown.
  private static func shown(_ setting: Setting) -> String {
    guard setting.option.argument != nil else { return setting.isOff ? "no" : "yes" }
    return masked(setting.value, after: setting.option.name)
  }

  private static func masked(_ text: String, after option: String) -> String {
    var text = text
    // A proxy may be written without a scheme.
    if option == "--proxy", let at = text.lastIndex(of: "@") { text = "***" + text[at...] }
    for secret in HiddenArguments.secrets(in: [option, text]) {
      text = text.replacing(secret, with: "***")
    }
    return Talk.clean(text)
  }

  private static func table(_ rows: [Row]) -> [String] {
    let width = (rows.map(\.option.count).max() ?? 0) + 2
    let valueWidth = min(30, (rows.map(\.value.count).max() ?? 0)) + 2
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(2, width - text.count))
    }
    return rows.map { row in
      "\(padded(row.option, width))\(padded(row.value, valueWidth))\(row.place)"
    }
  }
}
