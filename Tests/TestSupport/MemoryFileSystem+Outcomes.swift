import Storage
import System

extension MemoryFileSystem {
  /// The outcomes of a power cut now that a test looks at: nothing, everything, each effect alone
  /// lost, and random ones. One will do where nothing is at stake.
  package func outcomes(seeds: Range<UInt64>) -> [Survivors] {
    let effects = unsyncedEffects.indices
    if effects.isEmpty { return [.nothingUnsynced] }
    return [.nothingUnsynced, .everything]
      + effects.map { .everythingBut($0) } + seeds.map { .seeded($0) }
  }

  /// Makes the next operation of a kind fail, and no other.
  package func failNext(_ kind: Operation.Kind, _ code: Int32) {
    onOperation = { [weak self] operation throws(SystemError) in
      guard operation.kind == kind else { return }
      self?.onOperation = nil
      throw SystemError(code, kind.rawValue, path: operation.path)
    }
  }

  /// Cuts the power when operation `number` would begin.
  package func cutPower(before number: Int) {
    onOperation = { [weak self] operation in
      if operation.number == number { self?.cutPower() }
    }
  }

  /// The same disk once more, all of it durable. This one is without power afterwards.
  package func copy() -> MemoryFileSystem { crash(survivors: .everything) }
}

extension MemoryFileSystem {
  /// Tells disks apart by what is on them: names, kinds, contents. The same within one process.
  package func fingerprint() throws(SystemError) -> Int {
    var hasher = Hasher()
    try hash(try openDirectory("/"), into: &hasher)
    return hasher.finalize()
  }

  private func hash(_ directory: any Directory, into hasher: inout Hasher) throws(SystemError) {
    for name in try directory.entries().sorted() {
      hasher.combine(name)
      let status = try directory.status(name)
      switch status.kind {
      case .directory:
        try hash(try directory.openDirectory(name), into: &hasher)
        hasher.combine("..")
      case .symbolicLink:
        hasher.combine(try directory.readSymbolicLink(name))
      case .regular, .other:
        hasher.combine(status.size)
        let bytes = try directory.readFile(name, limit: Int.max - 1)
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
      }
    }
  }
}
