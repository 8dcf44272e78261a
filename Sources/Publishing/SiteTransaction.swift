import Crypto
import Failure
import Manifest
import SignedNote
import Storage
import System

/// The write-ahead record of one publish: the final bytes of every small file, durable in
/// `<site>/.publish/` before any served name changes, so that a rerun completes it byte for byte.
///
/// `.publish/transaction` is text: `fetchres transaction v1`, then one line a step, in order:
/// `head <n> <sha256> <public key> <path>` (the key's own record), `release <version>` (one rename of
/// `releases/.new-<version>`), `immutable <n> <sha256> <path>`, `mutable <n> <sha256> <path>`; the
/// bytes of step n are in `.publish/new/<n>`. `hold` stops it until `.publish/released` holds the
/// checkpoint with the cosignatures that were waited for.
struct SiteTransaction: Sendable, Equatable {
  enum Step: Sendable, Equatable {
    /// The last checkpoint that a key signed, kept beside the key.
    case head(key: NoteKey, path: String, bytes: [UInt8])
    case release(version: String)
    case immutable(path: String, bytes: [UInt8])
    case mutable(path: String, bytes: [UInt8])
    /// What follows waits for cosignatures of the checkpoint.
    case hold
  }

  var steps: [Step]

  private static let firstLine = "fetchres transaction v1"
  private static let planName = "transaction"
  private static let stageName = "new"
  private static let planLimit = 1 << 26
  static let releasedName = "released"

  /// Refuses what could not be completed, while nothing has happened yet: a name that may not change
  /// and is there with other bytes, a record that is not the key's.
  func check(_ site: SiteDirectory, _ fileSystem: any FileSystem) throws(FetchFailure) {
    if let refusal = try headRefusal(site, fileSystem) { throw refusal }
    for step in steps {
      if case .immutable(let path, let bytes) = step { _ = try isThere(path, bytes, site) }
    }
  }

  /// Makes the record durable. From then on the transaction will happen.
  func stage(_ lock: SiteLock) throws(FetchFailure) {
    do throws(SystemError) {
      try lock.own.removeTree(Self.stageName)
      try lock.own.removeIfPresent(Self.releasedName)
      let stage = try lock.own.openOrMakeDirectory(Self.stageName, permissions: 0o700)
      var lines = [Self.firstLine]
      for (number, step) in steps.enumerated() {
        switch step {
        case .release(let version):
          lines.append("release \(version)")
        case .head(let key, let path, let bytes):
          lines.append(try Self.stage("head", number, "\(key) \(path)", bytes, stage))
        case .immutable(let path, let bytes):
          lines.append(try Self.stage("immutable", number, path, bytes, stage))
        case .mutable(let path, let bytes):
          lines.append(try Self.stage("mutable", number, path, bytes, stage))
        case .hold:
          lines.append("hold")
        }
      }
      try stage.sync()
      // The record must not be there before what it speaks of.
      try lock.own.sync()
      let text = lines.map { $0 + "\n" }.joined()
      try lock.own.replaceFile(Self.planName, Array(text.utf8), permissions: 0o600)
    } catch { throw error.failure("cannot record the publish") }
  }

  private static func stage(
    _ word: String, _ number: Int, _ path: String, _ bytes: [UInt8], _ stage: any Directory
  ) throws(SystemError) -> String {
    // A line is a step.
    if path.utf8.contains(UInt8(ascii: "\n")) {
      throw SystemError(SystemError.invalid, "record", path: path)
    }
    let file = try stage.openFile("\(number)", .createNew(permissions: 0o600))
    try file.writeAll(bytes)
    try file.sync()
    return "\(word) \(number) \(SHA256.digest(bytes)) \(path)"
  }

  /// Whether a record lies there, without the lock and without reading it.
  static func isRecorded(_ site: SiteDirectory) throws(FetchFailure) -> Bool {
    try site.has("\(SiteDirectory.privateName)/\(planName)")
  }

  /// The transaction that was recorded and not finished; nil if there is none.
  static func pending(_ lock: SiteLock) throws(FetchFailure) -> SiteTransaction? {
    let text: String? = try doing("cannot read the record of the unfinished publish") {
      () throws(SystemError) in
      guard try lock.own.statusIfPresent(planName) != nil else { return nil }
      return String(decoding: try lock.own.readFile(planName, limit: planLimit), as: UTF8.self)
    }
    guard let text else { return nil }
    let malformed = FetchFailure(
      .ioError, "the record of the unfinished publish in .publish is damaged",
      hint: "nothing was changed; restore it, or look at .publish/transaction by hand")
    let lines = text.split(separator: "\n")
    guard lines.first == Substring(firstLine), text.hasSuffix("\n") else { throw malformed }
    var steps: [Step] = []
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ", maxSplits: 3)
      if parts.count == 2, parts[0] == "release" {
        steps.append(.release(version: String(parts[1])))
        continue
      }
      if line == "hold" {
        steps.append(.hold)
        continue
      }
      guard parts.count == 4, let number = Decimal.decode(parts[1]) else { throw malformed }
      let bytes = try doing("cannot read step \(number) of the unfinished publish") {
        () throws(SystemError) in
        try lock.own.openDirectory(stageName).readFile("\(number)", limit: SiteDirectory.fileLimit)
      }
      guard SHA256.digest(bytes).description == parts[2] else { throw malformed }
      let path = String(parts[3])
      switch parts[0] {
      case "head":
        let words = path.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let key = NoteKey(words[0]) else { throw malformed }
        steps.append(.head(key: key, path: String(words[1]), bytes: bytes))
      case "immutable": steps.append(.immutable(path: path, bytes: bytes))
      case "mutable": steps.append(.mutable(path: path, bytes: bytes))
      default: throw malformed
      }
    }
    return SiteTransaction(steps: steps)
  }

  /// Performs every step, those that were performed before included, and forgets the record. Whoever
  /// calls it holds the locks of the keys whose records it renews.
  ///
  /// - Parameter wasInterrupted: whether another run began it, so that its changes have to be named
  ///   together with those of whatever this run does next.
  /// - Returns: false if it stopped at a checkpoint that is held.
  @discardableResult
  func complete(
    _ site: SiteDirectory, _ lock: SiteLock, _ fileSystem: any FileSystem,
    wasInterrupted: Bool = false
  ) throws(FetchFailure) -> Bool {
    if let refusal = try headRefusal(site, fileSystem) { throw refusal }
    if let hold = steps.firstIndex(of: .hold) {
      guard let whole = try released(lock) else {
        let part = SiteTransaction(steps: Array(steps[..<hold]))
        for step in part.steps { try perform(step, site, fileSystem) }
        let order = try UploadOrder(part, site)
        try doing("cannot record what was published") { () throws(SystemError) in
          try lock.own.replaceFile(UploadOrder.recordName, order.record, permissions: 0o600)
        }
        return false
      }
      return try whole.complete(site, lock, fileSystem, wasInterrupted: wasInterrupted)
    }
    for step in steps { try perform(step, site, fileSystem) }
    var order = try UploadOrder(self, site)
    if let earlier = try UploadOrder(site, UploadOrder.earlierName) { order.add(earlier) }
    try doing("cannot record what was published") { () throws(SystemError) in
      if wasInterrupted {
        try lock.own.replaceFile(UploadOrder.earlierName, order.record, permissions: 0o600)
      }
      try lock.own.replaceFile(UploadOrder.recordName, order.record, permissions: 0o600)
    }
    try Self.forget(lock)
    if !wasInterrupted { try UploadOrder.forgetEarlier(lock) }
    return true
  }

  private func perform(
    _ step: Step, _ site: SiteDirectory, _ fileSystem: any FileSystem
  ) throws(FetchFailure) {
    switch step {
    case .head(_, let path, let bytes): try KeyHead(path: path).write(bytes, fileSystem)
    case .release(let version): try appear(version, site)
    case .immutable(let path, let bytes): try put(path, bytes, site)
    case .mutable(let path, let bytes): try replace(path, bytes, site)
    case .hold: break
    }
  }

  /// Removes the record: the transaction is over.
  static func forget(_ lock: SiteLock) throws(FetchFailure) {
    try doing("cannot close the record of the publish") { () throws(SystemError) in
      try lock.own.remove(planName)
      try lock.own.sync()
      try lock.own.removeTree(stageName)
      try lock.own.removeIfPresent(releasedName)
    }
  }

  /// Whether any step was performed: what a key or a client may have seen.
  func hasBegun(
    _ site: SiteDirectory, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> Bool {
    for step in steps {
      let isDone: Bool =
        switch step {
        case .head(_, let path, _) where !KeyHead.isPath(path): false
        case .head(_, let path, let bytes): try KeyHead(path: path).read(fileSystem) == bytes
        case .release(let version): try site.has(SitePaths.release(version))
        case .immutable(let path, _): try site.has(path)
        case .mutable(let path, let bytes):
          try site.read(path, limit: SiteDirectory.fileLimit) == bytes
        case .hold: false
        }
      if isDone { return true }
    }
    return false
  }

  private func appear(_ version: String, _ site: SiteDirectory) throws(FetchFailure) {
    do throws(SystemError) {
      guard let (releases, name) = try site.locate(SitePaths.release(version)) else {
        throw SystemError(SystemError.notFound, "rename", path: version)
      }
      let temporary = ReleaseBuilder.temporaryName(version)
      // What a killed run renamed is there, and not durable yet.
      let isBuilt = try releases.statusIfPresent(temporary) != nil
      let isThere = try releases.statusIfPresent(name) != nil
      if isBuilt || !isThere { try releases.rename(temporary, to: releases, name) }
      try releases.sync()
    } catch { throw error.failure("cannot put the release \(version) into place") }
  }

  private func put(_ path: String, _ bytes: [UInt8], _ site: SiteDirectory) throws(FetchFailure) {
    guard try isThere(path, bytes, site) else { return try replace(path, bytes, site) }
    // Whoever wrote it may have been killed before it was durable.
    try site.makeDurable(path)
  }

  private func isThere(
    _ path: String, _ bytes: [UInt8], _ site: SiteDirectory
  ) throws(FetchFailure) -> Bool {
    guard let there = try site.read(path, limit: SiteDirectory.fileLimit) else { return false }
    guard there == bytes else {
      throw FetchFailure(
        .ioError, "\(Path.join(site.path, path)) is there with other bytes, and may not change",
        hint: "nothing was overwritten; find out who wrote it")
    }
    return true
  }

  private func replace(
    _ path: String, _ bytes: [UInt8], _ site: SiteDirectory
  ) throws(FetchFailure) {
    do throws(SystemError) {
      guard let (directory, name) = try site.locate(path, makes: true) else {
        preconditionFailure("Publishing: a directory was not made")
      }
      try directory.replaceFile(name, bytes)
    } catch { throw error.failure("cannot write \(Path.join(site.path, path))") }
  }
}
