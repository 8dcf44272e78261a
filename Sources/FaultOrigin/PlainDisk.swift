import System

/// Files and directories by path, plainly.
enum PlainDisk {
  static func read(_ path: String, limit: Int64 = 1 << 30) throws(SystemError) -> [UInt8] {
    let file = try Descriptor.open(path, Descriptor.readOnly | Descriptor.nonBlocking)
    let size = try file.status().size
    guard size <= limit else { throw .beyondLimit(path) }
    return file.bytes(0..<size) ?? []
  }

  static func write(
    _ path: String, _ bytes: [UInt8], permissions: UInt32 = 0o666
  ) throws(SystemError) {
    let file = try Descriptor.open(
      path, Descriptor.writeOnly | Descriptor.create | Descriptor.truncating,
      permissions: permissions)
    try file.writeStream(bytes)
  }

  static func makeDirectory(_ path: String, permissions: UInt32 = 0o700) throws(SystemError) {
    try directory(Path.parent(path)).makeDirectory(Path.name(path), permissions: permissions)
  }

  static func directory(_ path: String) throws(SystemError) -> Descriptor {
    try Descriptor.open(path, Descriptor.readOnly | Descriptor.directory)
  }

  /// The kind and size of what is there, without following a symbolic link; nil if nothing is.
  static func status(_ path: String) -> FileStatus? {
    try? directory(Path.parent(path)).status(Path.name(path))
  }

  /// In alphabetical order; nothing if it is no directory.
  static func names(_ path: String) -> [String] {
    ((try? directory(path).entries()) ?? []).sorted()
  }

  static func rename(_ path: String, to other: String) throws(SystemError) {
    try directory(Path.parent(path)).rename(
      Path.name(path), to: directory(Path.parent(other)), Path.name(other))
  }

  /// Removes what is there, and all below it.
  static func remove(_ path: String) {
    guard let status = status(path), let parent = try? directory(Path.parent(path)) else { return }
    switch status.kind {
    case .directory:
      for name in names(path) { remove(Path.join(path, name)) }
      try? parent.removeDirectory(Path.name(path))
    case .regular, .symbolicLink, .other:
      try? parent.remove(Path.name(path))
    }
  }

  /// All regular files below a directory, as paths below it.
  static func files(_ path: String, below prefix: String = "") -> [String] {
    names(Path.join(path, prefix)).flatMap { name -> [String] in
      let inner = prefix.isEmpty ? name : Path.join(prefix, name)
      switch status(Path.join(path, inner))?.kind {
      case .regular?: return [inner]
      case .directory?: return files(path, below: inner)
      case .symbolicLink?, .other?, nil: return []
      }
    }
  }
}
