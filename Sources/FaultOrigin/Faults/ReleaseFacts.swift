import System

/// What the manifests of a site say of its releases, read once each, by a reader that believes all.
final class ReleaseFacts: Sendable {
  struct Facts: Sendable {
    var blockSize: Int64
    var data: SiteFile?
  }

  private let site: StaticSite
  private let known = Monitor<[[String]: Facts]>([:])

  init(_ site: StaticSite) { self.site = site }

  func facts(_ release: [String]) -> Facts? {
    guard !release.isEmpty else { return nil }
    if let facts = known.look({ $0[release] }) { return facts }
    func file(_ name: String) -> SiteFile? {
      try? site.file(components: release + [name])
    }
    guard let manifest = file("manifest"), manifest.size <= 65_536,
      let note = manifest.descriptor.bytes(0..<manifest.size).flatMap({ WireNote($0) }),
      let size = note.value("block-size").flatMap({ PlanText.number($0) })
    else { return nil }
    let facts = Facts(blockSize: size, data: note.value("file").flatMap { file($0) })
    known.change { $0[release] = facts }
    return facts
  }
}
