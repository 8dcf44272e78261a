import SignedNote

/// Every checkpoint that a key has signed on one machine, over all that happens to it.
struct SignedCheckpoints {
  private let proofs: Proofs
  private(set) var checkpoints: Set<Checkpoint> = []

  init(_ proofs: Proofs) { self.proofs = proofs }

  /// Collects whatever parses, under any name. What was staged and never recorded is nothing: the
  /// next publish wipes it, and nobody ever sees it.
  mutating func collect(_ files: [String: [UInt8]]) {
    let isRecorded = files["\(Workshop.site)/.publish/transaction"] != nil
    for (path, bytes) in files {
      if path.hasPrefix("\(Workshop.site)/.publish/new/"), !isRecorded { continue }
      add(bytes)
    }
  }

  /// Collects what others can have seen while the machine ran: the site and the heads of the keys.
  mutating func collectServed(_ files: [String: [UInt8]]) {
    for (path, bytes) in files where !path.contains("/.publish/") { add(bytes) }
  }

  private mutating func add(_ bytes: [UInt8]) {
    guard let note = try? proofs.note(bytes), let checkpoint = try? Checkpoint(note) else { return }
    checkpoints.insert(checkpoint)
  }

  /// Whether all of them are heads of this one log.
  func belong(to entries: [[UInt8]]) -> Bool {
    checkpoints.allSatisfy {
      $0.size <= Int64(entries.count)
        && $0.root.bytes == proofs.tree(Array(entries.prefix(Int($0.size)))).root
    }
  }
}
