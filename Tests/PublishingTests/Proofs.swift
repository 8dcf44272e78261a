import Crypto
import SignedNote

/// What was worked out before, so that thousands of states of the same site take no minutes.
final class Proofs {
  private let keys: [NoteKey]
  private var notes: [Digest: Result<VerifiedNote, any Error>] = [:]
  private var trees: [Digest: Tree] = [:]
  private var views: [Digest: Result<ServedSite.View, any Error>] = [:]

  /// By the definitions alone.
  struct Tree {
    var root: [UInt8]
    /// By path.
    var tiles: [String: [UInt8]]
  }

  init(_ keys: [NoteKey]) { self.keys = keys }

  func note(_ bytes: [UInt8]) throws -> VerifiedNote {
    let digest = SHA256.digest(bytes)
    if let known = notes[digest] { return try known.get() }
    let result = Result { try SignedNote(bytes).verify(keys) }
    notes[digest] = result
    return try result.get()
  }

  /// What a set of files looks like to a client.
  func view(
    _ files: [String: [UInt8]], _ check: () throws -> ServedSite.View
  ) throws -> ServedSite.View {
    var content: [UInt8] = []
    for path in files.keys.sorted() {
      content.append(contentsOf: path.utf8)
      content.append(contentsOf: SHA256.digest(files[path] ?? []).bytes)
    }
    let digest = SHA256.digest(content)
    if let known = views[digest] { return try known.get() }
    let result = Result { try check() }
    views[digest] = result
    return try result.get()
  }

  func tree(_ blocks: [[UInt8]]) -> Tree {
    let leaves = blocks.map(ReferenceLog.leaf)
    let digest = SHA256.digest(leaves.flatMap { $0 })
    if let known = trees[digest] { return known }
    let tree = Tree(root: ReferenceLog.root(leaves[...]), tiles: ReferenceLog.tiles(leaves))
    trees[digest] = tree
    return tree
  }
}
