import Failure
import Manifest
import Storage
import System

/// The files that the last publish changed, in the phases in which they have to be uploaded: a client
/// that looks in between sees the old release or the new one, whole.
package struct UploadOrder: Sendable, Equatable {
  package enum Phase: String, Sendable, CaseIterable {
    case releases
    case tile
    case checkpoint
    case manifests
  }

  /// Paths from the site, in order.
  package private(set) var files: [Phase: [String]] = [:]

  static let recordName = "last"
  /// Holds what a publish that was interrupted changed, until the one that completed it has its own
  /// record: its user has seen neither.
  static let earlierName = "earlier"
  private static let firstLine = "fetchres upload order v1"
  private static let limit = 1 << 26

  /// Reads the record of the last publish.
  ///
  /// - Throws: `unavailable` if nothing was published here yet.
  package init(
    site path: String, _ fileSystem: any FileSystem = RealFileSystem()
  ) throws(FetchFailure) {
    let site = try SiteDirectory(path, fileSystem, makes: false)
    guard let order = try UploadOrder(site, Self.recordName) else {
      throw FetchFailure(
        .unavailable, "nothing was published to \(path) from here",
        hint: "upload the whole site: releases, then tile, then checkpoint, then manifest")
    }
    self = order
  }

  /// Reads a record; nil if there is none.
  init?(_ site: SiteDirectory, _ name: String) throws(FetchFailure) {
    guard
      let bytes = try site.read("\(SiteDirectory.privateName)/\(name)", limit: Self.limit)
    else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    guard lines.first == Substring(Self.firstLine) else {
      throw FetchFailure(.ioError, "\(site.path)/.publish/\(name) is damaged")
    }
    for line in lines.dropFirst() {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let phase = Phase(rawValue: String(parts[0])) else {
        throw FetchFailure(.ioError, "\(site.path)/.publish/\(name) is damaged")
      }
      files[phase, default: []].append(String(parts[1]))
    }
  }

  /// What a transaction changes; of a new release everything in its directory.
  init(_ transaction: SiteTransaction, _ site: SiteDirectory) throws(FetchFailure) {
    for step in transaction.steps {
      switch step {
      case .head, .hold: break
      case .release(let version):
        files[.releases, default: []] += try Self.walk(SitePaths.release(version), site)
      case .immutable(let path, _): files[.tile, default: []].append(path)
      case .mutable(let path, _):
        files[path == SitePaths.checkpoint ? .checkpoint : .manifests, default: []].append(path)
      }
    }
  }

  /// Puts what an earlier publish changed in front; a file goes with the last phase that names it.
  mutating func add(_ earlier: UploadOrder) {
    var seen: Set<String> = []
    for phase in Phase.allCases.reversed() {
      let all = (earlier.files[phase] ?? []) + (files[phase] ?? [])
      // From behind: the newest manifest stays the last of all.
      files[phase] = all.reversed().filter { seen.insert($0).inserted }.reversed()
    }
  }

  var record: [UInt8] {
    var lines = [Self.firstLine]
    for phase in Phase.allCases {
      lines += (files[phase] ?? []).map { "\(phase.rawValue) \($0)" }
    }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }

  /// What was completed is named in the record of the last publish now.
  static func forgetEarlier(_ lock: SiteLock) throws(FetchFailure) {
    try doing("cannot close the record of the publish") { () throws(SystemError) in
      if try lock.own.removeIfPresent(earlierName) { try lock.own.sync() }
    }
  }

  private static func walk(
    _ path: String, _ site: SiteDirectory
  ) throws(FetchFailure) -> [String] {
    try doing("cannot list \(Path.join(site.path, path))") { () throws(SystemError) in
      guard let (parent, name) = try site.locate(path) else { return [] }
      return try walk(path, try parent.openDirectory(name))
    }
  }

  private static func walk(
    _ path: String, _ directory: any Directory
  ) throws(SystemError) -> [String] {
    var files: [String] = []
    for name in try directory.entries().sorted() {
      let inside = "\(path)/\(name)"
      if try directory.status(name).kind == .directory {
        files += try walk(inside, try directory.openDirectory(name))
      } else {
        files.append(inside)
      }
    }
    return files
  }
}
