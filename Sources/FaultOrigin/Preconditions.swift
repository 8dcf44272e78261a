/// The conditions of a GET or HEAD request, in the order of RFC 9110 section 13.2.2.
///
/// Our own tags hold no comma. A foreign tag that does falls into pieces, none of which is ours.
struct Preconditions: Sendable {
  enum Verdict: Sendable, Equatable {
    /// 412.
    case failed
    /// 304.
    case notModified
    /// As asked, but without the range if `If-Range` says that the file is another one.
    case go(isRangeWanted: Bool)
  }

  private let fields: HeaderFields

  init(_ fields: HeaderFields) { self.fields = fields }

  func verdict(entityTag: String, modified: Int64) -> Verdict {
    let matches = fields.list("if-match")
    if !matches.isEmpty {
      guard matches.contains("*") || matches.contains(entityTag) else { return .failed }
    } else if let date = date("if-unmodified-since"), modified > date {
      return .failed
    }
    let others = fields.list("if-none-match")
    if !others.isEmpty {
      // Here a weak tag matches its strong twin (section 13.1.2).
      let tags = others.map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 }
      if tags.contains("*") || tags.contains(entityTag) { return .notModified }
    } else if let date = date("if-modified-since"), modified <= date {
      return .notModified
    }
    // Only the strong tag says that the bytes are the same; a date of whole seconds does not (section
    // 13.1.5), so that a range with one is answered with the whole file.
    let conditions = fields.values("if-range")
    return .go(isRangeWanted: conditions.isEmpty || conditions == [entityTag])
  }

  private func date(_ name: String) -> Int64? { fields.single(name).flatMap(HTTPDate.seconds) }
}
