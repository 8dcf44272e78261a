import Storage
import System

/// A file system on which one durable step comes too late: what `holds` names is left out, and made up
/// for behind the first call that `releases` names. A mutant of whoever works on it.
final class SwappedFileSystem: FileSystem {
  /// A call that changes something or makes it durable.
  struct Call: Sendable {
    enum Kind: Sendable { case write, rename, syncFile, syncDirectory, other }

    var kind: Kind
    /// For a rename, the new path.
    var path: String
  }

  private struct State: Sendable {
    var held: [@Sendable () throws(SystemError) -> Void] = []
    var hasHeld = false
    var isReleased = false
  }

  private let base: any FileSystem
  private let holds: @Sendable (Call) -> Bool
  private let releases: @Sendable (Call) -> Bool
  private let state = Monitor(State())

  init(
    _ base: any FileSystem, holds: @escaping @Sendable (Call) -> Bool,
    releases: @escaping @Sendable (Call) -> Bool
  ) {
    (self.base, self.holds, self.releases) = (base, holds, releases)
  }

  /// Whether a step came too late, or would have.
  var hasHeld: Bool { state.look { $0.hasHeld } }

  func openDirectory(_ path: String) throws(SystemError) -> any Directory {
    SwappedDirectory(try base.openDirectory(path), path, self)
  }

  func openFile(_ path: String) throws(SystemError) -> any File {
    SwappedFile(try base.openFile(path), path, self)
  }

  fileprivate func perform(
    _ kind: Call.Kind, _ path: String, _ body: @escaping @Sendable () throws(SystemError) -> Void
  ) throws(SystemError) {
    let call = Call(kind: kind, path: path)
    if holds(call), !state.look({ $0.isReleased }) {
      return state.change { state in
        state.held.append(body)
        state.hasHeld = true
      }
    }
    try body()
    guard releases(call) else { return }
    let held = state.change { state in
      defer { state.held = [] }
      if !state.held.isEmpty { state.isReleased = true }
      return state.held
    }
    for body in held { try body() }
  }
}

private final class SwappedDirectory: Directory {
  let base: any Directory
  private let path: String
  private let owner: SwappedFileSystem

  init(_ base: any Directory, _ path: String, _ owner: SwappedFileSystem) {
    (self.base, self.path, self.owner) = (base, path, owner)
  }

  private func below(_ name: String) -> String { Path.join(path, name) }

  private static func base(of directory: any Directory) -> SwappedDirectory {
    guard let directory = directory as? SwappedDirectory else {
      preconditionFailure("CrashTests: directories of two file systems")
    }
    return directory
  }

  func openFile(_ name: String, _ access: FileAccess) throws(SystemError) -> any File {
    SwappedFile(try base.openFile(name, access), below(name), owner)
  }

  func openDirectory(_ name: String) throws(SystemError) -> any Directory {
    SwappedDirectory(try base.openDirectory(name), below(name), owner)
  }

  func makeDirectory(_ name: String, permissions: UInt32) throws(SystemError) {
    try owner.perform(.other, below(name)) { [base] () throws(SystemError) in
      try base.makeDirectory(name, permissions: permissions)
    }
  }

  func status(_ name: String) throws(SystemError) -> FileStatus { try base.status(name) }
  func status() throws(SystemError) -> FileStatus { try base.status() }
  func entries() throws(SystemError) -> [String] { try base.entries() }

  func rename(
    _ name: String, to directory: any Directory, _ newName: String
  ) throws(SystemError) {
    let target = Self.base(of: directory)
    try owner.perform(.rename, target.below(newName)) { [base] () throws(SystemError) in
      try base.rename(name, to: target.base, newName)
    }
  }

  func link(_ name: String, to directory: any Directory, _ newName: String) throws(SystemError) {
    try base.link(name, to: Self.base(of: directory).base, newName)
  }

  func makeSymbolicLink(_ name: String, to target: String) throws(SystemError) {
    try base.makeSymbolicLink(name, to: target)
  }

  func readSymbolicLink(_ name: String) throws(SystemError) -> String {
    try base.readSymbolicLink(name)
  }

  func remove(_ name: String) throws(SystemError) { try base.remove(name) }
  func removeDirectory(_ name: String) throws(SystemError) { try base.removeDirectory(name) }

  func sync() throws(SystemError) {
    try owner.perform(.syncDirectory, path) { [base] () throws(SystemError) in try base.sync() }
  }

  func freeBytes() throws(SystemError) -> Int64 { try base.freeBytes() }
}

private final class SwappedFile: File {
  private let base: any File
  private let path: String
  private let owner: SwappedFileSystem

  init(_ base: any File, _ path: String, _ owner: SwappedFileSystem) {
    (self.base, self.path, self.owner) = (base, path, owner)
  }

  private static func base(of file: any File) -> any File {
    guard let file = file as? SwappedFile else {
      preconditionFailure("CrashTests: files of two file systems")
    }
    return file.base
  }

  func status() throws(SystemError) -> FileStatus { try base.status() }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    try base.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    let content = Array(bytes)
    try owner.perform(.write, path) { [base] () throws(SystemError) in
      try base.writeAll(content, at: offset)
    }
  }

  func truncate(to size: Int64) throws(SystemError) { try base.truncate(to: size) }
  func allocate(_ range: Range<Int64>) throws(SystemError) { try base.allocate(range) }
  func punchHole(_ range: Range<Int64>) throws(SystemError) { try base.punchHole(range) }

  func clone(from source: any File) throws(SystemError) {
    try base.clone(from: Self.base(of: source))
  }

  func copy(from source: any File, at offset: Int64, count: Int64) throws(SystemError) -> Int64 {
    try base.copy(from: Self.base(of: source), at: offset, count: count)
  }

  func nextData(from offset: Int64) throws(SystemError) -> Range<Int64>? {
    try base.nextData(from: offset)
  }

  func sync() throws(SystemError) {
    try owner.perform(.syncFile, path) { [base] () throws(SystemError) in try base.sync() }
  }

  func syncData() throws(SystemError) {
    try owner.perform(.syncFile, path) { [base] () throws(SystemError) in try base.syncData() }
  }

  func tryLock() throws(SystemError) -> Bool { try base.tryLock() }

  func setModified(seconds: Int64) throws(SystemError) { try base.setModified(seconds: seconds) }

  func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try base.setPermissions(permissions)
  }
}
