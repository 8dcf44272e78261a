import System

/// What the terminal can show.
struct TerminalStyle: Sendable, Equatable {
  var hasColor: Bool
  /// Whether it shows what is not ASCII.
  var isUnicode: Bool

  /// What the environment says of it.
  static var here: TerminalStyle { TerminalStyle { ThisProcess.environment($0) } }

  init(hasColor: Bool, isUnicode: Bool) {
    (self.hasColor, self.isUnicode) = (hasColor, isUnicode)
  }

  /// - Parameter environment: answers the value of a variable.
  init(_ environment: (String) -> String?) {
    func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let encoding = value("LC_ALL") ?? value("LC_CTYPE") ?? value("LANG") ?? ""
    isUnicode = ["utf-8", "utf8"].contains { encoding.lowercased().contains($0) }
    hasColor = value("NO_COLOR") == nil
  }

  /// Whether lines can be drawn over at all.
  static func canDraw(term: String?) -> Bool { term.map { $0 != "" && $0 != "dumb" } ?? false }

  enum Color: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case gray = 90
  }

  func colored(_ text: String, _ color: Color) -> String {
    hasColor && !text.isEmpty ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }
}

/// A line as it is written to a terminal, and how many columns it takes there.
struct TerminalLine: Sendable, Equatable {
  private(set) var text = ""
  private(set) var columns = 0

  init() {}

  init(_ plain: String) { add(plain) }

  /// Every character is one column wide.
  mutating func add(_ plain: String) { add(plain, shown: plain) }

  /// - Parameter shown: the same with colours.
  mutating func add(_ plain: String, shown: String) {
    text += shown
    columns += plain.count
  }
}
