/// Where a source stands in the list of a run, from 0.
package typealias SourceID = Int

/// A run of adjacent blocks that one request asks for.
package struct Span: Sendable, Equatable {
  package typealias ID = Int

  package let id: ID
  package let source: SourceID
  package let blocks: Range<Int64>
  /// Whether the whole resource is asked for without a range, because the source knows none.
  package let isWhole: Bool
  /// Whether the request must not reuse a connection.
  package let needsFreshConnection: Bool
  /// Whether it goes over HTTP/2: then all of it has to have a place in memory before it begins,
  /// because libcurl takes in what such a stream sends while it is paused.
  package let usesHTTP2: Bool
}
