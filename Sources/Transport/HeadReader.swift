import Failure

/// Reads the head of one response line by line: interim ones (1xx, RFC 9110 section 15.2) that stand
/// before it, the final one, and what stands behind it.
///
/// libcurl hands on whatever begins with `HTTP/` like any other line, wherever it stands: a line is a
/// status line by its place alone. A trailer is counted and says nothing, for by then the receiver has
/// judged the response.
struct HeadReader {
  private enum Place { case before, within, behind }

  private var place = Place.before
  /// The one that is read, or was read last.
  private(set) var head: ResponseHead?

  /// Takes a line without its end.
  ///
  /// - Returns: the final head, at the line that ends it.
  /// - Throws: `truncated` for what is no status line in the place of one; `too-large` beyond the bound,
  ///   which is one for all lines together.
  mutating func receive(_ line: some StringProtocol) throws(FetchFailure) -> ResponseHead? {
    switch place {
    case .before:
      guard let next = ResponseHead(statusLine: line, after: head) else {
        throw FetchFailure(.truncated, "the answer is no HTTP response")
      }
      (head, place) = (next, .within)
      try head?.count(line)
    case .within where line.isEmpty:
      try head?.count(line)
      guard let head, head.status >= 200 else {
        place = .before
        return nil
      }
      place = .behind
      return head
    case .within: try head?.add(line: line)
    case .behind: try head?.count(line)
    }
    return nil
  }
}
