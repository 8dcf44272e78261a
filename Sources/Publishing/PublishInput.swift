import Failure
import Manifest
import Storage
import System

/// The file to publish, opened once.
struct PublishInput {
  let file: any File
  /// How it gets into the site.
  let entry: ReleaseBuilder.Entry
  /// The name in the site.
  let name: String
  let status: FileStatus

  init(_ request: PublishRequest, _ fileSystem: any FileSystem) throws(FetchFailure) {
    guard Manifest.isVersion(request.version) else {
      throw FetchFailure(
        .usage, "'\(request.version)' is no version",
        hint: "1 to 128 of A-Z a-z 0-9 . _ + -, not beginning with . or -, and not 'current'")
    }
    let entryName = Path.name(request.file)
    name = request.name ?? entryName
    guard Manifest.isFile(name) else {
      throw FetchFailure(
        .usage, "'\(name)' is no file name for a manifest",
        hint: "give another with --as: 1 to 128 of A-Z a-z 0-9 . _ + -, not beginning with . or -")
    }
    let parent: any Directory
    do throws(SystemError) {
      file = try fileSystem.openFile(request.file)
      status = try file.status()
      parent = try fileSystem.openDirectory(Path.parent(request.file))
    } catch {
      if error.code == SystemError.notFound {
        throw FetchFailure(.usage, "there is no file \(request.file)")
      }
      throw error.failure("cannot read \(request.file)")
    }
    guard status.kind == .regular else {
      throw FetchFailure(.usage, "\(request.file) is no regular file")
    }
    entry = request.links ? .link(parent, entryName) : .copy
    if request.links, (try? parent.status(entryName))?.kind != .regular {
      throw FetchFailure(
        .usage, "\(request.file) is a symbolic link, which --link cannot share",
        hint: "name the file that it points to")
    }
  }
}
