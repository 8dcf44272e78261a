import Glibc
import Storage
import System

/// What a `MemoryFileSystem` guards: the tree as the running system sees it, and beside it what a
/// power cut would leave. This file has the tree; `MemoryDisk+Files` the content of files,
/// `MemoryDisk+Syncing` and `MemoryDisk+PowerCut` what is durable.
struct MemoryDisk: Sendable {
  typealias Node = Int

  /// An open file.
  struct Handle: Sendable {
    var node: Node
    var number: Int
  }

  struct DirectoryNode: Sendable {
    var entries: [String: Node] = [:]
    var durable: [String: Node] = [:]
    var parent: Node
    /// Where it was made, for messages.
    var label: String
    var permissions: UInt32
    var modified: FileStatus.Time
    var isRemoved = false
  }

  static let root: Node = 1
  static let largestFile: Int64 = 1 << 44
  static let umask: UInt32 = 0o022

  var directories: [Node: DirectoryNode] = [:]
  var files: [Node: FileNode] = [:]
  var links: [Node: String] = [:]
  /// Which handle has the lock of a file.
  var locks: [Node: Int] = [:]
  /// Unsynced changes of directories, oldest first.
  var log: [EntriesEffect] = []
  var free: Int64
  var supportsClone = true

  /// Numbers nodes, handles and effects, and drives the clock: no two effects have the same time.
  private var lastNumber = root

  init(freeBytes: Int64) {
    free = freeBytes
    directories[Self.root] = DirectoryNode(
      parent: Self.root, label: "/", permissions: 0o755, modified: time)
  }

  mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  var time: FileStatus.Time {
    FileStatus.Time(
      seconds: 1_700_000_000 + Int64(lastNumber / 1_000),
      nanoseconds: Int64(lastNumber % 1_000) * 1_000_000)
  }

  // MARK: Looking

  static func checkComponent(_ name: String) throws(SystemError) {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(0)
    else { throw SystemError(EINVAL, "openat", path: name) }
    guard name.utf8.count <= 255 else { throw SystemError(ENAMETOOLONG, "openat", path: name) }
  }

  func isDirectory(_ node: Node) -> Bool { directories[node] != nil }

  func entries(of directory: Node) -> [String] { Array(directories[directory]!.entries.keys) }

  func entry(_ name: String, in directory: Node, _ call: String) throws(SystemError) -> Node {
    guard let node = directories[directory]!.entries[name] else {
      throw SystemError(ENOENT, call, path: name)
    }
    return node
  }

  func directory(_ name: String, in directory: Node) throws(SystemError) -> Node {
    let node = try entry(name, in: directory, "openat")
    guard isDirectory(node) else { throw SystemError(ENOTDIR, "openat", path: name) }
    return node
  }

  func status(_ node: Node) -> FileStatus {
    if let directory = directories[node] {
      return FileStatus(
        kind: .directory, size: 4_096, permissions: directory.permissions, device: 1,
        inode: UInt64(node), modified: directory.modified, changed: directory.modified)
    }
    if let target = links[node] {
      return FileStatus(
        kind: .symbolicLink, size: Int64(target.utf8.count), permissions: 0o777, device: 1,
        inode: UInt64(node))
    }
    let image = files[node]!.current
    return FileStatus(
      kind: .regular, size: image.bytes.size, permissions: image.permissions, device: 1,
      inode: UInt64(node), modified: image.modified, changed: image.changed)
  }

  func readSymbolicLink(_ name: String, in directory: Node) throws(SystemError) -> String {
    guard let target = links[try entry(name, in: directory, "readlinkat")] else {
      throw SystemError(EINVAL, "readlinkat", path: name)
    }
    return target
  }

  /// The directory and those above it.
  func ancestors(of directory: Node) -> Set<Node> {
    var found: Set = [directory]
    var node = directory
    while node != Self.root {
      node = directories[node]!.parent
      found.insert(node)
    }
    return found
  }

  // MARK: Changing the tree

  /// Opens a file, making it first if `access` says so.
  mutating func open(
    _ name: String, in directory: Node, _ access: FileAccess
  ) throws(SystemError) -> Handle {
    let (permissions, mustBeNew, isWritable): (UInt32?, Bool, Bool) =
      switch access {
      case .read: (nil, false, false)
      case .readWrite: (nil, false, true)
      case .create(let permissions): (permissions, false, true)
      case .createNew(let permissions): (permissions, true, true)
      }
    if let node = directories[directory]!.entries[name] {
      if mustBeNew { throw SystemError(EEXIST, "openat", path: name) }
      if links[node] != nil { throw SystemError(ELOOP, "openat", path: name) }
      if isWritable, isDirectory(node) { throw SystemError(EISDIR, "openat", path: name) }
      return open(node)
    }
    guard let permissions else { throw SystemError(ENOENT, "openat", path: name) }
    try requirePresent(directory, "openat", name)
    let node = nextNumber()
    files[node] = FileNode(
      label: label(name, in: directory), permissions: permissions & ~Self.umask, time: time)
    record("create \(label(name, in: directory))", [.init(directory, name, node)])
    return open(node)
  }

  mutating func open(_ node: Node) -> Handle {
    files[node]?.opens += 1
    return Handle(node: node, number: nextNumber())
  }

  mutating func close(_ handle: Handle) {
    if locks[handle.node] == handle.number { locks[handle.node] = nil }
    files[handle.node]?.opens -= 1
    releaseIfUnused(handle.node)
  }

  mutating func makeDirectory(
    _ name: String, in directory: Node, _ permissions: UInt32
  ) throws(SystemError) {
    try requireVacant(name, in: directory, "mkdirat")
    let node = nextNumber()
    directories[node] = DirectoryNode(
      parent: directory, label: label(name, in: directory),
      permissions: permissions & ~Self.umask, modified: time)
    record(
      "mkdir \(label(name, in: directory))", [.init(directory, name, node)], placing: node)
  }

  mutating func makeSymbolicLink(
    _ name: String, in directory: Node, to target: String
  ) throws(SystemError) {
    guard !target.isEmpty else { throw SystemError(ENOENT, "symlinkat", path: name) }
    try requireVacant(name, in: directory, "symlinkat")
    let node = nextNumber()
    links[node] = target
    record(
      "symlink \(label(name, in: directory)) -> \(target)", [.init(directory, name, node)])
  }

  mutating func link(
    _ name: String, in directory: Node, to newName: String, in target: Node
  ) throws(SystemError) {
    let node = try entry(name, in: directory, "linkat")
    try requireVacant(newName, in: target, "linkat")
    guard !isDirectory(node) else { throw SystemError(EPERM, "linkat", path: name) }
    record(
      "link \(label(name, in: directory)) -> \(label(newName, in: target))",
      [.init(target, newName, node)])
  }

  mutating func remove(_ name: String, in directory: Node) throws(SystemError) {
    let node = try entry(name, in: directory, "unlinkat")
    guard !isDirectory(node) else { throw SystemError(EISDIR, "unlinkat", path: name) }
    record("remove \(label(name, in: directory))", [.init(directory, name, nil)])
  }

  mutating func removeDirectory(_ name: String, in directory: Node) throws(SystemError) {
    let node = try entry(name, in: directory, "unlinkat")
    guard let removed = directories[node] else {
      throw SystemError(ENOTDIR, "unlinkat", path: name)
    }
    guard removed.entries.isEmpty else { throw SystemError(ENOTEMPTY, "unlinkat", path: name) }
    record(
      "rmdir \(label(name, in: directory))", [.init(directory, name, nil)], removing: node)
  }

  mutating func rename(
    _ name: String, in directory: Node, to newName: String, in target: Node
  ) throws(SystemError) {
    let node = try entry(name, in: directory, "renameat")
    try requirePresent(target, "renameat", newName)
    let isDirectory = isDirectory(node)
    if isDirectory, ancestors(of: target).contains(node) {
      throw SystemError(EINVAL, "renameat", path: newName)
    }
    var replaced: Node?
    if let other = directories[target]!.entries[newName] {
      if other == node { return }
      if let otherDirectory = directories[other] {
        guard isDirectory else { throw SystemError(EISDIR, "renameat", path: newName) }
        guard otherDirectory.entries.isEmpty else {
          throw SystemError(ENOTEMPTY, "renameat", path: newName)
        }
        replaced = other
      } else if isDirectory {
        throw SystemError(ENOTDIR, "renameat", path: newName)
      }
    }
    record(
      "rename \(label(name, in: directory)) -> \(label(newName, in: target))",
      [.init(directory, name, nil), .init(target, newName, node)],
      placing: isDirectory ? node : nil, movingInto: target,
      removing: replaced)
    directories[node]?.parent = target
  }

  private func requireVacant(
    _ name: String, in directory: Node, _ call: String
  ) throws(SystemError) {
    if directories[directory]!.entries[name] != nil {
      throw SystemError(EEXIST, call, path: name)
    }
    try requirePresent(directory, call, name)
  }

  /// Nothing can be made in a directory that was removed.
  private func requirePresent(
    _ directory: Node, _ call: String, _ name: String
  ) throws(SystemError) {
    if directories[directory]!.isRemoved { throw SystemError(ENOENT, call, path: name) }
  }

  private func label(_ name: String, in directory: Node) -> String {
    Path.join(directories[directory]!.label, name)
  }
}
