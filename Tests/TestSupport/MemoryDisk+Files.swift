import Glibc
import System

/// A file: what the running system sees, what is on the disk, and the effects between the two.
struct FileNode: Sendable {
  /// Where it was made, for messages.
  let label: String
  var current: FileImage
  var durable: FileImage
  /// Since the last sync, oldest first.
  var effects: [FileEffect] = []
  var names = 0
  var opens = 0
  /// Without a name and closed: its pages are free again.
  var isReleased = false

  init(label: String, permissions: UInt32, time: FileStatus.Time) {
    self.init(
      label: label, image: FileImage(permissions: permissions, modified: time, changed: time))
  }

  init(label: String, image: FileImage) {
    self.label = label
    (current, durable) = (image, image)
  }
}

struct FileImage: Sendable {
  var bytes = SparseBytes()
  var permissions: UInt32
  var modified: FileStatus.Time
  var changed: FileStatus.Time

  mutating func apply(_ effect: FileEffect) {
    if effect.isData { modified = effect.time }
    changed = effect.time
    switch effect.change {
    case .write(let content, let offset): bytes.write(content[...], at: offset)
    case .truncate(let size): bytes.truncate(to: size)
    case .reserve(let range): bytes.reserve(range)
    case .punch(let range): bytes.punch(range)
    case .share(let source): bytes.share(source)
    case .modified(let seconds): modified = FileStatus.Time(seconds: seconds, nanoseconds: 0)
    case .permissions(let permissions): self.permissions = permissions
    }
  }
}

/// One change of one file that was not synced yet.
struct FileEffect: Sendable {
  enum Change: Sendable {
    case write([UInt8], at: Int64)
    case truncate(Int64)
    case reserve(Range<Int64>)
    case punch(Range<Int64>)
    case share(SparseBytes)
    case modified(Int64)
    case permissions(UInt32)
  }

  let sequence: Int
  let time: FileStatus.Time
  let change: Change
  /// A sync of it failed: what was written will not reach the disk by a later one.
  var isDropped = false

  /// Whether `syncData` makes it durable.
  var isData: Bool {
    switch change {
    case .write, .truncate, .reserve, .punch, .share: true
    case .modified, .permissions: false
    }
  }

  var description: String {
    switch change {
    case .write(let content, let offset): "write \(offset)..<\(offset + Int64(content.count))"
    case .truncate(let size): "truncate \(size)"
    case .reserve(let range): "allocate \(range)"
    case .punch(let range): "punch \(range)"
    case .share(let source): "clone 0..<\(source.size)"
    case .modified(let seconds): "modified \(seconds)"
    case .permissions(let permissions): "permissions 0\(String(permissions, radix: 8))"
    }
  }
}

extension MemoryDisk {
  /// No single call copies more, so that callers meet short counts.
  private static let largestCopy: Int64 = 1 << 20

  func read(
    _ node: Node, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    guard offset >= 0 else { throw SystemError(EINVAL, "pread") }
    guard let file = files[node] else { throw SystemError(EISDIR, "pread") }
    return file.current.bytes.read(into: buffer, at: offset)
  }

  func nextData(_ node: Node, from offset: Int64) -> Range<Int64>? {
    files[node]?.current.bytes.nextData(from: offset)
  }

  /// Writes what fits on the disk; `ENOSPC` if that is not all of it.
  mutating func write(_ node: Node, _ content: [UInt8], at offset: Int64) throws(SystemError) {
    let fitting = files[node]!.current.bytes.bytesThatFit(
      offset..<(offset + Int64(content.count)), free: free / SparseBytes.pageSize)
    if fitting > 0 { record(.write(Array(content.prefix(Int(fitting))), at: offset), node) }
    if fitting < content.count { throw SystemError(ENOSPC, "pwrite", path: files[node]!.label) }
  }

  mutating func truncate(_ node: Node, to size: Int64) { record(.truncate(size), node) }

  mutating func allocate(_ node: Node, _ range: Range<Int64>) throws(SystemError) {
    let missing = files[node]!.current.bytes.pagesMissing(in: range)
    guard missing <= free / SparseBytes.pageSize else {
      throw SystemError(ENOSPC, "fallocate", path: files[node]!.label)
    }
    record(.reserve(range), node)
  }

  mutating func punchHole(_ node: Node, _ range: Range<Int64>) { record(.punch(range), node) }

  mutating func clone(from source: Node, to node: Node) throws(SystemError) {
    guard supportsClone else { throw SystemError(EOPNOTSUPP, "ioctl FICLONE") }
    guard let content = files[source]?.current.bytes else {
      throw SystemError(EISDIR, "ioctl FICLONE")
    }
    let target = files[node]!.current.bytes
    // Blocks are shared whole: one with the end of the source would cover bytes of the target.
    guard source != node,
      target.size <= content.size || content.size % SparseBytes.pageSize == 0
    else { throw SystemError(EINVAL, "ioctl FICLONE") }
    guard content.pageCount - target.pageCount <= free / SparseBytes.pageSize else {
      throw SystemError(ENOSPC, "ioctl FICLONE", path: files[node]!.label)
    }
    record(.share(content), node)
  }

  mutating func copy(
    from source: Node, to node: Node, _ range: Range<Int64>
  ) throws(SystemError) -> Int64 {
    guard let content = files[source]?.current.bytes else {
      throw SystemError(EISDIR, "copy_file_range")
    }
    guard source != node || range.isEmpty else { throw SystemError(EINVAL, "copy_file_range") }
    let count = min(Int64(range.count), Self.largestCopy, content.size - range.lowerBound)
    guard count > 0 else { return 0 }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    _ = bytes.withUnsafeMutableBytes { content.read(into: $0, at: range.lowerBound) }
    try write(node, bytes, at: range.lowerBound)
    return count
  }

  mutating func setModified(_ node: Node, _ seconds: Int64) {
    directories[node]?.modified = FileStatus.Time(seconds: seconds, nanoseconds: 0)
    record(.modified(seconds), node)
  }

  mutating func setPermissions(_ node: Node, _ permissions: UInt32) {
    directories[node]?.permissions = permissions & 0o7777
    record(.permissions(permissions & 0o7777), node)
  }

  mutating func tryLock(_ handle: Handle) -> Bool {
    if let holder = locks[handle.node] { return holder == handle.number }
    locks[handle.node] = handle.number
    return true
  }

  private mutating func record(_ change: FileEffect.Change, _ node: Node) {
    guard files[node] != nil else { return }
    let before = files[node]!.current.bytes.pageCount
    let effect = FileEffect(sequence: nextNumber(), time: time, change: change)
    files[node]!.current.apply(effect)
    files[node]!.effects.append(effect)
    free -= (files[node]!.current.bytes.pageCount - before) * SparseBytes.pageSize
  }

  /// Gives the pages back once the last name and the last handle are gone.
  mutating func releaseIfUnused(_ node: Node) {
    guard let file = files[node], file.names == 0, file.opens == 0, !file.isReleased else { return }
    free += file.current.bytes.pageCount * SparseBytes.pageSize
    files[node]!.isReleased = true
  }
}
