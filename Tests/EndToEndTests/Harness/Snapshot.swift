import Foundation
import Glibc
import System

/// All that lies below a directory: names, kinds, permissions, dates and contents, but the file that
/// a run locks and writes its number into.
struct Snapshot: Equatable {
  private var entries: [String: Entry] = [:]

  private struct Entry: Equatable {
    var mode: mode_t
    var inode: ino_t
    var modified: Int
    var content: [UInt8]
  }

  init(_ directory: String) throws {
    let names =
      FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    for name in names where !name.hasSuffix(".fetchres/lock") {
      guard let status = Disk.status("\(directory)/\(name)") else { continue }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      entries[name] = Entry(
        mode: status.st_mode, inode: status.st_ino,
        modified: isFile ? Int(status.st_mtim.tv_sec) : 0,
        content: isFile
          ? try Disk.read("\(directory)/\(name)")
          : Array((Disk.linkTarget("\(directory)/\(name)") ?? "").utf8))
    }
  }

  /// What of it has a path that meets the condition.
  func filtered(_ isWanted: (String) -> Bool) -> Snapshot {
    var copy = self
    copy.entries = entries.filter { isWanted($0.key) }
    return copy
  }
}
