import Glibc
import Storage
import System

/// An open directory of a `MemoryFileSystem`.
final class MemoryDirectory: Directory {
  private let fileSystem: MemoryFileSystem
  private let node: MemoryDisk.Node
  private let path: String

  init(_ fileSystem: MemoryFileSystem, _ node: MemoryDisk.Node, _ path: String) {
    (self.fileSystem, self.node, self.path) = (fileSystem, node, path)
  }

  func openFile(_ name: String, _ access: FileAccess) throws(SystemError) -> any File {
    try MemoryDisk.checkComponent(name)
    let handle: MemoryDisk.Handle
    if try isCreated(name, by: access) {
      handle = try fileSystem.perform(.createFile, below(name)) { disk throws(SystemError) in
        try disk.open(name, in: node, access)
      }
    } else {
      handle = try fileSystem.inspect("openat") { disk throws(SystemError) in
        try disk.open(name, in: node, access)
      }
    }
    let isWritable = if case .read = access { false } else { true }
    return MemoryFile(fileSystem, handle, below(name), isWritable: isWritable)
  }

  func openDirectory(_ name: String) throws(SystemError) -> any Directory {
    try MemoryDisk.checkComponent(name)
    let child = try fileSystem.inspect("openat") { disk throws(SystemError) in
      try disk.directory(name, in: node)
    }
    return MemoryDirectory(fileSystem, child, below(name))
  }

  func makeDirectory(_ name: String, permissions: UInt32) throws(SystemError) {
    try MemoryDisk.checkComponent(name)
    try fileSystem.perform(.makeDirectory, below(name)) { disk throws(SystemError) in
      try disk.makeDirectory(name, in: node, permissions)
    }
  }

  func status(_ name: String) throws(SystemError) -> FileStatus {
    try MemoryDisk.checkComponent(name)
    return try fileSystem.inspect("fstatat") { disk throws(SystemError) in
      disk.status(try disk.entry(name, in: node, "fstatat"))
    }
  }

  func status() throws(SystemError) -> FileStatus {
    try fileSystem.inspect("fstat") { disk throws(SystemError) in disk.status(node) }
  }

  func entries() throws(SystemError) -> [String] {
    try fileSystem.inspect("readdir") { disk throws(SystemError) in disk.entries(of: node) }
  }

  func rename(
    _ name: String, to directory: any Directory, _ newName: String
  ) throws(SystemError) {
    try MemoryDisk.checkComponent(name)
    try MemoryDisk.checkComponent(newName)
    let target = try local(directory, "renameat", newName)
    try fileSystem.perform(.rename, below(name), to: target.below(newName)) {
      disk throws(SystemError) in
      try disk.rename(name, in: node, to: newName, in: target.node)
    }
  }

  func link(_ name: String, to directory: any Directory, _ newName: String) throws(SystemError) {
    try MemoryDisk.checkComponent(name)
    try MemoryDisk.checkComponent(newName)
    let target = try local(directory, "linkat", newName)
    try fileSystem.perform(.link, below(name), to: target.below(newName)) {
      disk throws(SystemError) in
      try disk.link(name, in: node, to: newName, in: target.node)
    }
  }

  func makeSymbolicLink(_ name: String, to target: String) throws(SystemError) {
    try MemoryDisk.checkComponent(name)
    try fileSystem.perform(.makeSymbolicLink, below(name)) { disk throws(SystemError) in
      try disk.makeSymbolicLink(name, in: node, to: target)
    }
  }

  func readSymbolicLink(_ name: String) throws(SystemError) -> String {
    try MemoryDisk.checkComponent(name)
    return try fileSystem.inspect("readlinkat") { disk throws(SystemError) in
      try disk.readSymbolicLink(name, in: node)
    }
  }

  func remove(_ name: String) throws(SystemError) {
    try MemoryDisk.checkComponent(name)
    try fileSystem.perform(.remove, below(name)) { disk throws(SystemError) in
      try disk.remove(name, in: node)
    }
  }

  func removeDirectory(_ name: String) throws(SystemError) {
    try MemoryDisk.checkComponent(name)
    try fileSystem.perform(.removeDirectory, below(name)) { disk throws(SystemError) in
      try disk.removeDirectory(name, in: node)
    }
  }

  func sync() throws(SystemError) {
    try fileSystem.perform(.syncDirectory, path) { disk throws(SystemError) in
      disk.syncDirectory(node)
    }
  }

  func freeBytes() throws(SystemError) -> Int64 {
    try fileSystem.inspect("fstatvfs") { disk throws(SystemError) in max(0, disk.free) }
  }

  private func below(_ name: String) -> String { Path.join(path, name) }

  /// Opening a file that is there is no operation.
  private func isCreated(_ name: String, by access: FileAccess) throws(SystemError) -> Bool {
    switch access {
    case .read, .readWrite: false
    case .createNew: true
    case .create:
      try fileSystem.inspect("openat") { disk throws(SystemError) in
        !disk.entries(of: node).contains(name)
      }
    }
  }

  private func local(
    _ directory: any Directory, _ call: String, _ name: String
  ) throws(SystemError) -> MemoryDirectory {
    guard let directory = directory as? MemoryDirectory else {
      preconditionFailure("TestSupport: directories of two kinds of file system")
    }
    guard directory.fileSystem === fileSystem else {
      throw SystemError(EXDEV, call, path: name)
    }
    return directory
  }
}

/// An open file of a `MemoryFileSystem`.
final class MemoryFile: File {
  private let fileSystem: MemoryFileSystem
  private let handle: MemoryDisk.Handle
  private let path: String
  private let isWritable: Bool

  init(
    _ fileSystem: MemoryFileSystem, _ handle: MemoryDisk.Handle, _ path: String, isWritable: Bool
  ) {
    (self.fileSystem, self.handle, self.path) = (fileSystem, handle, path)
    self.isWritable = isWritable
  }

  deinit { fileSystem.close(handle) }

  private var node: MemoryDisk.Node { handle.node }

  func status() throws(SystemError) -> FileStatus {
    try fileSystem.inspect("fstat") { disk throws(SystemError) in disk.status(node) }
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    if buffer.isEmpty { return 0 }
    return try fileSystem.inspect("pread") { disk throws(SystemError) in
      try disk.read(node, into: buffer, at: offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    if bytes.isEmpty { return }
    try requireWritable("pwrite", EBADF)
    let range = try Self.range(at: offset, count: Int64(bytes.count), "pwrite")
    let bytes = Array(bytes)
    try fileSystem.perform(.write, path, range: range) { disk throws(SystemError) in
      try disk.write(node, bytes, at: offset)
    }
  }

  func truncate(to size: Int64) throws(SystemError) {
    try requireWritable("ftruncate", EINVAL)
    let range = try Self.range(at: 0, count: size, "ftruncate")
    try fileSystem.perform(.truncate, path, range: range) { disk throws(SystemError) in
      disk.truncate(node, to: size)
    }
  }

  func allocate(_ range: Range<Int64>) throws(SystemError) {
    try requireWritable("fallocate", EBADF)
    try Self.checkAllocation(range)
    try fileSystem.perform(.allocate, path, range: range) { disk throws(SystemError) in
      try disk.allocate(node, range)
    }
  }

  func punchHole(_ range: Range<Int64>) throws(SystemError) {
    try requireWritable("fallocate", EBADF)
    try Self.checkAllocation(range)
    try fileSystem.perform(.punchHole, path, range: range) { disk throws(SystemError) in
      disk.punchHole(node, range)
    }
  }

  func clone(from source: any File) throws(SystemError) {
    try requireWritable("ioctl FICLONE", EBADF)
    let source = try local(source, "ioctl FICLONE")
    try fileSystem.perform(.clone, source.path, to: path) { disk throws(SystemError) in
      try disk.clone(from: source.node, to: node)
    }
  }

  func copy(from source: any File, at offset: Int64, count: Int64) throws(SystemError) -> Int64 {
    try requireWritable("copy_file_range", EBADF)
    let source = try local(source, "copy_file_range")
    let range = try Self.range(at: offset, count: count, "copy_file_range")
    return try fileSystem.perform(.copy, source.path, to: path, range: range) {
      disk throws(SystemError) in
      try disk.copy(from: source.node, to: node, range)
    }
  }

  func nextData(from offset: Int64) throws(SystemError) -> Range<Int64>? {
    try fileSystem.inspect("lseek") { disk throws(SystemError) in
      disk.nextData(node, from: offset)
    }
  }

  func sync() throws(SystemError) {
    try flush(.syncFile) { disk throws(SystemError) in disk.syncFile(node, attributes: true) }
  }

  func syncData() throws(SystemError) {
    try flush(.syncData) { disk throws(SystemError) in disk.syncFile(node, attributes: false) }
  }

  func tryLock() throws(SystemError) -> Bool {
    try fileSystem.inspect("flock") { disk throws(SystemError) in disk.tryLock(handle) }
  }

  func setModified(seconds: Int64) throws(SystemError) {
    try fileSystem.perform(.setModified, path) { disk throws(SystemError) in
      disk.setModified(node, seconds)
    }
  }

  func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try fileSystem.perform(.setPermissions, path) { disk throws(SystemError) in
      disk.setPermissions(node, permissions)
    }
  }

  /// A sync that fails leaves the pages clean: the next one has nothing left to write.
  private func flush(
    _ kind: MemoryFileSystem.Operation.Kind,
    _ body: (inout MemoryDisk) throws(SystemError) -> Void
  ) throws(SystemError) {
    do throws(SystemError) { try fileSystem.perform(kind, path, body) } catch {
      try? fileSystem.inspect("fsync") { disk throws(SystemError) in disk.dropUnsynced(node) }
      throw error
    }
  }

  private func requireWritable(_ call: String, _ code: Int32) throws(SystemError) {
    guard isWritable else { throw SystemError(code, call, path: path) }
  }

  private static func range(
    at offset: Int64, count: Int64, _ call: String
  ) throws(SystemError) -> Range<Int64> {
    guard offset >= 0, count >= 0 else { throw SystemError(EINVAL, call) }
    guard offset <= MemoryDisk.largestFile, count <= MemoryDisk.largestFile - offset else {
      throw SystemError(EFBIG, call)
    }
    return offset..<(offset + count)
  }

  private static func checkAllocation(_ range: Range<Int64>) throws(SystemError) {
    guard range.lowerBound >= 0, !range.isEmpty else { throw SystemError(EINVAL, "fallocate") }
    guard range.upperBound <= MemoryDisk.largestFile else { throw SystemError(EFBIG, "fallocate") }
  }

  private func local(_ file: any File, _ call: String) throws(SystemError) -> MemoryFile {
    guard let file = file as? MemoryFile else {
      preconditionFailure("TestSupport: files of two kinds of file system")
    }
    guard file.fileSystem === fileSystem else { throw SystemError(EXDEV, call, path: path) }
    return file
  }
}
