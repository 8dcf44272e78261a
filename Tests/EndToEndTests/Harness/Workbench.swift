import System
import Testing

/// Everything that a test of pulls needs: a site, a server in front of it, the program, and a
/// directory to pull into.
final class Workbench: Sendable {
  let scratch: Scratch
  /// Holds the site where a server has a root of its own.
  private let served: Scratch?
  let fetchres: Fetchres
  let site: Site
  let server: any RunningServer
  /// Where pulls go.
  let directory: String

  /// - Parameter directory: where pulls go, if not beside all the rest.
  init(
    _ kind: Server = .origin, origin: String = "example.org/thing", directory: String? = nil
  ) throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
    self.directory = directory ?? scratch("pulled")
    switch kind {
    case .origin:
      served = nil
      site = try Site(fetchres, at: scratch("site"), origin: origin)
      try Disk.makeDirectory(site.path)
      server = try Origin(site.path)
    case .serve:
      served = nil
      site = try Site(fetchres, at: scratch("site"), origin: origin)
      try Disk.makeDirectory(site.path)
      server = try ServeProcess(fetchres, site.path)
    case .nginx, .nginxTLS, .nginxHTTP2:
      let nginx = try #require(Nginx.here)
      let served = try Scratch(in: nginx.root)
      self.served = served
      site = try Site(fetchres, at: served.path, origin: origin)
      server = nginx.running(served.name, at: nginx.url(kind))
    }
  }

  /// The tests' own server, for those that bend it.
  func origin(sourceLocation: SourceLocation = #_sourceLocation) throws -> Origin {
    try #require(server as? Origin, sourceLocation: sourceLocation)
  }

  var pulled: PulledDirectory { PulledDirectory(path: directory) }

  /// The arguments of a pull of the newest version, or of a pinned one.
  func pulling(_ more: [String] = [], pinned: String? = nil) -> [String] {
    let path = pinned.map { "releases/\($0)/manifest" } ?? "manifest"
    return ["pull", server.base + path, "--key", site.key, "-d", directory]
      + server.pullArguments + more
  }

  func pull(
    _ more: String..., pinned: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try fetchres.run(pulling(more, pinned: pinned), sourceLocation: sourceLocation)
  }

  /// What `path` answers; nil if there is nothing.
  func path() throws -> String? {
    let outcome = try fetchres.run("path", directory)
    return outcome.exitCode == 0 ? outcome.line : nil
  }

  /// Fails unless `release` is complete, right in every byte, and what `path` answers.
  func expectComplete(
    _ release: Release, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = "\(directory)/\(release.version)/\(release.file)"
    let found = try path()
    #expect(found == file, sourceLocation: sourceLocation)
    let bytes = try Disk.read(file)
    #expect(areEqual(bytes, release.bytes), "the bytes differ", sourceLocation: sourceLocation)
    #expect(
      Disk.exists("\(directory)/\(release.version)/complete"), sourceLocation: sourceLocation)
    #expect(pulled.partialNames.isEmpty, sourceLocation: sourceLocation)
  }

  /// Fails if anything that counts as available is there, or a byte on disk that is not of `release`.
  func expectUnfinished(
    _ release: Release, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try path()
    #expect(found == nil, sourceLocation: sourceLocation)
    #expect(pulled.markers.isEmpty, sourceLocation: sourceLocation)
    try pulled.expectNothingWrong(release, sourceLocation: sourceLocation)
  }
}
