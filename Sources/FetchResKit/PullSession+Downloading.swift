import Download
import Failure
import Storage
import System
import Transport

/// The blocks of a pull: where they may come from, and room for them.
extension PullSession {
  /// Fetches, verifies and writes whatever of the blocks is not there.
  func download(
    _ resource: PartialResource, in directory: ResourceDirectory, _ sources: SourceList,
    _ state: StateDirectory, _ transport: any Transport
  ) throws(FetchFailure) -> Work {
    let manifest = resource.manifest
    let claimed = try resource.claimedBytes()
    try checkSpace(manifest.layout.size - claimed, copy: manifest.layout.size, in: directory)
    report(.begin(version: manifest.version, size: manifest.layout.size, claimed: claimed))
    var last = DownloadProgress()
    let downloader = try Downloader(
      resource, transport: transport,
      sources: sources.downloadSources(), limits: limits,
      reuse: try namedReuseFiles() + directory.reuseFiles(for: manifest),
      sourceChanges: { sources.changes() }
    ) { event in
      switch event {
      case .progress(let progress):
        last = progress
        report(.progress(FetchEvent.Progress(progress)))
      case .blockRejected(let failure, let wasOnDisk):
        report(.blockRejected(failure, wasOnDisk: wasOnDisk))
      case .sourceFailed(let failure):
        report(.sourceFailed(failure))
      case .record(let source, let record):
        sources.keep(record, of: source)
      }
    }
    defer {
      let reports = downloader.reports.map { FetchEvent.Source($0) }
      report(.sources(reports))
      state.remember(reports, of: manifest.origin)
    }
    downloader.mapIsWanted = mapIsWanted
    try downloader.run(interruption)
    report(.phase(.finishing))
    return Work(
      fetched: max(0, last.verified - last.resumed - last.reused), reused: last.reused)
  }

  /// The files of `--reuse`.
  private func namedReuseFiles() throws(FetchFailure) -> [ReuseFile] {
    var files: [ReuseFile] = []
    for path in request.reuse {
      do throws(SystemError) {
        let file = try fileSystem.openFile(path)
        let status = try file.status()
        guard status.kind == .regular else {
          throw SystemError(SystemError.invalid, "open", path: path)
        }
        files.append(ReuseFile(file, size: status.size))
      } catch {
        throw FetchFailure(.usage, "cannot read \(path) for --reuse: \(error.reason)")
      }
    }
    return files
  }

  /// Bytes that came from the network, and from elsewhere on this disk.
  struct Work {
    var fetched: Int64 = 0
    var reused: Int64 = 0
  }

  /// The copy for `-o` counts too, on the file system that it goes to.
  private func checkSpace(
    _ bytes: Int64, copy: Int64, in directory: ResourceDirectory
  ) throws(FetchFailure) {
    var bytes = bytes
    if let output = request.output, output != "-" {
      let parent = try OutputFile.parent(of: output, fileSystem)
      if OutputFile.isSameDevice(parent, directory.directory) {
        bytes += copy
      } else {
        try OutputFile.checkSpace(copy, at: output, parent)
      }
    }
    try directory.checkSpace(bytes)
  }
}
