import CSystem
import Glibc

/// Owns a file descriptor: closed when the last reference goes.
package final class Descriptor: Sendable {
  package let number: Int32

  package init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// Opens a path as the user wrote it.
  package static func open(
    _ path: String, _ flags: Int32, permissions: UInt32 = 0
  ) throws(SystemError) -> Descriptor {
    Descriptor(
      owning: try retryingInterrupts("open", path: path) {
        fetchres_open(path, flags, permissions)
      })
  }

  /// Opens one component below this directory, never through a symbolic link.
  package func open(
    _ name: String, _ flags: Int32, permissions: UInt32 = 0
  ) throws(SystemError) -> Descriptor {
    try Self.checkComponent(name)
    return Descriptor(
      owning: try retryingInterrupts("openat", path: name) {
        fetchres_openat(number, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, permissions)
      })
  }

  /// Names that reach outside the directory are refused before the system sees them.
  static func checkComponent(_ name: String) throws(SystemError) {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(0)
    else { throw SystemError(EINVAL, "openat", path: name) }
  }

  // MARK: Bytes

  /// Reads until `buffer` is full or the file ends; the number of bytes read.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = try retryingInterrupts("pread") {
        pread(number, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Writes all of `buffer`.
  package func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    var done = 0
    while done < buffer.count {
      done += try retryingInterrupts("pwrite") {
        pwrite(number, buffer.baseAddress! + done, buffer.count - done, off_t(offset) + off_t(done))
      }
    }
  }

  /// Reads what is there, up to the size of `buffer`, from a stream; 0 at its end.
  package func readSome(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try retryingInterrupts("read") { Glibc.read(number, buffer.baseAddress, buffer.count) }
  }

  /// Writes all of `buffer` to a stream.
  package func writeAll(_ buffer: UnsafeRawBufferPointer) throws(SystemError) {
    var done = 0
    while done < buffer.count {
      done += try retryingInterrupts("write") {
        Glibc.write(number, buffer.baseAddress! + done, buffer.count - done)
      }
    }
  }
}

/// What `stat` says of a name or a descriptor.
package struct FileStatus: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    case regular
    case directory
    case symbolicLink
    case other
  }

  package var kind: Kind
  package var size: Int64
  package var permissions: UInt32
  package var device: UInt64
  package var inode: UInt64
  /// Seconds and nanoseconds of the last change of content, and of anything about the file.
  package var modified: Time
  package var changed: Time

  package struct Time: Sendable, Equatable {
    package var seconds: Int64
    package var nanoseconds: Int64

    package init(seconds: Int64, nanoseconds: Int64) {
      (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }
  }

  package init(
    kind: Kind, size: Int64, permissions: UInt32, device: UInt64 = 0, inode: UInt64 = 0,
    modified: Time = Time(seconds: 0, nanoseconds: 0),
    changed: Time = Time(seconds: 0, nanoseconds: 0)
  ) {
    self.kind = kind
    self.size = size
    self.permissions = permissions
    self.device = device
    self.inode = inode
    self.modified = modified
    self.changed = changed
  }

  init(_ status: stat) {
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .symbolicLink
      default: .other
      }
    self.init(
      kind: kind, size: Int64(status.st_size), permissions: status.st_mode & 0o7777,
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
      modified: Time(
        seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec)),
      changed: Time(
        seconds: Int64(status.st_ctim.tv_sec), nanoseconds: Int64(status.st_ctim.tv_nsec)))
  }
}
