import Failure
import Storage
import TestSupport
import Testing

@testable import Publishing

/// The record of an unfinished publish.
@Suite struct SiteTransactionTests {
  private let workshop: Workshop
  private let site: SiteDirectory
  private let lock: SiteLock
  private let checkpoint: [UInt8]
  private let manifest: [UInt8]
  private let transaction: SiteTransaction

  init() throws {
    let made = try Workshop()
    let other = made.on(made.fileSystem.copy())
    workshop = made.on(made.fileSystem.copy())
    try other.publish("v1")
    checkpoint = try #require(other.bytes("/site/checkpoint"))
    manifest = try #require(other.bytes("/site/manifest"))
    transaction = SiteTransaction(steps: [
      .head(key: try workshop.key("first"), path: "/keys/a key.head", bytes: checkpoint),
      .release(version: "v1"), .immutable(path: "tile/0/000.p/1", bytes: []),
      .mutable(path: "checkpoint", bytes: checkpoint), .mutable(path: "manifest", bytes: manifest),
    ])
    site = try SiteDirectory(Workshop.site, workshop.fileSystem, makes: true)
    lock = try site.lock()
    try workshop.put("/site/releases/.new-v1/manifest", [9])
  }

  private var path: String { "/site/.publish/transaction" }

  @Test func `without a record nothing is pending`() throws {
    #expect(try SiteTransaction.pending(lock) == nil)
  }

  @Test func `what was staged is pending until it is completed`() throws {
    try transaction.stage(lock)
    #expect(try SiteTransaction.pending(lock) == transaction)
    #expect(try ServedSite(workshop).files == [:])
    try transaction.complete(site, lock, workshop.fileSystem)
    #expect(try SiteTransaction.pending(lock) == nil)
    #expect(
      try ServedSite(workshop).files == [
        "releases/v1/manifest": [9], "tile/0/000.p/1": [], "checkpoint": checkpoint,
        "manifest": manifest,
      ])
    #expect(workshop.bytes("/keys/a key.head") == checkpoint)
    #expect(
      try workshop.files(below: "/site/.publish").keys.sorted() == [
        "/site/.publish/last", "/site/.publish/lock",
      ])
  }

  @Test func `completing it twice does no harm`() throws {
    try transaction.stage(lock)
    let record = try #require(workshop.bytes(path))
    let stage = try workshop.files(below: "/site/.publish/new")
    try transaction.complete(site, lock, workshop.fileSystem)
    let after = try workshop.files()
    try workshop.put(path, record)
    for (path, bytes) in stage { try workshop.put(path, bytes) }
    try #require(try SiteTransaction.pending(lock)).complete(site, lock, workshop.fileSystem)
    #expect(try workshop.files() == after)
  }

  @Test func `what an earlier one staged and never recorded is replaced`() throws {
    try workshop.put("/site/.publish/new/7", [1])
    try transaction.stage(lock)
    #expect(workshop.bytes("/site/.publish/new/7") == nil)
    #expect(try SiteTransaction.pending(lock) == transaction)
  }

  @Test func `a damaged record is refused and touches nothing`() throws {
    try transaction.stage(lock)
    let record = try #require(workshop.bytes(path))
    let text = String(decoding: record, as: UTF8.self)
    for damaged in [
      "", "\n", "something else\n", String(text.dropLast()), text + "junk\n",
      text + "mutable x 00 manifest\n", text.replacing("immutable", with: "permanent"),
      text.replacing("head 0", with: "head 2"), text.replacing("mutable 3", with: "mutable 03"),
      text.replacing("transaction v1", with: "transaction v2"),
      text.replacing("+", with: "-"),
    ] {
      #expect(damaged != text)
      try workshop.put(path, Array(damaged.utf8))
      let before = try workshop.files()
      let refusal = failure { () throws(FetchFailure) in _ = try SiteTransaction.pending(lock) }
      #expect(refusal?.category == .ioError, "\(damaged)")
      #expect(try workshop.files() == before)
    }
  }

  @Test func `a staged file that is missing or changed is refused`() throws {
    try transaction.stage(lock)
    try workshop.put("/site/.publish/new/0", [1, 2, 4])
    #expect(
      category { () throws(FetchFailure) in _ = try SiteTransaction.pending(lock) } == .ioError)
    try workshop.remove("/site/.publish/new/0")
    #expect(
      category { () throws(FetchFailure) in _ = try SiteTransaction.pending(lock) } == .ioError)
  }

  @Test func `a path that cannot be recorded in one line is refused before anything happens`()
    throws
  {
    let key = try workshop.key("first")
    let path = "/keys/a\nmutable 0 00 x"
    let bad = SiteTransaction(steps: [.head(key: key, path: path, bytes: [1])])
    #expect(category { () throws(FetchFailure) in try bad.stage(lock) } != nil)
    #expect(try SiteTransaction.pending(lock) == nil)
  }

  @Test func `the record names what it is about`() throws {
    try transaction.stage(lock)
    let lines = String(decoding: try #require(workshop.bytes(path)), as: UTF8.self)
      .split(separator: "\n").map { $0.split(separator: " ").first.map(String.init) }
    #expect(lines == ["fetchres", "head", "release", "immutable", "mutable", "mutable"])
  }
}
