import CSystem
import Glibc
import System
import Testing

/// A file system of a few megabytes, mounted for one test.
final class SmallDisk: Sendable {
  private let scratch: Scratch
  var path: String { scratch.path }

  static let need: Comment = "only root can mount a file system"

  /// Whether this process may mount: in a container, being root is not enough.
  static let isPossible: Bool = geteuid() == 0 && (try? SmallDisk(1 << 20)) != nil

  struct MountFailure: Error {
    let code: Int32
  }

  init(_ bytes: Int) throws {
    scratch = try Scratch()
    guard mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(bytes),mode=0700") == 0 else {
      throw MountFailure(code: errno)
    }
  }

  deinit { umount2(scratch.path, Int32(MNT_DETACH)) }

  func callAsFunction(_ name: String) -> String { scratch(name) }

  func resize(to bytes: Int) throws {
    guard
      mount("tmpfs", scratch.path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes)") == 0
    else { throw MountFailure(code: errno) }
  }

  func setReadOnly(_ isReadOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard mount("tmpfs", scratch.path, "tmpfs", flags, nil) == 0 else {
      throw MountFailure(code: errno)
    }
  }

  /// Bytes that can still be written.
  var free: Int64 {
    (try? Descriptor.open(path, Descriptor.directory).freeBytes()) ?? -1
  }

  /// Writes a file that leaves so many bytes free.
  func fill(_ name: String, leaving bytes: Int64) throws {
    let size = free - bytes
    try #require(size > 0)
    try Disk.write(self(name), [UInt8](repeating: 0x55, count: Int(size)))
  }
}
