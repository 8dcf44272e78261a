import Crypto
import Failure
import Manifest
import MerkleTree
import ReleaseLog
import SignedNote
import System

/// A publisher with a history, as a value: a copy of it may go another way.
struct World {
  static let origin = Origin("maps.example.com/world")!
  /// When the first release is published.
  static let start: Int64 = 1_800_000_000

  var key = SigningKey.generate(Self.origin)
  /// Keys that sign beside it, manifests and checkpoints.
  var cosigners: [SigningKey] = []
  var origin = Self.origin
  var entries: [[UInt8]] = []
  var manifests: [Int64: Manifest] = [:]
  /// The first release of the key, and what it announces.
  var since: Int64 = 0
  var nextKey: Digest?

  var size: Int64 { Int64(entries.count) }
  var newest: [UInt8] { entries[entries.count - 1] }

  /// A manifest, signed and not logged.
  func manifest(
    _ version: String, release: Int64? = nil, content: String? = nil, published: Int64? = nil
  ) -> Manifest {
    let release = release ?? size
    return Manifest(
      origin: origin, version: version, release: release,
      layout: BlockLayout(size: 1_000, blockSize: 100)!,
      root: SHA256.digest(Array((content ?? version).utf8)), file: "world.map",
      published: UTCDate(seconds: published ?? Self.start + release * 60), key: key.key,
      since: min(since, release), nextKey: nextKey)
  }

  func note(_ manifest: Manifest) -> [UInt8] {
    SignedNote.sign(text: manifest.text, keys: [key] + cosigners)
  }

  mutating func publish(_ version: String, content: String? = nil, published: Int64? = nil) {
    let manifest = manifest(version, content: content, published: published)
    manifests[manifest.release] = manifest
    entries.append(note(manifest))
  }

  mutating func release(_ versions: String...) {
    for version in versions { publish(version) }
  }

  /// Entries of another kind, which are no manifests.
  mutating func log(others count: Int) {
    for number in 0..<count { entries.append(Array("something else \(size) \(number)\n".utf8)) }
  }

  /// The next key signs from here on.
  mutating func change(to key: SigningKey, announcing next: SigningKey? = nil) {
    (self.key, since) = (key, size)
    nextKey = next.map { KeyRing.digest(of: $0.key) }
  }

  func checkpoint(_ size: Int64? = nil) -> Checkpoint {
    let size = size ?? self.size
    var builder = TreeBuilder()
    var hasher = TreeHasher()
    for entry in entries.prefix(Int(size)) { builder.append(hasher.leaf(entry)) { _, _ in } }
    return Checkpoint(origin: origin, size: size, root: builder.finish { _, _ in })
  }

  func signedCheckpoint(_ size: Int64? = nil) -> [UInt8] {
    SignedNote.sign(text: checkpoint(size).text, keys: [key] + cosigners)
  }

  func head(_ size: Int64? = nil) throws -> LogHead {
    try LogHead(signedCheckpoint(size), keys: [key.key])
  }

  /// Every small file of the site.
  var files: [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    var builder = TreeBuilder()
    var hasher = TreeHasher()
    for (index, entry) in entries.enumerated() {
      builder.append(hasher.leaf(entry)) { files[$0.path] = $1 }
      // Files of earlier releases stay where they are.
      guard entries.count <= 64 else { continue }
      _ = builder.finish { files[$0.path] = $1 }
      let bundle = EntryBundle(entries: Array(entries[...index]))
      files[TileAddress.entriesPath(index: 0, width: index + 1)] = bundle.bytes
    }
    _ = builder.finish { files[$0.path] = $1 }
    for first in stride(from: 0, to: entries.count, by: Tile.width) {
      let bundle = entries[first..<min(entries.count, first + Tile.width)]
      files[
        TileAddress.entriesPath(index: Int64(first / Tile.width), width: bundle.count)] =
        EntryBundle(entries: Array(bundle)).bytes
    }
    files[SitePaths.checkpoint] = signedCheckpoint()
    for (index, manifest) in manifests.sorted(by: { $0.key < $1.key }) {
      files[SitePaths.releaseManifest(manifest.version)] = entries[Int(index)]
      files[SitePaths.manifest] = entries[Int(index)]
    }
    return files
  }
}

extension World {
  /// A publisher with some releases, a client that has seen them, and a server.
  static func settled(_ releases: Int = 3) throws -> (World, Visitor, Server) {
    var world = World()
    for number in 1...releases { world.publish("v\(number)") }
    let (visitor, server) = (Visitor(world), Server(world))
    _ = try visitor.pull(server)
    return (world, visitor, server)
  }
}

/// Somebody who serves a site, and may bend what he serves.
final class Server: Sendable {
  struct State: Sendable {
    var files: [String: [UInt8]] = [:]
    var asked: [String] = []
    var isDown = false
    /// Called with the path and whether caches are to be passed by; nil answers nothing special.
    var bend: (@Sendable (String, Bool) -> [UInt8]?)?
  }

  let name: String
  private let state: Monitor<State>

  init(_ name: String, _ world: World) {
    self.name = name
    state = Monitor(State(files: world.files))
  }

  convenience init(_ world: World) { self.init("http://one.example/", world) }

  func serve(_ world: World) {
    let files = world.files
    state.look { $0.files = files }
  }

  func put(_ path: String, _ bytes: [UInt8]?) { state.look { $0.files[path] = bytes } }

  func bend(_ bend: (@Sendable (String, Bool) -> [UInt8]?)?) { state.look { $0.bend = bend } }

  var isDown: Bool {
    get { state.look { $0.isDown } }
    set { state.look { $0.isDown = newValue } }
  }

  var asked: [String] { state.look { $0.asked } }

  func forget() { state.look { $0.asked = [] } }

  var source: LogSource {
    LogSource(name: name) { path, limit, bypasses throws(FetchFailure) in
      let (answer, isDown) = self.state.look { state in
        state.asked.append(path)
        return (state.bend?(path, bypasses) ?? state.files[path], state.isDown)
      }
      if isDown { throw FetchFailure(.unreachable, "nobody is there") }
      guard let answer else {
        throw FetchFailure(.httpStatus, "the server answered HTTP 404", httpStatus: 404)
      }
      guard answer.count <= limit else { throw FetchFailure(.tooLarge, "too much") }
      return answer
    }
  }
}

/// A server that keeps some files back until it is told to give up on them.
final class SlowServer: Sendable {
  private let server: Server
  private let isSlow: @Sendable (String) -> Bool
  /// Who waits, and whether that is over.
  private let state = Monitor((waiting: [WorkThread](), isOver: false, isOverdue: false))
  /// Nobody waits for ever for somebody who fails to ask another.
  private static let longest = 20.0

  init(_ server: Server, isSlow: @escaping @Sendable (String) -> Bool) {
    (self.server, self.isSlow) = (server, isSlow)
  }

  var source: LogSource {
    LogSource(name: server.name) { [self] ask, done in
      guard isSlow(ask.path) else { return server.source.start(ask, done) }
      let thread = WorkThread("slow") { [state] in
        let deadline = Clocks.monotonic() + Self.longest
        let isOver: Bool? = state.wait(until: deadline) { $0.isOver ? true : nil }
        if isOver == nil { state.change { $0.isOverdue = true } }
        done(.failure(FetchFailure(.timeout, "too slow")))
      }
      state.change { $0.waiting.append(thread) }
    }
  }

  /// - Returns: whether it kept somebody waiting until it gave up.
  func end() -> Bool {
    let threads = state.change { state in
      state.isOver = true
      return state.waiting
    }
    for thread in threads { thread.join() }
    return state.look { $0.isOverdue }
  }
}
