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
