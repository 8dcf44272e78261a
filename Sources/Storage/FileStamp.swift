import System

/// What tells one content of a small file that is replaced as a whole from the next, without reading
/// it.
package struct FileStamp: Sendable, Equatable {
  private let inode: UInt64
  private let modified: FileStatus.Time

  package init(_ status: FileStatus) { (inode, modified) = (status.inode, status.modified) }
}
