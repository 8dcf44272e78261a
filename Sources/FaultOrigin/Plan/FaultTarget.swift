/// What a rule applies to, told from the path of the request.
package enum FaultTarget: Sendable, Hashable {
  case any
  case manifest
  case checkpoint
  /// Hash tiles of the log and of the releases.
  case tile
  case logTile
  case blockTile
  case entries
  /// The resource itself.
  case data
  /// Requests for the resource that ask for a byte of this block, counted in blocks of the manifest
  /// that stands beside it.
  case block(Int64)

  package init?(_ text: some StringProtocol) {
    switch text {
    case "any": self = .any
    case "manifest": self = .manifest
    case "checkpoint": self = .checkpoint
    case "tile": self = .tile
    case "log-tile": self = .logTile
    case "block-tile": self = .blockTile
    case "entries": self = .entries
    case "data": self = .data
    default:
      let words = text.split(separator: "=", omittingEmptySubsequences: false)
      guard words.count == 2, words[0] == "block", let index = PlanText.number(words[1]) else {
        return nil
      }
      self = .block(index)
    }
  }

  package static let words =
    "any, manifest, checkpoint, tile, log-tile, block-tile, entries, data, block=N"
}

/// What a request is for, as a site lays its files out. Pinned manifests are manifests too.
struct SitePlace: Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    case manifest
    case checkpoint
    case logTile
    case blockTile(level: Int, index: Int64)
    case entries
    case data
    case other
  }

  let kind: Kind
  /// The names of the release directory; empty outside of one.
  let release: [String]

  init(_ components: [String]) {
    if components.count >= 3, let at = components.lastIndex(of: "releases"),
      components.count > at + 2
    {
      release = Array(components[...(at + 1)])
      let rest = Array(components[(at + 2)...])
      switch rest[0] {
      case "manifest" where rest.count == 1: kind = .manifest
      case "tile" where rest.count >= 3:
        kind = Self.tile(Array(rest.dropFirst()))
      default: kind = rest.count == 1 ? .data : .other
      }
      return
    }
    release = []
    if let at = components.lastIndex(of: "tile"), components.count > at + 2 {
      kind = components[at + 1] == "entries" ? .entries : .logTile
      return
    }
    switch components.last {
    case "manifest": kind = .manifest
    case "checkpoint": kind = .checkpoint
    default: kind = .other
    }
  }

  /// `<level>/<groups of three digits>`, the last group perhaps with `.p` and a width behind it.
  private static func tile(_ names: [String]) -> Kind {
    guard let level = Int(names[0]), 0...8 ~= level else { return .other }
    var index: Int64 = 0
    for name in names.dropFirst() {
      var digits = name[...]
      if digits.first == "x" { digits = digits.dropFirst() }
      let isLast = digits.hasSuffix(".p")
      if isLast { digits = digits.dropLast(2) }
      guard digits.count == 3, let number = Int64(digits), index < 1 << 40 else { return .other }
      index = index * 1_000 + number
      if isLast { break }
    }
    return .blockTile(level: level, index: index)
  }

  /// - Parameters:
  ///   - bytes: the range that is asked for, of the file that is there.
  ///   - blockSize: nil where unknown.
  func matches(_ target: FaultTarget, bytes: Range<Int64>?, blockSize: Int64?) -> Bool {
    switch (target, kind) {
    case (.any, _): true
    case (.manifest, .manifest), (.checkpoint, .checkpoint), (.entries, .entries),
      (.data, .data):
      true
    case (.tile, .logTile), (.tile, .blockTile), (.logTile, .logTile),
      (.blockTile, .blockTile):
      true
    case (.block(let index), .data):
      if let bytes, let blockSize, blockSize > 0, !bytes.isEmpty {
        (bytes.lowerBound / blockSize...(bytes.upperBound - 1) / blockSize).contains(index)
      } else {
        false
      }
    case (.manifest, _), (.checkpoint, _), (.entries, _), (.data, _), (.tile, _), (.logTile, _),
      (.blockTile, _), (.block, _):
      false
    }
  }
}
