import Manifest
import TestSupport

extension MemoryTransport {
  /// The site of one release.
  convenience init(_ made: MadeResource, pieceSize: Int = 10_000) {
    var files = [SitePaths.file(made.manifest.version, made.manifest.file): made.content]
    for (tile, bytes) in made.tiles { files[SitePaths.tile(made.manifest.version, tile)] = bytes }
    self.init(files, pieceSize: pieceSize)
  }
}
