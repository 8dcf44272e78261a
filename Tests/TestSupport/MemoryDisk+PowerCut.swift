import System

/// What is left when the power goes.
extension MemoryDisk {
  /// One effect that a power cut may take.
  struct Unsynced: Sendable {
    var sequence: Int
    var description: String
  }

  /// All that a power cut now may take and that could show afterwards, oldest first.
  var unsynced: [Unsynced] {
    var named = Set(directories.values.lazy.flatMap(\.durable.values))
    for change in log.lazy.flatMap(\.changes) { if let node = change.node { named.insert(node) } }
    var found = log.map { Unsynced(sequence: $0.sequence, description: $0.description) }
    for (node, file) in files where named.contains(node) {
      found += file.effects.map {
        Unsynced(sequence: $0.sequence, description: "\($0.description) of \(file.label)")
      }
    }
    return found.sorted { $0.sequence < $1.sequence }
  }

  func afterPowerCut(_ survivors: MemoryFileSystem.Survivors) -> MemoryDisk {
    let fates = fates(survivors)
    var entries = directories.mapValues(\.durable)
    var lost: Set<Int> = []
    for effect in log {
      guard fates[effect.sequence] != .lost, effect.needs.isDisjoint(with: lost) else {
        lost.insert(effect.sequence)
        continue
      }
      for change in effect.changes { entries[change.key.directory]![change.key.name] = change.node }
    }
    return rebuilt(entries) { file in
      var image = file.durable
      for effect in file.effects { image.apply(effect, fates[effect.sequence] ?? .lost) }
      return FileNode(label: file.label, image: image)
    }
  }

  /// The handles and locks are gone, and nothing else.
  func afterKill() -> MemoryDisk {
    var disk = self
    disk.locks = [:]
    for node in files.keys {
      disk.files[node]!.opens = 0
      disk.releaseIfUnused(node)
    }
    return disk
  }

  /// A disk with these entries alone, all of them durable, and the files that they reach.
  private func rebuilt(
    _ entries: [Node: [String: Node]], _ image: (FileNode) -> FileNode
  ) -> MemoryDisk {
    var disk = self
    let used = files.values.reduce(Int64(0)) {
      $0 + ($1.isReleased ? 0 : $1.current.bytes.pageCount)
    }
    disk.free += used * SparseBytes.pageSize
    (disk.directories, disk.files, disk.links, disk.locks, disk.log) = ([:], [:], [:], [:], [])

    var open: [(node: Node, parent: Node)] = [(Self.root, Self.root)]
    while let (node, parent) = open.popLast() {
      var directory = directories[node]!
      (directory.entries, directory.durable) = (entries[node]!, entries[node]!)
      directory.parent = parent
      directory.isRemoved = false
      precondition(
        disk.directories.updateValue(directory, forKey: node) == nil,
        "TestSupport: a directory with two names")
      for child in directory.entries.values {
        if directories[child] != nil {
          open.append((child, node))
        } else if let target = links[child] {
          disk.links[child] = target
        } else {
          if disk.files[child] == nil {
            let file = image(files[child]!)
            disk.free -= file.current.bytes.pageCount * SparseBytes.pageSize
            disk.files[child] = file
          }
          disk.files[child]!.names += 1
        }
      }
    }
    return disk
  }

  private func fates(_ survivors: MemoryFileSystem.Survivors) -> [Int: Fate] {
    let unsynced = unsynced
    var fates: [Int: Fate] = [:]
    var random = SeededGenerator(seed: 0)
    if case .seeded(let seed) = survivors { random = SeededGenerator(seed: seed) }
    for (index, effect) in unsynced.enumerated() {
      fates[effect.sequence] =
        switch survivors {
        case .nothingUnsynced: .lost
        case .everything: .whole
        case .everythingBut(let loser): index == loser ? .lost : .whole
        case .seeded: Fate(&random)
        }
    }
    return fates
  }
}

/// What became of an unsynced effect. What is said of pages and bytes is for writes; other effects
/// that are not lost are whole.
private enum Fate: Equatable {
  case lost
  case whole
  /// The first bytes alone; the number chooses how many.
  case prefix(UInt64)
  /// The size grew and nothing came.
  case zeros
  /// Page by page, as chosen by the seed.
  case somePages(UInt64)

  init(_ random: inout SeededGenerator) {
    let detail = random.next()
    switch random.next() % 8 {
    case 0, 1, 2: self = .whole
    case 3, 4: self = .lost
    case 5: self = .prefix(detail)
    case 6: self = .zeros
    default: self = .somePages(detail)
    }
  }
}

extension FileImage {
  fileprivate mutating func apply(_ effect: FileEffect, _ fate: Fate) {
    guard fate != .lost else { return }
    guard case .write(let content, let offset) = effect.change else { return apply(effect) }
    (modified, changed) = (effect.time, effect.time)
    switch fate {
    case .lost: break
    case .whole: bytes.write(content[...], at: offset)
    case .prefix(let choice):
      bytes.write(content.prefix(Int(choice % UInt64(content.count))), at: offset)
    case .zeros:
      bytes.write([UInt8](repeating: 0, count: content.count)[...], at: offset)
    case .somePages(let seed):
      var random = SeededGenerator(seed: seed)
      let size = Int(SparseBytes.pageSize)
      var start = 0
      while start < content.count {
        let within = Int((offset + Int64(start)) % SparseBytes.pageSize)
        let end = min(content.count, start + size - within)
        if random.next() % 2 == 0 { bytes.write(content[start..<end], at: offset + Int64(start)) }
        start = end
      }
      bytes.truncate(to: max(bytes.size, offset + Int64(content.count)))
    }
  }
}
