import Failure
import ReleaseLog
import SignedNote
import Storage
import System
import TestSupport
import Testing

@Suite struct LogStoreTests {
  /// A state with something of everything.
  static func full() throws -> LogState {
    var world = World()
    let next = SigningKey.generate(World.origin)
    world.nextKey = KeyRing.digest(of: next.key)
    world.release("v1", "v2")
    let old = world
    world.change(to: next)
    world.publish("v3")
    let (visitor, server) = (Visitor(old), Server(old))
    _ = try visitor.pull(server)
    server.serve(world)
    _ = try visitor.pull(server, Server("http://two.example/ \n", old))
    var state = try visitor.state()
    state.behindSince = Moment(boot: visitor.boot, seconds: -5, run: 7)
    _ = state.alerts.file(
      Alert(
        .fork, release: nil, instance: "a b", time: 5, message: "with spaces\nand lines",
        evidence: "/path with/spaces"))
    _ = state.alerts.file(Alert(.withheld, release: 3, instance: "", time: -1, message: ""))
    _ = state.alerts.acknowledgeAll()
    _ = state.alerts.file(Alert(.rollback, release: 4, instance: "c", time: 6, message: "new"))
    return state
  }

  @Test("a state reads back as it was written")
  func roundTrip() throws {
    let state = try Self.full()
    #expect(!state.successions.isEmpty && !state.seen.isEmpty && !state.faults.isEmpty)
    let again = try LogState(text: state.text)
    #expect(again.text == state.text)
    #expect(again.head == state.head && again.newest == state.newest)
    #expect(again.alerts == state.alerts && again.successions == state.successions)
    #expect(try LogState(text: LogState(World.origin).text) == LogState(World.origin))
  }

  @Test("a state that is damaged is never taken for none")
  func damaged() throws {
    let text = try Self.full().text
    for cut in stride(from: 0, to: text.count, by: 97) {
      #expect((try? LogState(text: Array(text.prefix(cut)))) == nil)
      var flipped = text
      flipped[cut] ^= 4
      #expect((try? LogState(text: flipped)) == nil)
    }
    let fileSystem = MemoryFileSystem()
    let store = LogStore(World.origin, below: "/state", fileSystem)
    #expect(try store.load() == LogState(World.origin))
    _ = try store.update { state in
      state.runs = 5
      return true
    }
    let logs = try fileSystem.openDirectory("/state/logs")
    let name = try #require(try logs.entries().first { !$0.hasPrefix(".") })
    try logs.replaceFile(name, Array("fetchres log state v1\n".utf8))
    #expect(category { () throws(FetchFailure) in _ = try store.load() } == .ioError)
    #expect(
      category { () throws(FetchFailure) in _ = try store.update { _ in true } } == .ioError)
    // Only by hand.
    try store.reset()
    #expect(try store.load() == LogState(World.origin))
  }

  @Test("whatever ends a pull, the head never moves back and is there before it is acted on")
  func powerCuts() throws {
    var world = World()
    world.release("v1", "v2")
    let visitor = Visitor(world)
    _ = try visitor.pull(Server(world))
    world.publish("v3")
    let server = Server(world)
    var search = PowerCutSearch(seeds: 6)
    try search.run(from: visitor.fileSystem) { fileSystem in
      _ = try Visitor([world.key.key], fileSystem).pull(server)
    } examine: { fileSystem, end in
      let survivor = Visitor([world.key.key], fileSystem)
      let size = try #require(try survivor.state().head?.size, "\(end)")
      #expect(end.isComplete ? size == 3 : size >= 2, "\(end)")
      // And a rerun goes on from there.
      #expect(try survivor.pull(server).release.manifest.version == "v3", "\(end)")
    }
    #expect(search.points > 3)
  }

  @Test("two that pull at the same time merge, and never move back")
  func race() throws {
    var world = World()
    world.publish("v1")
    let visitor = Visitor(world)
    _ = try visitor.pull(Server(world))
    world.publish("v2")
    let slow = Server(world)
    world.publish("v3")
    let (fast, fileSystem, key) = (Server(world), visitor.fileSystem, world.key.key)
    // While one judges what a slow server showed, another finishes with a fast one.
    let isFirst = Monitor(true)
    slow.bend { path, _ in
      let isNow =
        path.hasPrefix("tile/")
        && isFirst.look { first in
          defer { first = false }
          return first
        }
      if isNow { _ = try? Visitor([key], fileSystem).pull(fast) }
      return nil
    }
    let verdict = try visitor.pull(slow)
    #expect(!visitor.faults.isEmpty && visitor.faults.allSatisfy { $0 == "\(slow.name) stale" })
    #expect(verdict.release.manifest.version == "v3")
    #expect(try visitor.state().head?.size == 3)
  }
}
