import CSystem
import Glibc

/// Calls on regular files.
extension Descriptor {
  package static let readOnly = O_RDONLY
  package static let readWrite = O_RDWR
  package static let writeOnly = O_WRONLY
  package static let create = O_CREAT
  package static let exclusive = O_EXCL
  package static let directory = O_DIRECTORY
  package static let truncating = O_TRUNC
  /// A pipe that nobody writes to does not hold the opener up.
  package static let nonBlocking = O_NONBLOCK

  package func status() throws(SystemError) -> FileStatus {
    var status = stat()
    _ = try retryingInterrupts("fstat") { fstat(number, &status) }
    return FileStatus(status)
  }

  package func truncate(to size: Int64) throws(SystemError) {
    _ = try retryingInterrupts("ftruncate") { ftruncate(number, off_t(size)) }
  }

  /// Reserves space without changing the size.
  package func allocate(_ range: Range<Int64>) throws(SystemError) {
    _ = try retryingInterrupts("fallocate") {
      fetchres_allocate(number, range.lowerBound, range.upperBound - range.lowerBound)
    }
  }

  /// Turns the range into a hole that reads as zeros.
  package func punchHole(_ range: Range<Int64>) throws(SystemError) {
    _ = try retryingInterrupts("fallocate") {
      fetchres_punch_hole(number, range.lowerBound, range.upperBound - range.lowerBound)
    }
  }

  /// Shares the blocks of `source` copy-on-write, where the file system can.
  package func clone(from source: Descriptor) throws(SystemError) {
    _ = try retryingInterrupts("ioctl FICLONE") { fetchres_clone_file(number, source.number) }
  }

  /// Copies inside the kernel; the number of bytes copied, 0 at the end of `source`.
  package func copy(
    from source: Descriptor, at offset: Int64, count: Int64
  ) throws(SystemError) -> Int64 {
    try retryingInterrupts("copy_file_range") {
      fetchres_copy_range(source.number, offset, number, offset, count)
    }
  }

  /// Makes content and size durable.
  package func sync() throws(SystemError) {
    _ = try retryingInterrupts("fsync") { fsync(number) }
  }

  /// Makes content, and the size if it is needed to read it, durable.
  package func syncData() throws(SystemError) {
    _ = try retryingInterrupts("fdatasync") { fdatasync(number) }
  }

  /// The first run of data at or behind `offset`; nil if only a hole follows.
  package func nextData(from offset: Int64) throws(SystemError) -> Range<Int64>? {
    let start = fetchres_seek_data(number, offset)
    if start == -1 {
      if errno == ENXIO { return nil }
      throw .last("lseek SEEK_DATA")
    }
    let end = fetchres_seek_hole(number, start)
    if end == -1 { throw .last("lseek SEEK_HOLE") }
    return start..<end
  }

  /// Takes the whole-file lock of this open file; false if another one holds it.
  package func tryLock() throws(SystemError) -> Bool {
    while flock(number, LOCK_EX | LOCK_NB) == -1 {
      if errno == EWOULDBLOCK { return false }
      if errno != EINTR { throw .last("flock") }
    }
    return true
  }

  package func setModified(seconds: Int64) throws(SystemError) {
    _ = try retryingInterrupts("futimens") { fetchres_set_file_times(number, seconds) }
  }

  package func setPermissions(_ permissions: UInt32) throws(SystemError) {
    _ = try retryingInterrupts("fchmod") { fchmod(number, mode_t(permissions)) }
  }
}
