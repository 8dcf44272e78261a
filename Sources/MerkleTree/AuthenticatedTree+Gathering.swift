import Crypto
import Failure

extension AuthenticatedTree {
  /// Authenticates whatever is missing to prove those leaves, parents first, with the tiles that
  /// `tile` gives.
  ///
  /// - Throws: `tile-invalid`, and whatever `tile` throws.
  public mutating func gather(
    _ leaves: Range<Int64>, tile: (TileAddress) throws(FetchFailure) -> SuspectTile
  ) throws(FetchFailure) {
    // The partial ones come first, and are authenticated together.
    let missing = missingTiles(for: leaves)
    let edgeCount = missing.prefix { !$0.isFull }.count
    var edge: [SuspectTile] = []
    for address in missing.prefix(edgeCount) { edge.append(try tile(address)) }
    if !edge.isEmpty { try authenticate(edge: edge) }
    for address in missing.dropFirst(edgeCount) { try authenticate(try tile(address)) }
  }

  /// The proof that the tree of `size` leaves is a prefix of this one. Requires `0 < size <= count`.
  ///
  /// - Throws: `tile-invalid`, and whatever `tile` throws.
  public mutating func consistencyProof(
    from size: Int64, tile: (TileAddress) throws(FetchFailure) -> SuspectTile
  ) throws(FetchFailure) -> [Digest] {
    try gather(size - 1..<size, tile: tile)
    try gather(shape.count - 1..<shape.count, tile: tile)
    return ConsistencyProof.make(size1: size, shape: shape) { level, index in
      node(level: level, index: index)
    }
  }

  /// What `ConsistencyProof.impliedRoots` takes: the proof for the tree of `size` leaves, with the root
  /// of that tree, as this one has it, in front where the size is a power of two. Requires
  /// `0 < size < count` and that both edges are proven.
  public mutating func impliedProof(from size: Int64) -> [Digest] {
    let proof = ConsistencyProof.make(size1: size, shape: shape) { level, index in
      node(level: level, index: index)
    }
    guard size.nonzeroBitCount == 1 else { return proof }
    return [node(level: size.trailingZeroBitCount, index: 0)] + proof
  }
}
