import Failure
import System

/// Looks at what a pull left behind, and knows nothing of how a pull works: what counts is what stands
/// in the directory, byte for byte, against the file that was published.
struct Checker {
  let directory: String
  let site: DrillSite

  /// Bytes of work files that the drill itself spoilt, by version.
  var tampered: [String: [Range<Int64>]] = [:]

  /// Everything that must not be.
  func violations() -> [Violation] {
    var found: [Violation] = []
    for version in PlainDisk.names(directory) where !version.hasPrefix(".") {
      let path = Path.join(directory, version)
      guard PlainDisk.status(path)?.kind == .directory else { continue }
      if isMarked(path) { found += marked(path, version, .wrongAndAvailable) }
    }
    let partial = Path.join(directory, ".fetchres/partial")
    for name in PlainDisk.names(partial) {
      let path = Path.join(partial, name)
      // `<version>-<16 hex digits of the root>`; versions may hold hyphens themselves.
      let version = String(name.dropLast(17))
      if let violation = unfinished(Path.join(path, "blocks"), version) { found.append(violation) }
      let ready = Path.join(path, "ready")
      if isMarked(ready) {
        found += marked(ready, version, .earlyMarker)
      } else if let file = site.releases[version]?.file,
        let violation = unfinished(Path.join(ready, file), version)
      {
        found.append(violation)
      }
    }
    return found
  }

  /// What is wrong with a file that a pull printed the path of; nil if it is what was published last.
  func violation(ofResult path: String) -> Violation? {
    guard path == Path.join(directory, "\(site.newest.version)/\(site.newest.file)") else {
      return Violation(.incomplete, "'\(path)' was printed")
    }
    guard PlainDisk.areSame(path, site.newest.source) else {
      return Violation(.wrongAndAvailable, "\(path) differs from what was published")
    }
    return nil
  }

  var isComplete: Bool {
    let path = Path.join(directory, site.newest.version)
    return isMarked(path)
      && PlainDisk.areSame(Path.join(path, site.newest.file), site.newest.source)
  }

  /// Whether a directory holds a marker that says of the manifest beside it what is true of it.
  private func isMarked(_ path: String) -> Bool {
    guard let marker = try? PlainDisk.read(Path.join(path, "complete"), limit: 65_536),
      let manifest = try? PlainDisk.read(Path.join(path, "manifest"), limit: 65_536),
      let note = WireNote(manifest)
    else { return false }
    let words = ["origin", "version", "release", "file", "size", "root"]
    let lines =
      ["fetchres complete v1"] + words.map { "\($0) \(note.value($0) ?? "")" }
      + ["manifest-sha256 \(Hex.encode(PlainSHA256.digest(manifest)))"]
    return marker == Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  private func marked(
    _ path: String, _ version: String, _ rule: Violation.Rule
  ) -> [Violation] {
    guard let release = site.releases[version] else {
      return [Violation(rule, "\(path) is marked complete, and was never published")]
    }
    guard PlainDisk.areSame(Path.join(path, release.file), release.source) else {
      return [Violation(rule, "\(path) is marked complete, and is not what was published")]
    }
    return []
  }

  /// The first byte of a work file that should not be there.
  private func unfinished(_ path: String, _ version: String) -> Violation? {
    guard PlainDisk.status(path)?.kind == .regular else { return nil }
    guard let release = site.releases[version] else {
      return Violation(.unverifiedByte, "\(path) belongs to no release")
    }
    let spoilt = tampered[version] ?? []
    let wrong = PlainDisk.firstDifference(path, release.source) { byte, offset in
      byte == 0 || spoilt.contains { $0.contains(offset) }
    }
    return wrong.map {
      Violation(.unverifiedByte, "byte \($0) of \(path) is neither zero nor what was published")
    }
  }
}

extension PlainDisk {
  private static let piece = 65_536

  /// Whether two files hold the same bytes.
  static func areSame(_ path: String, _ other: String) -> Bool {
    guard status(path)?.kind == .regular, status(path)?.size == status(other)?.size else {
      return false
    }
    return firstDifference(path, other) { _, _ in false } == nil
  }

  /// The offset of the first byte of `path` that is not the one in `other` and that `isAllowed` does
  /// not let pass. Bytes behind the end of `other` differ from nothing that is there.
  static func firstDifference(
    _ path: String, _ other: String, isAllowed: (UInt8, Int64) -> Bool
  ) -> Int64? {
    guard let file = try? Descriptor.open(path, Descriptor.readOnly),
      let source = try? Descriptor.open(other, Descriptor.readOnly),
      let size = try? file.status().size
    else { return 0 }
    let (mine, theirs) = (
      UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16),
      UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
    )
    defer {
      mine.deallocate()
      theirs.deallocate()
    }
    for start in stride(from: 0, to: size, by: piece) {
      guard let count = try? file.read(into: mine, at: start),
        let expected = try? source.read(into: theirs, at: start)
      else { return start }
      if count <= expected,
        UnsafeRawBufferPointer(rebasing: mine[..<count]).hasSameBytes(
          as: UnsafeRawBufferPointer(rebasing: theirs[..<count]))
      {
        continue
      }
      for index in 0..<count where index >= expected || mine[index] != theirs[index] {
        if !isAllowed(mine[index], start + Int64(index)) { return start + Int64(index) }
      }
    }
    return nil
  }
}
