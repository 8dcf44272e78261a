import Failure
import FetchResKit
import SignedNote
import Storage
import System
import TestSupport

@testable import Download
@testable import ReleaseLog

/// A pull that is ended everywhere: what was there before, what is done, and what has to come of it.
struct PullScene: Sendable {
  enum Case: String, CaseIterable {
    case first, interrupted, resumed
    /// A second version, beside the first one, whose blocks it takes over.
    case second
    /// The first one was begun and the second is out: it is finished, or left for the other.
    case continued, switched
    /// The manifest was signed again in the middle.
    case refreshed
    /// Nothing is new but the head of the log.
    case complete
    /// With `-o`, by a reflink or by a copy, where an older file stands.
    case outputCloned, outputCopied
    /// `--keep 1`, `clean --old-versions`.
    case kept, cleaned
  }

  let which: Case
  let start: MemoryFileSystem
  let releases: ServedReleases
  let client: String
  let origin: Origin
  /// The version that is available before, and the one that has to be afterwards.
  let before: String?
  let after: String
  /// Whether what is not the newest may be gone.
  var removesOld: Bool { which == .kept || which == .cleaned }

  static let oldOutput = Array("an older file\n".utf8)

  init(_ which: Case) throws {
    self.which = which
    guard let origin = Origin("maps.example.com/world") else {
      preconditionFailure("CrashTests: no origin")
    }
    self.origin = origin
    let key = SigningKey.generate(origin)
    client = key.key.description
    let one = try ServedReleases(["1.0"], key: key.secretText + "\n")
    let two = try ServedReleases(["1.0", "2.0"], key: key.secretText + "\n")
    let again = try ServedReleases(["1.0", "refresh"], key: key.secretText + "\n")
    start = MemoryFileSystem()
    try start.makeDirectories("/out", permissions: 0o777)
    let client = Client(fileSystem: start, key: client)
    switch which {
    case .first, .interrupted:
      (releases, before, after) = (one, nil, "1.0")
    case .resumed, .refreshed:
      try PartialFill(client: client, releases: one).run()
      (releases, before, after) = (which == .resumed ? one : again, nil, "1.0")
    case .continued, .switched:
      try PartialFill(client: client, releases: one).run()
      (releases, before) = (two, nil)
      after = which == .continued ? "1.0" : "2.0"
    case .second, .kept:
      try client.pull(one)
      (releases, before, after) = (two, "1.0", "2.0")
    case .complete:
      try client.pull(one)
      (releases, before, after) = (again, "1.0", "1.0")
    case .outputCloned, .outputCopied:
      start.supportsClone = which == .outputCloned
      try start.openDirectory("/out").replaceFile("copy", Self.oldOutput)
      try client.pull(one)
      (releases, before, after) = (one, "1.0", "1.0")
    case .cleaned:
      try PartialFill(client: client, releases: one).run()
      try client.pull(one)
      try client.pull(two)
      (releases, before, after) = (two, "2.0", "2.0")
    }
  }

  // MARK: Doing

  /// What is ended everywhere.
  func work(_ fileSystem: any FileSystem) throws(FetchFailure) {
    let client = Client(fileSystem: fileSystem, key: client)
    switch which {
    case .interrupted:
      try PartialFill(client: client, releases: releases).run()
    case .cleaned:
      guard let directory = try ResourceDirectory("/data", fileSystem) else { return }
      try directory.clean(try directory.lock(), oldVersions: true) { _ in }
    case .first, .resumed, .second, .continued, .switched, .refreshed, .complete, .outputCloned,
      .outputCopied, .kept:
      try rerun(fileSystem)
    }
  }

  /// What whoever finds it does next.
  func rerun(_ fileSystem: any FileSystem) throws(FetchFailure) {
    try Client(fileSystem: fileSystem, key: client).pull(releases) { request in
      if which == .switched { request.onNewVersion = .switch }
      if which == .kept { request.keep = 1 }
      if which == .outputCloned || which == .outputCopied { request.output = "/out/copy" }
    }
  }

  // MARK: Judging

  /// What must not be so of a disk that the work was ended on.
  ///
  /// - Parameter isComplete: whether the work came to its end, and that is durable.
  func findings(_ fileSystem: MemoryFileSystem, isComplete: Bool) throws -> [String] {
    let disk = try DiskFindings(fileSystem, contents: releases.contents, origin: origin)
    var findings = disk.findings
    let data = try ResourceDirectory("/data", fileSystem)
    let available = data?.available?.manifest.version
    if isComplete {
      // What was ended between the marker and its return was complete: the rerun goes on to the newest.
      let goesOn = which == .continued && available == "2.0"
      if available != after, !goesOn { findings.append("\(available ?? "nothing") is available") }
    } else if available == nil, before != nil {
      findings.append("nothing is available any more")
    }
    if let before, !removesOld, data.flatMap({ CompletedVersion(before, in: $0.directory) }) == nil
    {
      findings.append("\(before) is gone")
    }
    let output = try? fileSystem.openFile("/out/copy").readAll("copy", limit: 1 << 20)
    if which == .outputCloned || which == .outputCopied {
      let isNew = output == releases.contents[after]
      if !isNew, isComplete || output != Self.oldOutput { findings.append("the copy is wrong") }
    }
    return findings
  }
}
