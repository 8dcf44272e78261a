import Download
import Failure
import Storage
import System

/// The copy of a finished file that `-o` asks for.
enum OutputFile {
  static func parent(
    of output: String, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> any Directory {
    do throws(SystemError) {
      return try fileSystem.openDirectory(Path.parent(output))
    } catch {
      throw error.failure("cannot open the directory of \(output)")
    }
  }

  static func isSameDevice(_ one: any Directory, _ other: any Directory) -> Bool {
    (try? one.status().device) == (try? other.status().device)
  }

  static func checkSpace(
    _ bytes: Int64, at output: String, _ parent: any Directory
  ) throws(FetchFailure) {
    guard let free = try? parent.freeBytes(), free < bytes else { return }
    throw FetchFailure(
      .noSpace, "the copy \(output) needs \(bytes) bytes and \(free) are free",
      hint: "free some space, then run again: verified work is kept")
  }

  /// Copies the finished file to `output`: reflink, else copy, fsync, rename. Replaces a file, never
  /// follows a symbolic link, and is never a hard link. `-` streams it.
  static func write(
    _ version: CompletedVersion, in directory: ResourceDirectory, to output: String,
    _ fileSystem: any FileSystem, _ interruption: Interruption
  ) throws(FetchFailure) {
    let source: any File
    do throws(SystemError) {
      source = try directory.directory.openDirectory(version.manifest.version)
        .openFile(version.manifest.file, .read)
    } catch { throw error.failure("cannot read \(directory.filePath(version))") }
    if output == "-" { return try stream(source, interruption) }

    let parent = try check(output, fileSystem)
    let name = Path.name(output)
    let temporary = ".\(name).fetchres-new"
    do throws(SystemError) {
      let target = try openTemporary(temporary, in: parent)
      do throws(SystemError) { try target.clone(from: source) } catch {
        try copy(source, to: target, interruption)
      }
      try interruption.checkAsSystemError()
      try target.date(seconds: version.manifest.published.seconds)
      try target.sync()
      try parent.rename(temporary, to: parent, name)
      try parent.sync()
    } catch {
      if error.call == busy {
        throw FetchFailure(
          .locked, "another fetchres writes \(output)", hint: "wait for it to end, then run again")
      }
      _ = try? parent.removeIfPresent(temporary)
      try interruption.check()
      throw error.failure("cannot write \(output)")
    }
  }

  /// Refuses what no file can be put in the place of, before anything is fetched for it.
  ///
  /// - Returns: the directory that it goes to.
  @discardableResult
  static func check(
    _ output: String, _ fileSystem: any FileSystem
  ) throws(FetchFailure) -> any Directory {
    let parent = try parent(of: output, fileSystem)
    let name = Path.name(output)
    guard !name.isEmpty, name != ".", name != ".." else {
      throw FetchFailure(.usage, "'\(output)' is no file name")
    }
    return try doing("cannot write \(output)") { () throws(SystemError) in
      let kind = try parent.statusIfPresent(name)?.kind
      if kind == .directory { throw SystemError(SystemError.isDirectory, "rename", path: output) }
      // A device or a pipe is written to with `-o -`; a file in its place would be damage, and no less
      // in the place of a link that leads there, as /dev/stdout does.
      if kind == .other || kind == .symbolicLink && leadsToDevice(output, fileSystem) {
        throw SystemError(SystemError.exists, "rename", path: output)
      }
      return parent
    }
  }

  private static func leadsToDevice(_ link: String, _ fileSystem: any FileSystem) -> Bool {
    do throws(SystemError) { return try fileSystem.openFile(link).status().kind == .other } catch {
      return error.code == SystemError.noDevice
    }
  }

  /// Opens the temporary file for this process alone: what a killed run left is taken over, what a
  /// running one writes is not.
  private static func openTemporary(
    _ name: String, in parent: any Directory
  ) throws(SystemError) -> any File {
    while true {
      if let kind = try parent.statusIfPresent(name)?.kind, kind != .regular {
        try parent.remove(name)
      }
      let file = try parent.openFile(name, .create(permissions: 0o666))
      guard try file.tryLock() else { throw SystemError(SystemError.exists, busy) }
      // It may have been renamed away before it was locked.
      guard try parent.statusIfPresent(name)?.inode == file.status().inode else { continue }
      try file.truncate(to: 0)
      return file
    }
  }

  private static let busy = "flock"

  private static let chunk = 1 << 20

  private static func copy(
    _ source: any File, to target: any File, _ interruption: Interruption
  ) throws(SystemError) {
    var offset: Int64 = 0
    while true {
      try interruption.checkAsSystemError()
      let bytes = try source.read(count: chunk, at: offset)
      if bytes.isEmpty { return }
      try target.writeAll(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }

  /// Writes on a thread of its own: a reader that does not read holds a write up for ever, and an
  /// interruption must not wait for it. That thread is then left behind.
  private static func stream(
    _ source: any File, _ interruption: Interruption
  ) throws(FetchFailure) {
    let end = Monitor<Result<Void, FetchFailure>?>(nil)
    let observer = interruption.observe { signal in
      end.change { $0 = $0 ?? .failure(Interruption.failure(signal)) }
    }
    defer { observer.end() }
    _ = WorkThread("output") {
      var offset: Int64 = 0
      do throws(SystemError) {
        while interruption.signal == nil {
          let bytes = try source.read(count: chunk, at: offset)
          if bytes.isEmpty { break }
          try Terminal.standardOutput.writeStream(bytes)
          offset += Int64(bytes.count)
        }
        end.change { $0 = $0 ?? .success(()) }
      } catch {
        let failure = error.failure("cannot write to standard output")
        end.change { $0 = $0 ?? .failure(failure) }
      }
    }
    guard let result = end.wait({ $0 }) else {
      preconditionFailure("FetchResKit: a wait without a deadline ended")
    }
    try result.get()
  }
}

extension Interruption {
  /// For code that throws system errors: EINTR, which the caller turns back.
  fileprivate func checkAsSystemError() throws(SystemError) {
    if signal != nil { throw SystemError(SystemError.interrupted, "copy") }
  }
}
