import Failure
import Manifest
import SignedNote
import Storage
import System
import TestSupport
import Testing

@testable import Publishing

/// The records of keys that an unfinished publish names: they lie outside of the site, and who writes
/// in the site decides nothing about them.
@Suite struct RecordedHeadTests {
  /// Two machines with the same release.
  private func twins() throws -> (Workshop, Workshop) {
    var workshop = try Workshop()
    try workshop.publish("v1")
    workshop.seconds += 10
    return (workshop.on(workshop.fileSystem.copy()), workshop.on(workshop.fileSystem.copy()))
  }

  /// A machine with one release, and a recorded publish of the second of which nothing happened.
  private func interrupted() throws -> Workshop { try interrupt(try twins().0, "v2") }

  private func interrupt(_ workshop: Workshop, _ version: String) throws -> Workshop {
    workshop.fileSystem.onOperation = { [weak fileSystem = workshop.fileSystem] operation in
      if operation.path.hasSuffix("first.head.new") { fileSystem?.cutPower() }
    }
    #expect(
      category { () throws(FetchFailure) in try workshop.publish(version, "two") } == .ioError)
    let after = workshop.on(workshop.fileSystem.restart())
    #expect(after.bytes("/site/.publish/transaction") != nil)
    return after
  }

  private func replaceSite(of workshop: Workshop, by files: [String: [UInt8]]) throws {
    try workshop.remove(Workshop.site)
    for (path, bytes) in files { try workshop.put(path, bytes) }
  }

  enum Planted: CaseIterable {
    case noHeadPath, noNote, headOfAnother, signedByAnother, otherManifest, noManifest, notTheFirst
  }

  @Test(arguments: Planted.allCases)
  func `a planted record reaches no file of the publisher`(_ planted: Planted) throws {
    var (workshop, other) = try twins()
    // What others signed is there for everybody to use.
    try other.remove(Workshop.site)
    other.keys = ["/keys/second"]
    try other.publish("v1", "two")
    let (first, second) = (try workshop.key("first"), try workshop.key("second"))
    let ours = try #require(workshop.bytes("/site/checkpoint"))
    let theirs = try #require(other.bytes("/site/checkpoint"))
    let ourManifest = try #require(workshop.bytes("/site/manifest"))
    let theirManifest = try #require(other.bytes("/site/manifest"))
    try workshop.put("/home/authorized_keys", [1, 2, 3])

    let good = SiteTransaction.Step.head(key: first, path: "/keys/first.head", bytes: ours)
    let (heads, manifest): ([SiteTransaction.Step], [UInt8]?) =
      switch planted {
      case .noHeadPath:
        ([.head(key: first, path: "/home/authorized_keys", bytes: ours)], ourManifest)
      case .noNote: ([.head(key: first, path: "/keys/first.head", bytes: [9])], ourManifest)
      case .headOfAnother: ([.head(key: first, path: "/keys/third.head", bytes: ours)], ourManifest)
      case .signedByAnother:
        ([.head(key: second, path: "/keys/first.head", bytes: theirs)], theirManifest)
      case .otherManifest: ([good], theirManifest)
      case .noManifest: ([good], nil)
      case .notTheFirst:
        (
          [
            .head(key: first, path: "/home/new.head", bytes: ours),
            .head(key: first, path: "/home/authorized_keys", bytes: ours),
          ], ourManifest
        )
      }
    do {
      let lock = try SiteDirectory(Workshop.site, workshop.fileSystem, makes: false).lock()
      try SiteTransaction(
        steps: heads + [.mutable(path: "notice", bytes: [7])]
          + (manifest.map { [.mutable(path: "manifest", bytes: $0)] } ?? [])
      ).stage(lock)
    }
    let before = try workshop.files()
    for attempt in [
      failure { () throws(FetchFailure) in try workshop.publish("v2", "two") },
      failure { () throws(FetchFailure) in try workshop.refresh() },
      failure { () throws(FetchFailure) in try workshop.prune("v1") },
    ] {
      #expect(attempt?.category == .badSignature && attempt?.exitCode == 5)
      #expect(attempt?.message.contains("/site/.publish") == true)
      #expect(attempt?.hint?.contains("--abandon") == true)
    }
    #expect(try workshop.files() == before)
    // The record goes, and what it would have changed stays.
    try workshop.recover(from: ServedSite(workshop).files)
    #expect(workshop.bytes("/site/.publish/transaction") == nil)
    #expect(workshop.bytes("/site/notice") == nil && workshop.bytes("/home/new.head") == nil)
    #expect(workshop.bytes("/home/authorized_keys") == [1, 2, 3])
    #expect(workshop.bytes("/keys/first.head") == ours)
    try workshop.publish("v2", "two")
    #expect(try workshop.verifyLog().releases == 2)
  }

  @Test func `a back-up with an unfinished publish takes no key back`() throws {
    var workshop = try interrupted()
    let backup = try workshop.files(below: Workshop.site)
    try workshop.publish("v3", "four")
    workshop.seconds += 10
    let mirror = try ServedSite(workshop).files
    let head = try #require(workshop.bytes("/keys/first.head"))
    try replaceSite(of: workshop, by: backup)
    let before = try workshop.files(below: Workshop.site).filter { !$0.key.contains("lock") }
    let refusal = failure { () throws(FetchFailure) in try workshop.publish("v4", "one") }
    #expect(refusal?.category == .rollback && refusal?.exitCode == 5)
    #expect(refusal?.hint?.contains("--recover URL") == true)
    #expect(workshop.bytes("/keys/first.head") == head)
    #expect(
      try workshop.files(below: Workshop.site).filter { !$0.key.contains("lock") } == before)

    try workshop.recover(from: mirror)
    #expect(workshop.bytes("/keys/first.head") == head)
    #expect(try workshop.verifyLog().pruned == ["v2"])
    try workshop.publish("v4", "one")
    #expect(try workshop.verifyLog().releases == 4)
  }

  @Test func `an unfinished publish that another of the same size passed by is a fork`() throws {
    let (workshop, other) = try twins()
    let half = try interrupt(workshop, "v2")
    try other.publish("v2", "four")
    let head = try #require(other.bytes("/keys/first.head"))
    try half.put("/keys/first.head", head)
    let refusal = failure { () throws(FetchFailure) in try half.publish("v3") }
    #expect(refusal?.category == .fork && refusal?.exitCode == 5)
    #expect(refusal?.hint?.contains("--recover URL") == true)
    #expect(half.bytes("/keys/first.head") == head)
    try half.recover(from: ServedSite(other).files)
    #expect(half.bytes("/site/checkpoint") == head)
  }

  @Test func `a record whose directory is gone goes beside the key`() throws {
    var workshop = try Workshop()
    try workshop.fileSystem.makeDirectories("/keys/old", permissions: 0o700)
    for name in ["first", "second"] {
      _ = try KeyFile.generate(Workshop.origin, at: "/keys/old/\(name)", workshop.fileSystem)
    }
    workshop.keys = ["/keys/old/first"]
    workshop = try interrupt(workshop, "v1")
    for (path, bytes) in try workshop.files(below: "/keys/old") {
      try workshop.put(path.replacing("/old/", with: "/new/"), bytes)
    }
    try workshop.remove("/keys/old")
    // Not with another key, nor with none.
    let before = try workshop.files()
    workshop.keys = ["/keys/new/second"]
    for attempt in [
      failure { () throws(FetchFailure) in try workshop.publish("v2") },
      failure { () throws(FetchFailure) in try workshop.prune("v1") },
    ] {
      #expect(attempt?.category == .usage)
      #expect(attempt?.message.contains("/keys/old/first.head") == true)
      #expect(attempt?.hint?.contains("--key") == true)
    }
    #expect(try workshop.files() == before)
    workshop.keys = ["/keys/new/first"]
    var abandoned = workshop.on(workshop.fileSystem.copy())
    workshop = workshop.on(workshop.fileSystem.copy())
    #expect(try abandoned.abandon())
    abandoned.seconds += 10
    try abandoned.publish("v2")
    #expect(try abandoned.verifyLog().versions == 1)

    workshop.seconds += 10
    try workshop.publish("v2")
    #expect(try workshop.verifyLog().versions == 2)
    #expect(workshop.bytes("/keys/new/first.head") == workshop.bytes("/site/checkpoint"))
    #expect(workshop.bytes("/keys/old/first.head") == nil)
  }

  @Test func `a key signs for one run at a time, whatever the site`() throws {
    let start = try interrupted()
    for isPending in [true, false] {
      var workshop = start.on(start.fileSystem.copy())
      if !isPending { try workshop.publish("v2", "two") }
      workshop.seconds += 10
      let source = try ServedSite(workshop).files
      let before = try workshop.files()
      do {
        let holder = try workshop.fileSystem.openFile("/keys/first")
        #expect(try holder.tryLock())
        for attempt in [
          failure { () throws(FetchFailure) in try workshop.publish("v3") },
          failure { () throws(FetchFailure) in try workshop.refresh() },
          failure { () throws(FetchFailure) in try workshop.recover(from: source) },
        ] {
          #expect(attempt?.category == .locked && attempt?.exitCode == 7)
        }
        withExtendedLifetime(holder) {}
      }
      #expect(try workshop.files() == before)
      // It is held for as long as something is signed, and no longer.
      workshop.fileSystem.onOperation = { [weak fileSystem = workshop.fileSystem] operation in
        if operation.path.hasPrefix("/site/releases/.new-v3")
          || operation.path == "/site/checkpoint"
        {
          #expect((try? fileSystem?.openFile("/keys/first").tryLock()) == false, "\(operation)")
        }
      }
      try workshop.publish("v3")
      workshop.fileSystem.onOperation = nil
      #expect(try workshop.fileSystem.openFile("/keys/first").tryLock())
    }
  }
}
