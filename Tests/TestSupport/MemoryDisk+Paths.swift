import Glibc
import System

/// Paths as the user wrote them: these follow symbolic links. The working directory is the root.
extension MemoryDisk {
  func resolve(_ path: String) throws(SystemError) -> Node {
    var links = 0
    return try resolve(path, from: Self.root, &links)
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
