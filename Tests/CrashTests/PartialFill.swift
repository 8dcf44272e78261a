import Download
import Failure
import Manifest
import MerkleTree
import Storage
import System

/// A pull that broke off: what it leaves on disk, made without threads, so that it is the same each
/// time.
struct PartialFill {
  let client: Client
  let releases: ServedReleases

  /// Asks a server that has lost the data, so that head and snapshot are there; then writes some blocks
  /// and commits them, twice.
  func run() throws(FetchFailure) {
    let version = releases.newest.version
    do throws(FetchFailure) {
      try client.pull(releases.without(SitePaths.file(version, ServedReleases.fileName)))
    } catch {
      guard error.httpStatus == 404 else { throw error }
    }
    let note = releases.newest.note
    let manifest = try Manifest(selfSigned: note)
    let directory = try ResourceDirectory.make("/data", client.fileSystem)
    let resource = try directory.openUnfinished(manifest, note: note, try directory.lock())
    let leaves = try leaves(of: manifest)
    var verifier = BlockVerifier(layout: manifest.layout)
    for run in [0..<2, 3..<5] as [Range<Int64>] {
      let range = manifest.layout.bytes(of: run)
      let content = releases.contents[version] ?? []
      let bytes = Array(content[Int(range.lowerBound)..<Int(range.upperBound)])
      try Self.write(bytes, run, leaves, &verifier, resource)
      try resource.commit([run])
    }
  }

  private func leaves(of manifest: Manifest) throws(FetchFailure) -> ProvenLeaves {
    let all = 0..<manifest.layout.count
    var tree = try AuthenticatedTree(count: manifest.layout.count, root: manifest.root)
    try tree.gather(all) { tile throws(FetchFailure) in
      try SuspectTile(tile, releases.files[SitePaths.tile(manifest.version, tile)] ?? [])
    }
    guard let leaves = tree.provenLeaves(all) else {
      preconditionFailure("CrashTests: gathered leaves are proven")
    }
    return leaves
  }

  private static func write(
    _ bytes: [UInt8], _ run: Range<Int64>, _ leaves: ProvenLeaves,
    _ verifier: inout BlockVerifier, _ resource: PartialResource
  ) throws(FetchFailure) {
    let result: Result<Void, FetchFailure> = bytes.withUnsafeBytes { buffer in
      do throws(FetchFailure) {
        _ = try verifier.verify(buffer, blocks: run, leaves: leaves) {
          blocks throws(FetchFailure) in try resource.write(blocks)
        }
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }
}
