import System

/// What a fault may know of the request that it spoils.
struct FaultContext {
  let rule: FaultRule
  let head: RequestHead
  /// What stands there; nil if nothing does.
  let file: SiteFile?
  let place: SitePlace
  /// The range that is asked for, of the file that is there; nil without a range.
  let range: Range<Int64>?
  /// Of the release that the request is for.
  /// What the manifest of its release says.
  let blockSize: Int64?
  let data: SiteFile?
  /// The same for all requests of one server.
  let seed: UInt64
  var draw: Draw

  /// The file of the same path in the directory of `from=`.
  func alternative() -> SiteFile? {
    guard let from = rule.arguments[.from], let site = try? StaticSite(from) else { return nil }
    return try? site.file(head.target)
  }

  func time(_ otherwise: Double) -> Double {
    rule.arguments[.time].flatMap { PlanText.time($0) } ?? otherwise
  }

  var rate: Int64? { rule.arguments[.rate].flatMap { PlanText.size($0) } }

  /// Another file's bytes: of this file always the same.
  var noise: MadeBytes {
    var draw = Draw(seed: seed, file?.components.joined(separator: "/") ?? "")
    return .noise(draw.next())
  }

  /// All bytes of the answer's file, if it is small.
  func bytes(of file: SiteFile?) -> [UInt8]? {
    guard let file, file.size <= 1 << 20 else { return nil }
    return file.descriptor.bytes(0..<file.size)
  }
}

extension Descriptor {
  /// Those bytes; nil if they are not all there.
  func bytes(_ range: Range<Int64>) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: range.count)
    let count = bytes.withUnsafeMutableBytes { try? read(into: $0, at: range.lowerBound) }
    return count == range.count ? bytes : nil
  }
}
