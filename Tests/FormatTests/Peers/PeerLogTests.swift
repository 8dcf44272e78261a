import Crypto
import Failure
import MerkleTree
import SignedNote
import Testing

/// Logs that other implementations wrote.
@Suite(.enabled(if: PeerVectors.areThere, "FETCHRES_PEER_VECTORS is not set"))
struct PeerLogTests {
  private static let tessera = "tessera/testdata/log"
  private static let skylight = "sunlight-skylight/cmd/skylight/testdata/witness"
  private static let mirrored =
    "mirror/000de184301123b9278c086a7d9f68c9577e83872224c197058fd90784ea9706"

  private func checkpoint(_ path: String, key: String) throws -> Checkpoint {
    let key = try #require(NoteKey(key))
    return try Checkpoint(SignedNote(PeerVectors.bytes(path)).verify([key]))
  }

  private func tesseraCheckpoint(_ size: Int) throws -> Checkpoint {
    try checkpoint(
      "\(Self.tessera)/checkpoint.\(size)",
      key: "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx")
  }

  private func authenticated(_ checkpoint: Checkpoint, below base: String) throws
    -> AuthenticatedTree
  {
    var tree = try AuthenticatedTree(count: checkpoint.size, root: checkpoint.root)
    try tree.authenticate(
      edge: tree.shape.edge.map {
        try SuspectTile($0, PeerVectors.bytes("\(base)/\($0.path)"))
      })
    for address in tree.missingTiles(for: 0..<checkpoint.size) {
      try tree.authenticate(
        SuspectTile(address, PeerVectors.bytes("\(base)/\(address.path)")))
    }
    return tree
  }

  /// The entries of a bundle: each a two-byte big-endian length and so many bytes.
  private func entries(_ bundle: [UInt8]) throws -> [[UInt8]] {
    var (rest, entries) = (bundle[...], [[UInt8]]())
    while !rest.isEmpty {
      let head = rest.prefix(2)
      try #require(head.count == 2)
      let length = head.reduce(0) { $0 << 8 | Int($1) }
      let entry = rest.dropFirst(2).prefix(length)
      try #require(entry.count == length)
      entries.append(Array(entry))
      rest = rest.dropFirst(2 + length)
    }
    return entries
  }

  @Test(arguments: 0...15)
  func `the log of Tessera verifies at every size, from checkpoint to entries`(size: Int) throws {
    let checkpoint = try tesseraCheckpoint(size)
    #expect(checkpoint.origin.name == "example.com/log/testdata" && checkpoint.size == Int64(size))
    var tree = try authenticated(checkpoint, below: Self.tessera)
    let leaves = tree.provenLeaves(0..<checkpoint.size)
    guard size > 0 else { return }
    let bundle = TileAddress.entriesPath(index: 0, width: size)
    let entries = try entries(PeerVectors.bytes("\(Self.tessera)/\(bundle)"))
    #expect(entries.count == size)
    var hasher = TreeHasher()
    for (index, entry) in entries.enumerated() {
      #expect(hasher.leaf(entry) == leaves?[Int64(index)])
    }
  }

  @Test(arguments: 1...15)
  func `the log of Tessera is consistent between all its sizes`(size2: Int) throws {
    let second = try tesseraCheckpoint(size2)
    var tree = try authenticated(second, below: Self.tessera)
    for size1 in 1...size2 {
      let first = try tesseraCheckpoint(size1)
      let proof = ConsistencyProof.make(size1: first.size, shape: tree.shape) {
        tree.node(level: $0, index: $1)
      }
      try ConsistencyProof.verify(
        size1: first.size, root1: first.root.bytes, size2: second.size,
        root2: second.root.bytes, proof: proof.map(\.bytes))
    }
  }

  @Test func `a mirror of 300 leaves verifies under its cosignature`() throws {
    let base = "\(Self.skylight)/\(Self.mirrored)"
    let checkpoint = try checkpoint(
      "\(base)/checkpoint",
      key: "mirror.example.org+3fb148ef+BAAjjch9GyYz0sJsJx7ALhbdAtz2ov0unbzSl1vMp94O")
    #expect(checkpoint.origin.name == "rome2026h1.example.org" && checkpoint.size == 300)
    var tree = try authenticated(checkpoint, below: base)
    let leaves = tree.provenLeaves(0..<300)
    var hasher = TreeHasher()
    for index in Int64(0)..<300 {
      #expect(hasher.leaf(Array("record \(index)".utf8)) == leaves?[index])
    }
  }

  @Test(arguments: [
    (
      "witness/000de184301123b9278c086a7d9f68c9577e83872224c197058fd90784ea9706",
      "witness.example.org+b8a2cf20+BFLN3yikSfFkVAJtrnh/CiY3Zozkoy7clp+P7XB28qUN"
    ),
    (
      "witness2/88ad7a28caeb0b2aa890fdf0304c2fcaf59fca2ee140134ff8c1300bac493482",
      "witness2.example.org+2e55b896+BIZ7fpceQWd60IfqQeS9IAnmNOCZjMDne8lZuguz/bi9"
    ),
  ])
  func `a checkpoint verifies under the key of its witness alone`(
    folder: String, key: String
  ) throws {
    let bytes = try PeerVectors.bytes(
      "sunlight-skylight/cmd/skylight/testdata/\(folder)/checkpoint")
    let witness = try #require(NoteKey(key))
    let note = try SignedNote(bytes).verify([witness])
    #expect(try Checkpoint(note).size == 300)
    let line = try #require(note.note.signatures.first { $0.name == witness.name })
    #expect(Cosignature(line)?.timestamp == 1_767_139_200)
    let other = try #require(
      NoteKey("mirror.example.org+3fb148ef+BAAjjch9GyYz0sJsJx7ALhbdAtz2ov0unbzSl1vMp94O"))
    #expect(
      category { () throws(FetchFailure) in _ = try SignedNote(bytes).verify([other]) }
        == .unknownKey)
    var changed = bytes
    changed[0] ^= 1
    #expect(
      category { () throws(FetchFailure) in _ = try SignedNote(changed).verify([witness]) }
        == .badSignature)
  }
}
