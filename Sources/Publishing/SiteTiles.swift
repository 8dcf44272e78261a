import Failure
import MerkleTree

/// Brings tiles of the release log on disk into an authenticated tree.
struct SiteTiles {
  let site: SiteDirectory

  init(_ site: SiteDirectory) { self.site = site }

  func authenticate(
    _ tree: inout AuthenticatedTree, leaves: Range<Int64>, of version: String? = nil
  ) throws(FetchFailure) {
    var edge: [SuspectTile] = []
    for address in tree.missingTiles(for: leaves) {
      guard let tile = try site.tile(address, of: version) else {
        throw FetchFailure(.tileInvalid, "\(address.path) is missing in \(site.path)")
      }
      if address.isFull {
        try authenticateEdge(&tree, &edge)
        try tree.authenticate(tile)
      } else {
        edge.append(tile)
      }
    }
    try authenticateEdge(&tree, &edge)
  }

  private func authenticateEdge(
    _ tree: inout AuthenticatedTree, _ edge: inout [SuspectTile]
  ) throws(FetchFailure) {
    guard !edge.isEmpty else { return }
    try tree.authenticate(edge: edge)
    edge = []
  }
}
