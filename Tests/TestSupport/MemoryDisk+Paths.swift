import Glibc
import System

/// Paths as the user wrote them: these follow symbolic links. The working directory is the root.
extension MemoryDisk {
  func resolve(_ path: String) throws(SystemError) -> Node {
    var links = 0
    return try resolve(path, from: Self.root, &links)
  }

  /// The first directory on the way that has to be made, or nil if all are there.
  func firstMissingDirectory(
    of path: String
  ) throws(SystemError) -> (parent: Node, name: String, path: String)? {
    guard !path.isEmpty else { throw SystemError(ENOENT, "mkdir", path: path) }
    var (node, links, walked) = (Self.root, 0, path.hasPrefix("/") ? "/" : "")
    for part in path.split(separator: "/") {
      let name = String(part)
      walked = Path.join(walked, name)
      let next: Node
      do throws(SystemError) { next = try step(name, from: node, &links) } catch {
        // A name that leads nowhere is taken all the same.
        guard error.code == ENOENT, directories[node]!.entries[name] == nil else {
          throw error.code == ENOENT ? SystemError(ENOTDIR, "mkdir", path: walked) : error
        }
        try Self.checkComponent(name)
        return (node, name, walked)
      }
      guard isDirectory(next) else { throw SystemError(ENOTDIR, "mkdir", path: walked) }
      node = next
    }
    return nil
  }

  private func resolve(
    _ path: String, from start: Node, _ links: inout Int
  ) throws(SystemError) -> Node {
    guard !path.isEmpty else { throw SystemError(ENOENT, "open", path: path) }
    var node = path.hasPrefix("/") ? Self.root : start
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(
      path.hasPrefix("/") ? 1 : 0)
    {
      guard isDirectory(node) else { throw SystemError(ENOTDIR, "open", path: path) }
      node = try step(String(part), from: node, &links)
    }
    return node
  }

  private func step(
    _ name: String, from directory: Node, _ links: inout Int
  ) throws(SystemError) -> Node {
    if name.isEmpty || name == "." { return directory }
    if name == ".." { return directories[directory]!.parent }
    let node = try entry(name, in: directory, "open")
    guard let target = self.links[node] else { return node }
    links += 1
    guard links <= 40 else { throw SystemError(ELOOP, "open", path: name) }
    return try resolve(target, from: directory, &links)
  }
}
