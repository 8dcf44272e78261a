import System

/// One change of the entries of one directory or, for a rename, of two.
struct EntriesEffect: Sendable {
  struct Key: Sendable, Hashable {
    var directory: MemoryDisk.Node
    var name: String
  }

  struct Change: Sendable {
    var key: Key
    var node: MemoryDisk.Node?

    init(_ directory: MemoryDisk.Node, _ name: String, _ node: MemoryDisk.Node?) {
      key = Key(directory: directory, name: name)
      self.node = node
    }
  }

  let sequence: Int
  let description: String
  let changes: [Change]
  /// The directories that were not synced since.
  var awaiting: Set<MemoryDisk.Node>
  /// The effects without which this one cannot be on the disk.
  let needs: Set<Int>
  /// The directory that this makes or moves.
  let places: MemoryDisk.Node?
}

extension MemoryDisk {
  /// Changes entries, and notes that this is not durable yet.
  ///
  /// - Parameters:
  ///   - places: the directory that this makes or moves.
  ///   - target: the directory that something is moved into, by a rename.
  ///   - removing: the directory that is gone after this.
  mutating func record(
    _ description: String, _ changes: [EntriesEffect.Change], placing places: Node? = nil,
    movingInto target: Node? = nil, removing: Node? = nil
  ) {
    let keys = Set(changes.map(\.key))
    // What moves must not end in a directory that is lost: not one whose making is, and not one
    // whose way out of a lost directory is.
    let above = target.map { ancestors(of: $0) } ?? []
    var needs: Set<Int> = []
    for index in log.indices {
      let earlier = log[index]
      let inRemoved = earlier.changes.contains { $0.key.directory == removing }
      if earlier.changes.contains(where: { keys.contains($0.key) })
        || inRemoved
        || earlier.places.map(above.contains) == true
      {
        needs.insert(earlier.sequence)
      }
      // Nobody can sync a directory that is gone: its own goes with the one above it.
      if let removing, log[index].awaiting.remove(removing) != nil {
        log[index].awaiting.insert(directories[removing]!.parent)
      }
    }
    log.append(
      EntriesEffect(
        sequence: nextNumber(), description: description, changes: changes,
        awaiting: Set(keys.map(\.directory)), needs: needs, places: places))
    apply(changes)
    if let removing { directories[removing]!.isRemoved = true }
  }

  /// What has been synced on all sides becomes durable, if all that it needs is.
  mutating func syncDirectory(_ directory: Node) {
    var waiting: Set<Int> = []
    var rest: [EntriesEffect] = []
    for var effect in log {
      effect.awaiting.remove(directory)
      if effect.awaiting.isEmpty, effect.needs.isDisjoint(with: waiting) {
        for change in effect.changes {
          directories[change.key.directory]!.durable[change.key.name] = change.node
        }
      } else {
        waiting.insert(effect.sequence)
        rest.append(effect)
      }
    }
    log = rest
  }

  mutating func syncFile(_ node: Node, attributes: Bool) {
    guard files[node] != nil else { return syncDirectory(node) }
    var rest: [FileEffect] = []
    for effect in files[node]!.effects {
      if !effect.isData, !attributes {
        rest.append(effect)
      } else if effect.isDropped, case .write(let content, let offset) = effect.change {
        // The size is not lost with the data.
        let end = offset + Int64(content.count)
        if end > files[node]!.durable.bytes.size { files[node]!.durable.bytes.truncate(to: end) }
      } else {
        files[node]!.durable.apply(effect)
      }
    }
    files[node]!.effects = rest
  }

  /// After a sync that failed.
  mutating func dropUnsynced(_ node: Node) {
    guard let effects = files[node]?.effects else { return }
    for index in effects.indices { files[node]!.effects[index].isDropped = true }
  }

  private mutating func apply(_ changes: [EntriesEffect.Change]) {
    var lost: [Node] = []
    for change in changes {
      let key = change.key
      if let old = directories[key.directory]!.entries[key.name] {
        files[old]?.names -= 1
        lost.append(old)
      }
      if let new = change.node { files[new]?.names += 1 }
      directories[key.directory]!.entries[key.name] = change.node
      directories[key.directory]!.modified = time
    }
    for node in lost { releaseIfUnused(node) }
  }
}
