/// What an origin tells of itself while it serves.
package enum OriginEvent: Sendable {
  /// A request came; its number counts from 1 on, per port.
  case request(RequestRecord)
  case fault(FaultRecord)
  case connection(port: Int)
  /// So many bytes of a body are about to be sent.
  case sending(port: Int, bytes: Int64)
}

package struct RequestRecord: Sendable {
  package var port: Int
  package var number: Int64
  package var head: RequestHead
  /// The range that is asked for, of the file that is there.
  package var range: Range<Int64>?
}

/// One fault that was done to one answer, or to a connection.
package struct FaultRecord: Sendable, Equatable {
  package var port: Int
  /// Of the request, from 1 on; 0 for a connection.
  package var request: Int64
  /// The path without its query, which may hold a secret.
  package var path: String
  package var range: String?
  package var fault: Fault
  /// The rule, from 1 on, in the order of the plan of this port.
  package var rule: Int

  /// One line of JSON.
  package func line(elapsed: Double) -> String {
    JSON.object([
      ("ms", .number(Int64(elapsed * 1_000))), ("port", .number(Int64(port))),
      ("request", .number(request)), ("path", .text(path)),
      ("range", range.map { .text($0) } ?? .null), ("fault", .text(fault.rawValue)),
      ("rule", .number(Int64(rule))),
    ]).text
  }
}
