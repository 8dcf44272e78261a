import Crypto
import Failure
@testable import MerkleTree

extension FuzzTarget {
  /// A tile has one path, and a path that is read is it.
  static let tilePath = FuzzTarget("tile-path") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let tile = try? TileAddress(path: text) {
      expect(areSame(tile.path, text), "another path")
    }
    var reader = InputReader(bytes)
    let tile = TileAddress(
      level: reader.choice(64), index: reader.number() & .max, width: reader.choice(256) + 1)
    expect((try? TileAddress(path: tile.path)) == tile, "a tile not read back")
    let content = Array(reader.rest)
    let isRight = content.count == tile.byteCount
    expect(((try? SuspectTile(tile, content)) != nil) == isRight, "a tile of another length")
  }

  /// Tiles are authenticated exactly if they are those of the tree, whichever of them is changed.
  static let tiles = FuzzTarget("tiles") { bytes in
    var reader = InputReader(bytes)
    let made = MadeTree.all[reader.choice(MadeTree.all.count)]
    let count = made.leaves.count
    let first = Int64(reader.number().magnitude % UInt64(count))
    let leaves = first..<min(Int64(count), first + Int64(reader.choice(600)) + 1)
    // Some bytes of some tiles are others.
    var tiles = made.tiles
    var changed: Set<TileAddress> = []
    while !reader.rest.isEmpty {
      let address = made.addresses[reader.choice(made.addresses.count)]
      let place = reader.choice(address.byteCount)
      tiles[address]?[place] ^= reader.byte()
      if tiles[address] == made.tiles[address] {
        changed.remove(address)
      } else {
        changed.insert(address)
      }
    }
    guard var tree = try? AuthenticatedTree(count: Int64(count), root: made.root, capacity: 4)
    else { fatalError("Fuzz: no tree") }
    var asked: Set<TileAddress> = []
    let result = Result { () throws(FetchFailure) in
      try tree.gather(leaves) { address throws(FetchFailure) in
        asked.insert(address)
        return try SuspectTile(address, tiles[address] ?? [])
      }
    }
    switch result {
    case .success:
      expect(asked.isDisjoint(with: changed), "a forged tile was taken")
      guard let proven = tree.provenLeaves(leaves) else { fatalError("Fuzz: not proven") }
      for leaf in leaves { expect(proven[leaf] == made.leaves[Int(leaf)], "leaf \(leaf)") }
    case .failure(let failure):
      expect(failure.category == .tileInvalid, "\(failure)")
      expect(!asked.isDisjoint(with: changed), "a genuine tile was refused")
    }
  }
}

/// A tree with all its tiles.
private struct MadeTree {
  let leaves: [Digest]
  var tiles: [TileAddress: [UInt8]] = [:]
  let addresses: [TileAddress]
  let root: Digest

  static let all = [1, 2, 3, 255, 256, 257, 511, 512, 513, 1_000, 65_536, 65_793].map {
    MadeTree(count: $0)
  }

  private init(count: Int) {
    leaves = (0..<count).map { SHA256.digest([UInt8($0 & 255), UInt8($0 >> 8 & 255), 1]) }
    var tiles: [TileAddress: [UInt8]] = [:]
    var builder = TreeBuilder()
    for leaf in leaves { builder.append(leaf) { tiles[$0] = $1 } }
    root = builder.finish { tiles[$0] = $1 }
    self.tiles = tiles
    addresses = tiles.keys.sorted { ($0.level, $0.index) < ($1.level, $1.index) }
  }
}
