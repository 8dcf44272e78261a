import System

/// Ways to spoil what a pull left behind.
enum Tampering: String, CaseIterable, Sendable {
  case flippedBlock = "a byte of the temporary blocks flipped"
  case noiseInBlocks = "noise written over the temporary blocks"
  case cutBlocks = "the temporary blocks cut short"
  case longBlocks = "the temporary blocks made longer"
  case droppedData = "the temporary blocks emptied under a journal that claims them"
  case emptyJournal = "the journal emptied"
  case cutJournal = "the journal cut in a record"
  case zeroJournal = "the journal zeroed"
  case flippedJournal = "a byte of the journal flipped"
  case otherJournal = "the journal made one of another version"
  case noJournal = "the journal removed"
  case flippedTile = "a byte of a tile flipped"
  case noiseInTiles = "noise written over the tiles"
  case noTiles = "the tiles removed"
  case flippedSnapshot = "a byte of the snapshot flipped"
  case cutSnapshot = "the snapshot cut short"
  case noSnapshot = "the snapshot removed"
  case leftReady = "the blocks left in ready/ without a marker"
  case flippedMarker = "a byte of the marker flipped"
  case cutMarker = "the marker cut short"
  case noMarker = "the marker removed"
  case noCurrent = "current removed"

  /// What it takes: a work directory, a complete version, or the directory itself.
  private enum Place {
    case work
    case version
    case directory
  }

  private var place: Place {
    switch self {
    case .flippedBlock, .noiseInBlocks, .cutBlocks, .longBlocks, .droppedData, .emptyJournal,
      .cutJournal, .zeroJournal, .flippedJournal, .otherJournal, .noJournal, .flippedTile,
      .noiseInTiles, .noTiles, .flippedSnapshot, .cutSnapshot, .noSnapshot, .leftReady:
      .work
    case .flippedMarker, .cutMarker, .noMarker: .version
    case .noCurrent: .directory
    }
  }

  /// Spoils something, if there is something to spoil.
  ///
  /// - Returns: what was done, for people; nil if nothing was.
  static func tamper(_ checker: inout Checker, _ draw: inout Draw) -> String? {
    let directory = checker.directory
    let partial = Path.join(directory, ".fetchres/partial")
    let works = PlainDisk.names(partial)
    let versions = PlainDisk.names(directory).filter {
      PlainDisk.status(Path.join(directory, "\($0)/complete")) != nil
    }
    let kinds = allCases.filter { kind in
      switch kind.place {
      case .work: !works.isEmpty
      case .version: !versions.isEmpty
      case .directory: PlainDisk.status(Path.join(directory, "current")) != nil
      }
    }
    guard !kinds.isEmpty else { return nil }
    // What damages bytes that count as verified is tried more often.
    let grave = kinds.filter { [.flippedBlock, .noiseInBlocks, .droppedData].contains($0) }
    let kind = draw.one(of: !grave.isEmpty && draw.chance(0.3) ? grave : kinds)
    let isDone: Bool
    switch kind.place {
    case .work:
      let name = draw.one(of: works)
      let work = Path.join(partial, name)
      let version = String(name.dropLast(17))
      isDone = kind.spoil(work, of: checker.site.releases[version], &draw) { range in
        checker.tampered[version, default: []].append(range)
      }
    case .version:
      let version = draw.one(of: versions)
      isDone = kind.spoilMarker(Path.join(directory, "\(version)/complete"), &draw)
    case .directory:
      PlainDisk.remove(Path.join(directory, "current"))
      isDone = true
    }
    return isDone ? kind.rawValue : nil
  }

  private func spoil(
    _ work: String, of release: DrillSite.Release?, _ draw: inout Draw,
    _ tampered: (Range<Int64>) -> Void
  ) -> Bool {
    func path(_ name: String) -> String { Path.join(work, name) }
    let tiles = PlainDisk.files(path("tiles"))
    switch self {
    case .flippedBlock:
      let offset = Self.flip(path("blocks"), &draw)
      if let offset { tampered(offset..<offset + 1) }
      return offset != nil
    case .noiseInBlocks:
      let range = Self.cover(path("blocks"), &draw)
      if let range { tampered(range) }
      return range != nil
    case .cutBlocks: return Self.cut(path("blocks"), &draw)
    case .longBlocks:
      guard let size = PlainDisk.status(path("blocks"))?.size else { return false }
      return Self.resize(path("blocks"), to: size + 1 + draw.below(100_000))
    case .droppedData:
      guard let size = PlainDisk.status(path("blocks"))?.size else { return false }
      return Self.resize(path("blocks"), to: 0) && Self.resize(path("blocks"), to: size)
    case .emptyJournal: return Self.resize(path("journal"), to: 0)
    case .cutJournal: return Self.cut(path("journal"), &draw)
    case .zeroJournal:
      guard let size = PlainDisk.status(path("journal"))?.size else { return false }
      return Self.resize(path("journal"), to: 0) && Self.resize(path("journal"), to: size)
    case .flippedJournal: return Self.flip(path("journal"), &draw) != nil
    case .otherJournal: return Self.flip(path("journal"), &draw, below: 32) != nil
    case .noJournal: return Self.remove(path("journal"))
    case .flippedTile:
      return !tiles.isEmpty && Self.flip(path("tiles/\(draw.one(of: tiles))"), &draw) != nil
    case .noiseInTiles:
      return !tiles.isEmpty && Self.cover(path("tiles/\(draw.one(of: tiles))"), &draw) != nil
    case .noTiles: return Self.remove(path("tiles"))
    case .flippedSnapshot: return Self.flip(path("manifest"), &draw) != nil
    case .cutSnapshot: return Self.cut(path("manifest"), &draw)
    case .noSnapshot: return Self.remove(path("manifest"))
    case .leftReady:
      guard let file = release?.file, PlainDisk.status(path("ready")) == nil,
        PlainDisk.status(path("blocks")) != nil,
        (try? PlainDisk.makeDirectory(path("ready"))) != nil
      else { return false }
      return (try? PlainDisk.rename(path("blocks"), to: path("ready/\(file)"))) != nil
    case .flippedMarker, .cutMarker, .noMarker, .noCurrent: return false
    }
  }

  private func spoilMarker(_ path: String, _ draw: inout Draw) -> Bool {
    if self == .flippedMarker { return Self.flip(path, &draw) != nil }
    return self == .cutMarker ? Self.cut(path, &draw) : Self.remove(path)
  }

  // MARK: Bytes

  private static func flip(
    _ path: String, _ draw: inout Draw, below limit: Int64 = .max
  ) -> Int64? {
    guard let file = try? Descriptor.open(path, Descriptor.readWrite),
      let size = try? file.status().size, size > 0
    else { return nil }
    let offset = draw.below(min(size, limit))
    guard var bytes = file.bytes(offset..<offset + 1) else { return nil }
    bytes[0] ^= 1 << UInt8(draw.below(8))
    return write(bytes, to: file, at: offset) ? offset : nil
  }

  private static func cover(_ path: String, _ draw: inout Draw) -> Range<Int64>? {
    guard let file = try? Descriptor.open(path, Descriptor.readWrite),
      let size = try? file.status().size, size > 0
    else { return nil }
    let start = draw.below(size)
    let range = start..<min(size, start + 1 + draw.below(20_000))
    let noise = MadeBytes.noise(draw.next()).bytes(range)
    return write(noise, to: file, at: start) ? range : nil
  }

  private static func write(_ bytes: [UInt8], to file: Descriptor, at offset: Int64) -> Bool {
    bytes.withUnsafeBytes { (try? file.write($0, at: offset)) != nil }
  }

  private static func cut(_ path: String, _ draw: inout Draw) -> Bool {
    guard let size = PlainDisk.status(path)?.size, size > 0 else { return false }
    return resize(path, to: draw.below(size))
  }

  private static func resize(_ path: String, to size: Int64) -> Bool {
    guard let file = try? Descriptor.open(path, Descriptor.readWrite) else { return false }
    return (try? file.truncate(to: size)) != nil
  }

  private static func remove(_ path: String) -> Bool {
    guard PlainDisk.status(path) != nil else { return false }
    PlainDisk.remove(path)
    return true
  }
}
