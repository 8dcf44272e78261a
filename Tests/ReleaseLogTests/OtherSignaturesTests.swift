import Crypto
import Failure
import Manifest
import ReleaseLog
import TestSupport
import Testing

/// Notes that say what the log holds, under other signature lines: anybody can add a line.
@Suite struct OtherSignaturesTests {
  private static func spoilt(_ note: [UInt8]) -> [UInt8] {
    let junk = Base64.encode((0..<68).map { UInt8($0) })
    return note + Array("\u{2014} junk.example/key \(junk)\n".utf8)
  }

  // covers: F31, F35
  @Test("the newest manifest under a signature line more is a fault of its source, and no alarm")
  func newest() throws {
    let (world, visitor, server) = try World.settled()
    server.put(SitePaths.manifest, Self.spoilt(world.newest))
    for visitor in [visitor, Visitor(world)] {
      #expect(try visitor.pull(server).release.note == world.newest)
      #expect(visitor.alerts.isEmpty)
      #expect(visitor.faults.contains("\(server.name) note-malformed"))
    }
  }

  @Test("and so is one that somebody sees first who was told of another release before")
  func newer() throws {
    var (world, visitor, server) = try World.settled()
    world.publish("v4")
    server.serve(world)
    server.put(SitePaths.manifest, Self.spoilt(world.newest))
    #expect(try visitor.pull(server).release.note == world.newest)
    #expect(visitor.alerts.isEmpty)
  }

  @Test("nor is one whose entry nobody shows: it is refused, and does no harm beside a good source")
  func hidden() throws {
    var (world, visitor, server) = try World.settled()
    world.publish("v4")
    server.serve(world)
    let good = Server("http://two.example/", world)
    server.put(SitePaths.manifest, Self.spoilt(world.newest))
    server.bend { path, _ in path.hasPrefix("tile/entries/") ? Array("junk".utf8) : nil }
    for visitor in [visitor, Visitor(world)] {
      #expect(visitor.refusal(server) == .tileInvalid)
      #expect(visitor.alerts.isEmpty)
      #expect(try visitor.pull(server, good).release.note == world.newest)
      #expect(visitor.alerts.isEmpty)
    }
  }
}
