import CSystem
import Glibc

/// Calls on the entries of an open directory. Names are single components; symbolic links are never
/// followed.
extension Descriptor {
  package func status(_ name: String) throws(SystemError) -> FileStatus {
    try Self.checkComponent(name)
    var status = stat()
    _ = try retryingInterrupts("fstatat", path: name) {
      fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW)
    }
    return FileStatus(status)
  }

  package func makeDirectory(_ name: String, permissions: UInt32) throws(SystemError) {
    try Self.checkComponent(name)
    _ = try retryingInterrupts("mkdirat", path: name) {
      mkdirat(number, name, mode_t(permissions))
    }
  }

  /// The names in this directory, without `.` and `..`, in no order.
  package func entries() throws(SystemError) -> [String] {
    // A descriptor of its own: a directory stream owns it and moves its offset.
    let copy = try retryingInterrupts("openat", path: ".") {
      fetchres_openat(number, ".", O_RDONLY | O_DIRECTORY, 0)
    }
    guard let stream = fdopendir(copy) else {
      let error = SystemError.last("fdopendir")
      close(copy)
      throw error
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .last("readdir") }
        return names
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  package func rename(
    _ name: String, to directory: Descriptor, _ newName: String
  ) throws(SystemError) {
    try Self.checkComponent(name)
    try Self.checkComponent(newName)
    _ = try retryingInterrupts("renameat", path: newName) {
      renameat(number, name, directory.number, newName)
    }
  }

  package func link(
    _ name: String, to directory: Descriptor, _ newName: String
  ) throws(SystemError) {
    try Self.checkComponent(name)
    try Self.checkComponent(newName)
    _ = try retryingInterrupts("linkat", path: newName) {
      linkat(number, name, directory.number, newName, 0)
    }
  }

  package func makeSymbolicLink(_ name: String, to target: String) throws(SystemError) {
    try Self.checkComponent(name)
    _ = try retryingInterrupts("symlinkat", path: name) { symlinkat(target, number, name) }
  }

  package func readSymbolicLink(_ name: String) throws(SystemError) -> String {
    try Self.checkComponent(name)
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = try retryingInterrupts("readlinkat", path: name) {
      buffer.withUnsafeMutableBytes {
        readlinkat(number, name, $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
      }
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  package func remove(_ name: String) throws(SystemError) {
    try Self.checkComponent(name)
    _ = try retryingInterrupts("unlinkat", path: name) { unlinkat(number, name, 0) }
  }

  package func removeDirectory(_ name: String) throws(SystemError) {
    try Self.checkComponent(name)
    _ = try retryingInterrupts("unlinkat", path: name) { unlinkat(number, name, AT_REMOVEDIR) }
  }

  /// The bytes that an ordinary user may still write to this file system.
  package func freeBytes() throws(SystemError) -> Int64 {
    try retryingInterrupts("fstatvfs") { fetchres_free_bytes(number) }
  }
}

/// Paths as text.
package enum Path {
  /// Everything before the last component; `.` if there is only one, `/` for one below the root.
  package static func parent(_ path: String) -> String {
    var bytes = Array(path.utf8)
    let slash = UInt8(ascii: "/")
    while bytes.count > 1, bytes.last == slash { bytes.removeLast() }
    guard let last = bytes.lastIndex(of: slash) else { return "." }
    if last == 0 { return "/" }
    return String(decoding: bytes[..<last], as: UTF8.self)
  }

  /// The last component; empty if there is none.
  package static func name(_ path: String) -> String {
    path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
  }

  /// `name` below `directory`, without a `./` in front.
  package static func join(_ directory: String, _ name: String) -> String {
    if directory.isEmpty || directory == "." { return name }
    return directory.hasSuffix("/") ? directory + name : directory + "/" + name
  }
}
