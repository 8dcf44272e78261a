import System

/// The file system of this machine.
package struct RealFileSystem: FileSystem {
  package init() {}

  package func openDirectory(_ path: String) throws(SystemError) -> any Directory {
    RealDirectory(try Descriptor.open(path, Descriptor.readOnly | Descriptor.directory))
  }

  package func openFile(_ path: String) throws(SystemError) -> any File {
    RealFile(try Descriptor.open(path, Descriptor.readOnly | Descriptor.nonBlocking))
  }
}

private final class RealDirectory: Directory {
  let descriptor: Descriptor

  init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  func openFile(_ name: String, _ access: FileAccess) throws(SystemError) -> any File {
    switch access {
    case .read:
      RealFile(try descriptor.open(name, Descriptor.readOnly))
    case .readWrite:
      RealFile(try descriptor.open(name, Descriptor.readWrite))
    case .create(let permissions):
      RealFile(
        try descriptor.open(
          name, Descriptor.readWrite | Descriptor.create, permissions: permissions))
    case .createNew(let permissions):
      RealFile(
        try descriptor.open(
          name, Descriptor.readWrite | Descriptor.create | Descriptor.exclusive,
          permissions: permissions))
    }
  }

  func openDirectory(_ name: String) throws(SystemError) -> any Directory {
    RealDirectory(try descriptor.open(name, Descriptor.readOnly | Descriptor.directory))
  }

  func makeDirectory(_ name: String, permissions: UInt32) throws(SystemError) {
    try descriptor.makeDirectory(name, permissions: permissions)
  }

  func status(_ name: String) throws(SystemError) -> FileStatus { try descriptor.status(name) }

  func status() throws(SystemError) -> FileStatus { try descriptor.status() }

  func entries() throws(SystemError) -> [String] { try descriptor.entries() }

  func rename(
    _ name: String, to directory: any Directory, _ newName: String
  ) throws(SystemError) {
    try descriptor.rename(name, to: Self.real(directory).descriptor, newName)
  }

  func link(_ name: String, to directory: any Directory, _ newName: String) throws(SystemError) {
    try descriptor.link(name, to: Self.real(directory).descriptor, newName)
  }

  func makeSymbolicLink(_ name: String, to target: String) throws(SystemError) {
    try descriptor.makeSymbolicLink(name, to: target)
  }

  func readSymbolicLink(_ name: String) throws(SystemError) -> String {
    try descriptor.readSymbolicLink(name)
  }

  func remove(_ name: String) throws(SystemError) { try descriptor.remove(name) }

  func removeDirectory(_ name: String) throws(SystemError) {
    try descriptor.removeDirectory(name)
  }

  func sync() throws(SystemError) {
    // Where a directory cannot be synced, the file system makes its entries durable as it sees fit.
    do throws(SystemError) { try descriptor.sync() } catch {
      guard error.code == SystemError.invalid || error.isNotSupported else { throw error }
    }
  }

  func freeBytes() throws(SystemError) -> Int64 { try descriptor.freeBytes() }

  private static func real(_ directory: any Directory) -> RealDirectory {
    guard let real = directory as? RealDirectory else {
      preconditionFailure("Storage: directories of two file systems")
    }
    return real
  }
}

private final class RealFile: File {
  let descriptor: Descriptor

  init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  func status() throws(SystemError) -> FileStatus { try descriptor.status() }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try descriptor.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    try descriptor.write(bytes, at: offset)
  }

  func truncate(to size: Int64) throws(SystemError) { try descriptor.truncate(to: size) }

  func allocate(_ range: Range<Int64>) throws(SystemError) { try descriptor.allocate(range) }

  func punchHole(_ range: Range<Int64>) throws(SystemError) { try descriptor.punchHole(range) }

  func clone(from source: any File) throws(SystemError) {
    try descriptor.clone(from: Self.real(source).descriptor)
  }

  func copy(from source: any File, at offset: Int64, count: Int64) throws(SystemError) -> Int64 {
    try descriptor.copy(from: Self.real(source).descriptor, at: offset, count: count)
  }

  func nextData(from offset: Int64) throws(SystemError) -> Range<Int64>? {
    try descriptor.nextData(from: offset)
  }

  func sync() throws(SystemError) { try descriptor.sync() }

  func syncData() throws(SystemError) { try descriptor.syncData() }

  func tryLock() throws(SystemError) -> Bool { try descriptor.tryLock() }

  func setModified(seconds: Int64) throws(SystemError) {
    try descriptor.setModified(seconds: seconds)
  }

  func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try descriptor.setPermissions(permissions)
  }

  private static func real(_ file: any File) -> RealFile {
    guard let real = file as? RealFile else {
      preconditionFailure("Storage: files of two file systems")
    }
    return real
  }
}
