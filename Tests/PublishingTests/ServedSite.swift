import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import Testing

/// A site as its clients see it, read without any of the publisher's code.
struct ServedSite {
  /// By path below the site. Names with a leading dot are never served.
  let files: [String: [UInt8]]
  private let proofs: Proofs
  /// Versions whose data may be gone.
  private let pruned: Set<String>
  /// How many releases the manifest may be behind the log.
  private let lag: Int

  init(_ workshop: Workshop, keys: [String] = ["first"]) throws {
    self.init(try workshop.files(), Proofs(try keys.map { try workshop.key($0) }))
  }

  /// - Parameter disk: every file of a machine.
  init(_ disk: [String: [UInt8]], _ proofs: Proofs, pruned: Set<String> = [], lag: Int = 1) {
    (self.pruned, self.lag) = (pruned, lag)
    let prefix = Workshop.site + "/"
    var files: [String: [UInt8]] = [:]
    for (path, bytes) in disk where path.hasPrefix(prefix) && !path.contains("/.") {
      files[String(path.dropFirst(prefix.count))] = bytes
    }
    self.files = files
    self.proofs = proofs
  }

  struct View: Equatable {
    var manifest: Manifest?
    var checkpoint: Checkpoint?
    var entries: [[UInt8]] = []

    var versions: [String] { entries.compactMap { try? Manifest(selfSigned: $0).version } }
  }

  private struct Broken: Error, CustomStringConvertible { var description: String }

  /// What a client can prove from what is served.
  ///
  /// - Throws: what it could not. The log may be ahead of the manifest, which is how a publish is
  ///   seen half-way; never behind it.
  func view() throws -> View { try proofs.view(files) { try check() } }

  private func check() throws -> View {
    var view = View()
    if let note = files["checkpoint"] {
      let checkpoint = try Checkpoint(try proofs.note(note))
      view.checkpoint = checkpoint
      view.entries = try entries(of: checkpoint)
    }
    try checkReleases(view.entries)
    guard let note = files["manifest"] else {
      guard view.entries.count <= lag else { throw Broken(description: "the manifest is gone") }
      return view
    }
    let manifest = try Manifest(try proofs.note(note))
    guard manifest.release < Int64(view.entries.count),
      view.entries[Int(manifest.release)] == note
    else { throw Broken(description: "the manifest is not in the log") }
    guard view.entries.count - Int(manifest.release) <= 1 + lag else {
      throw Broken(description: "the manifest is too far behind the log")
    }
    view.manifest = manifest
    return view
  }

  /// The entries of the log, every tile and bundle of which has to be there.
  private func entries(of checkpoint: Checkpoint) throws -> [[UInt8]] {
    let size = Int(checkpoint.size)
    var entries: [[UInt8]] = []
    for index in 0..<(size + 255) / 256 {
      let width = min(256, size - index * 256)
      let path = TileAddress.entriesPath(index: Int64(index), width: width)
      guard let bytes = files[path] else { throw Broken(description: "\(path) is missing") }
      entries += try EntryBundle(bytes, width: width).entries
    }
    let log = proofs.tree(entries)
    guard checkpoint.root.bytes == log.root else {
      throw Broken(description: "the log has another root than its checkpoint")
    }
    let bundles = ReferenceLog(entries).bundles
    for (path, bytes) in bundles.merging(log.tiles, uniquingKeysWith: { $1 })
    where files[path] != bytes {
      throw Broken(description: "\(path) of the log is missing or wrong")
    }
    return entries
  }

  /// Every logged version has to be served whole: manifest, file, tiles.
  private func checkReleases(_ entries: [[UInt8]]) throws {
    var releases: [String: [Int]] = [:]
    for (index, entry) in entries.enumerated() {
      let manifest = try Manifest(try proofs.note(entry))
      guard manifest.release == Int64(index) else {
        throw Broken(description: "entry \(index) is release \(manifest.release)")
      }
      releases[manifest.version, default: []].append(index)
    }
    for (version, indices) in releases {
      let note = files[SitePaths.releaseManifest(version)]
      // A refresh is in the log before its manifest is served.
      let allowed = indices.indices.filter { place in
        place == indices.count - 1 || indices[place + 1] >= entries.count - lag
      }
      guard let note, allowed.contains(where: { entries[indices[$0]] == note }) else {
        throw Broken(description: "the manifest of \(version) is missing or wrong")
      }
      let manifest = try Manifest(try proofs.note(note))
      if pruned.contains(version), files[SitePaths.file(version, manifest.file)] == nil { continue }
      try checkData(manifest)
    }
  }

  private func checkData(_ manifest: Manifest) throws {
    let base = SitePaths.release(manifest.version) + "/"
    guard let file = files[base + manifest.file], Int64(file.count) == manifest.layout.size else {
      throw Broken(description: "the file of \(manifest.version) is missing or has another size")
    }
    let tree = proofs.tree(
      (0..<manifest.layout.count).map { block in
        let bytes = manifest.layout.bytes(of: block..<block + 1)
        return Array(file[Int(bytes.lowerBound)..<Int(bytes.upperBound)])
      })
    guard manifest.root.bytes == tree.root else {
      throw Broken(description: "the file of \(manifest.version) has another root")
    }
    for (path, bytes) in tree.tiles where files[base + path] != bytes {
      throw Broken(description: "\(path) of \(manifest.version) is missing or wrong")
    }
  }
}
