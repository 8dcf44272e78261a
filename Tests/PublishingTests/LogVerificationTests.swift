import Failure
import Manifest
import Publishing
import SignedNote
import TestSupport
import Testing

@Suite struct LogVerificationTests {
  @Test func `what a publisher writes holds`() throws {
    var workshop = try Workshop()
    let next = try workshop.key("second")
    try workshop.publish("v1", "one") { $0.nextKey = next }
    #expect(try workshop.verifyLog().releases == 1)
    workshop.seconds += 10
    try workshop.refresh()
    for (version, file) in [("v2", "two"), ("v3", "three")] {
      workshop.seconds += 10
      try workshop.publish(version, file)
    }
    workshop.keys = ["/keys/second"]
    workshop.seconds += 10
    try workshop.publish("v4", "four")
    workshop.seconds += 10
    try workshop.refresh()
    var lines: [String] = []
    let whole = try workshop.verifyLog { lines.append($0) }
    #expect(whole.releases == 6 && whole.versions == 4 && whole.pruned.isEmpty)
    #expect(lines.isEmpty)
    try workshop.prune("v1")
    try workshop.prune("v3")
    #expect(try workshop.verifyLog().pruned == ["v1", "v3"])
  }

  @Test func `a key that nobody announced is said, and no difference`() throws {
    var workshop = try Workshop()
    try workshop.publish("v1")
    workshop.keys = ["/keys/second"]
    workshop.seconds += 10
    try workshop.publish("v2", "two") { $0.forcesUnannouncedKey = true }
    var lines: [String] = []
    #expect(try workshop.verifyLog { lines.append($0) }.releases == 2)
    #expect(lines.count == 1)
    #expect(lines.first?.contains("was not announced") == true)
  }

  @Test func `a trace of a site is one that has to hold, and no trace is no site`() throws {
    let workshop = try Workshop()
    try workshop.publish("v1")
    let served = ServedSite(try workshop.files(), Proofs([])).files.keys
    func category(keeping kept: (String) -> Bool) throws -> FailureCategory? {
      let copy = workshop.on(workshop.fileSystem.copy())
      for path in served where !kept(path) { try copy.remove("/site/\(path)") }
      for name in ["tile", "releases"]
      where !served.contains(where: { $0.hasPrefix(name) && kept($0) }) {
        try copy.remove("/site/\(name)")
      }
      return failure { () throws(FetchFailure) in _ = try copy.verifyLog() }?.category
    }
    for part in ["manifest", "checkpoint", "tile/", "releases/"] {
      #expect(try category { $0.hasPrefix(part) } == .notLogged, "\(part)")
    }
    #expect(try category { _ in false } == .unavailable)
  }

  @Test func `whatever is changed in a file that a client may ask for is found and named`() throws {
    var workshop = try Workshop()
    try workshop.publish("v1", "one")
    workshop.seconds += 10
    try workshop.publish("v2", "two")
    workshop.seconds += 10
    try workshop.refresh()
    // Partial tiles and bundles of shorter logs are no part of this one.
    let served = ServedSite(try workshop.files(), Proofs([])).files.keys.filter {
      !($0.hasPrefix("tile/") && !$0.hasSuffix(".p/3"))
    }
    #expect(served.count == 13)
    for path in served.sorted() {
      let good = try #require(workshop.bytes("/site/\(path)"))
      var flipped = good
      flipped[good.count / 2] ^= 4
      for bytes in [flipped, Array(good.dropLast()), good + [0], nil] {
        try workshop.remove("/site/\(path)")
        if let bytes { try workshop.put("/site/\(path)", bytes) }
        let refusal = failure { () throws(FetchFailure) in _ = try workshop.verifyLog() }
        #expect(refusal != nil, "\(path)")
        #expect(refusal?.message.contains(path) == true, "\(path): \(refusal?.message ?? "")")
      }
      try workshop.put("/site/\(path)", good)
    }
    #expect(try workshop.verifyLog().pruned.isEmpty)
  }
}
