/// Tiles that prove nothing. Each says whether it changed anything.
extension WireAnswer {
  private static let hashSize = 32

  /// Changes the hashes of a tile, of which there is at least one.
  mutating func spoilTile(_ context: FaultContext, _ change: (inout [[UInt8]]) -> Void) -> Bool {
    spoilBytes(context) { bytes in
      var hashes = stride(from: 0, to: bytes.count, by: Self.hashSize).map {
        Array(bytes[$0..<min(bytes.count, $0 + Self.hashSize)])
      }
      change(&hashes)
      return Array(hashes.joined())
    }
  }

  /// A lie that holds together as far as one tile goes: every block has its first byte changed, and
  /// the tiles of level 0 hold the leaf hashes of what is sent.
  mutating func forge(_ context: FaultContext) -> Bool {
    guard let size = context.blockSize, size > 0 else { return false }
    switch context.place.kind {
    case .data: return forgeBlocks(size)
    case .blockTile(0, let index): return forgeTile(index, size, context)
    case .blockTile, .manifest, .checkpoint, .logTile, .entries, .other: return false
    }
  }

  private mutating func forgeBlocks(_ size: Int64) -> Bool {
    guard body.count == 1, case .file(let file, let range)? = body.first else { return false }
    var pieces: [Piece] = []
    var at = range.lowerBound
    var start = (range.lowerBound + size - 1) / size * size
    while start < range.upperBound, let byte = file.bytes(start..<start + 1)?.first {
      if at < start { pieces.append(.file(file, at..<start)) }
      pieces.append(.bytes([Self.forged(byte)]))
      at = start + 1
      start += size
    }
    if at < range.upperBound { pieces.append(.file(file, at..<range.upperBound)) }
    body = pieces
    return true
  }

  private mutating func forgeTile(
    _ index: Int64, _ size: Int64, _ context: FaultContext
  ) -> Bool {
    guard let tile = context.file, let data = context.data else { return false }
    var hashes: [UInt8] = []
    let first = index * 256
    for block in first..<first + tile.size / Int64(Self.hashSize) {
      let range = block * size..<min(data.size, (block + 1) * size)
      guard var bytes = data.descriptor.bytes(range), !bytes.isEmpty else { return false }
      bytes[0] = Self.forged(bytes[0])
      hashes += PlainSHA256.digest([0] + bytes)
    }
    replaceBody([.bytes(hashes)])
    return true
  }

  private static func forged(_ byte: UInt8) -> UInt8 { byte ^ 0x55 }
}
