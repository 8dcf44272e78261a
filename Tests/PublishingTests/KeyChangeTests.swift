import Crypto
import Failure
import Manifest
import Publishing
import SignedNote
import TestSupport
import Testing

@Suite struct KeyChangeTests {
  private func digest(_ key: NoteKey) -> Digest { SHA256.digest(Array(key.description.utf8)) }

  private func refusal(_ workshop: Workshop, _ change: (inout PublishRequest) -> Void) throws
    -> FailureCategory?
  {
    let before = try workshop.files()
    let refusal = category { () throws(FetchFailure) in
      try workshop.publish("refused", "four", change: change)
    }
    #expect(try workshop.files() == before)
    return refusal
  }

  @Test func `an announced key follows, and says since when it signs`() throws {
    var workshop = try Workshop()
    let next = try workshop.key("second")
    let first = try workshop.publish("v1") { $0.nextKey = next }.manifest
    #expect(first.nextKey == digest(next))
    workshop.seconds += 10
    try workshop.publish("v2", "two")
    workshop.keys = ["/keys/second"]
    workshop.seconds += 10
    let third = try workshop.publish("v3", "four").manifest
    #expect(third.key == next)
    #expect(third.since == 2)
    #expect(third.nextKey == nil)
    workshop.seconds += 10
    let fourth = try workshop.publish("v4", "three").manifest
    #expect(fourth.since == 2)
    #expect(fourth.release == 3)
    #expect(try ServedSite(workshop, keys: ["first", "second"]).view().entries.count == 4)
    #expect(workshop.bytes("/keys/second.head") == workshop.bytes("/site/checkpoint"))
  }

  @Test func `whose log the new key takes over is said, once`() throws {
    var workshop = try Workshop()
    let next = try workshop.key("second")
    try workshop.publish("v1") { $0.nextKey = next }
    workshop.keys = ["/keys/second"]
    var lines: [String] = []
    for version in ["v2", "v3"] {
      workshop.seconds += 10
      try workshop.publish(version, "two", report: { lines.append($0) })
    }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("release 0 by \(try workshop.key("first"))") == true)
  }

  @Test func `the new key may announce the one after it`() throws {
    var workshop = try Workshop()
    let (second, third) = (try workshop.key("second"), try workshop.key("third"))
    try workshop.publish("v1") { $0.nextKey = second }
    workshop.keys = ["/keys/second"]
    workshop.seconds += 10
    #expect(
      try workshop.publish("v2", "two") { $0.nextKey = third }.manifest.nextKey == digest(third))
  }

  @Test func `a key that was not announced is refused, unless it is forced`() throws {
    var workshop = try Workshop()
    try workshop.publish("v1")
    workshop.keys = ["/keys/second"]
    workshop.seconds += 10
    #expect(try refusal(workshop) { _ in } == .keyChange)
    let forced = try workshop.publish("v2", "two") { $0.forcesUnannouncedKey = true }.manifest
    #expect(forced.since == 1)
  }

  @Test func `a key other than the announced one is refused`() throws {
    var workshop = try Workshop()
    let next = try workshop.key("second")
    try workshop.publish("v1") { $0.nextKey = next }
    workshop.keys = ["/keys/third"]
    workshop.seconds += 10
    #expect(try refusal(workshop) { _ in } == .keyChange)
  }

  @Test func `the old key does not come back`() throws {
    var workshop = try Workshop()
    let next = try workshop.key("second")
    try workshop.publish("v1") { $0.nextKey = next }
    workshop.keys = ["/keys/second"]
    workshop.seconds += 10
    try workshop.publish("v2", "two")
    workshop.keys = ["/keys/first"]
    workshop.seconds += 10
    #expect(try refusal(workshop) { _ in } == .keyChange)
  }

  @Test func `an announcement stays as long as its key does`() throws {
    var workshop = try Workshop()
    let (second, third) = (try workshop.key("second"), try workshop.key("third"))
    try workshop.publish("v1") { $0.nextKey = second }
    workshop.seconds += 10
    #expect(try refusal(workshop) { $0.nextKey = third } == .keyChange)
    // Left out, it is kept; repeated, it is the same.
    #expect(try workshop.publish("v2", "two").manifest.nextKey == digest(second))
    workshop.seconds += 10
    #expect(
      try workshop.publish("v3", "four") { $0.nextKey = second }.manifest.nextKey == digest(second))
  }

  @Test func `a key that announced nothing announces nothing later`() throws {
    var workshop = try Workshop()
    let second = try workshop.key("second")
    try workshop.publish("v1")
    workshop.seconds += 10
    #expect(try refusal(workshop) { $0.nextKey = second } == .keyChange)
  }

  // MARK: Co-signing

  @Test func `the first key signs, the others co-sign, and each keeps the head`() throws {
    var workshop = try Workshop()
    workshop.keys = ["/keys/first", "/keys/second"]
    try workshop.publish("v1")
    workshop.seconds += 10
    let manifest = try workshop.publish("v2", "two").manifest
    #expect(manifest.key == (try workshop.key("first")))
    for keys in [["first"], ["second"], ["first", "second"]] {
      #expect(try ServedSite(workshop, keys: keys).view().entries.count == 2)
    }
    let checkpoint = workshop.bytes("/site/checkpoint")
    #expect(workshop.bytes("/keys/first.head") == checkpoint)
    #expect(workshop.bytes("/keys/second.head") == checkpoint)
  }

  @Test func `a co-signer's record counts as much as the first key's`() throws {
    var workshop = try Workshop()
    workshop.keys = ["/keys/first", "/keys/second"]
    try workshop.publish("v1")
    let backup = try workshop.files(below: Workshop.site)
    workshop.seconds += 10
    try workshop.publish("v2", "two")
    // The back-up is old, and the first key's record is lost.
    try workshop.remove(Workshop.site)
    for (path, bytes) in backup { try workshop.put(path, bytes) }
    try workshop.remove("/keys/first.head")
    #expect(
      category { () throws(FetchFailure) in try workshop.publish("v3", "four") } == .rollback)
  }

  @Test func `the same key twice is refused`() throws {
    var workshop = try Workshop()
    workshop.keys = ["/keys/first", "/keys/first"]
    // A note that a key signed twice is malformed for every client.
    #expect(category { () throws(FetchFailure) in try workshop.publish("v1") } == .usage)
  }
}
