/// A run of adjacent blocks that one request asks for.
package struct Span: Sendable, Equatable {
  package typealias ID = Int

  package let id: ID
  package let blocks: Range<Int64>
  /// Whether the whole resource is asked for without a range, because the source knows none.
  package let isWhole: Bool
  /// Whether the request must not reuse a connection.
  package let needsFreshConnection: Bool
}
