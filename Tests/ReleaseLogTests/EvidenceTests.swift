import Crypto
import Failure
import MerkleTree
import ReleaseLog
import SignedNote
import TestSupport
import Testing

@Suite struct EvidenceTests {
  /// Two histories that part after `common` releases, of `first` and of `second` releases.
  static func fork(common: Int, first: Int, second: Int) -> (World, World) {
    var one = World()
    for number in 0..<common { one.publish("v\(number)") }
    var other = one
    for number in common..<first { one.publish("a\(number)") }
    for number in common..<second { other.publish("b\(number)") }
    return (one, other)
  }

  static func evidence(_ smaller: World, _ larger: World) throws(FetchFailure) -> Evidence {
    do {
      let (small, large) = (try smaller.head(), try larger.head())
      var tree = try AuthenticatedTree(count: large.size, root: large.root)
      let files = larger.files
      for leaf in [small.size - 1, large.size - 1] {
        try tree.gather(leaf..<leaf + 1) { address throws(FetchFailure) in
          try SuspectTile(address, files[address.path] ?? [])
        }
      }
      let hashes = small.size < large.size ? tree.impliedProof(from: small.size) : []
      return try Evidence(smaller: small, larger: large, hashes: hashes)
    } catch let error as FetchFailure { throw error } catch {
      throw FetchFailure(.ioError, "\(error)")
    }
  }

  static let shapes = [
    (0, 1, 1), (2, 3, 3), (2, 4, 7), (1, 3, 4), (3, 8, 9), (5, 6, 300), (256, 257, 600),
  ]

  @Test("a fork proves itself, whatever the sizes", arguments: shapes)
  func proves(_ common: Int, _ first: Int, _ second: Int) throws {
    let (one, other) = Self.fork(common: common, first: first, second: second)
    let evidence = try Self.evidence(one, other)
    let again = try Evidence(evidence.text, trusted: [])
    #expect(again == evidence)
    #expect(try Evidence(evidence.text, trusted: [one.key.key]) == evidence)
    let stranger = SigningKey.generate(World.origin).key
    #expect(throws: FetchFailure.self) { try Evidence(evidence.text, trusted: [stranger]) }
  }

  @Test("honest checkpoints are never evidence, whatever stands beside them", arguments: shapes)
  func honest(_ common: Int, _ first: Int, _ second: Int) throws {
    var world = World()
    for number in 0..<first { world.publish("v\(number)") }
    let smaller = try world.head()
    for number in first..<second { world.publish("v\(number)") }
    let larger = try world.head()
    let category = category { () throws(FetchFailure) in _ = try Self.evidence(world, world) }
    #expect(category == .proofMalformed)
    var random = SeededGenerator(seed: UInt64(second))
    for count in 0..<24 {
      var hashes: [Digest] = []
      for _ in 0..<count {
        hashes.append(
          SHA256.digest((0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }))
      }
      // Roots that were signed are the best guesses that a liar has.
      for lie in [hashes, [smaller.root] + hashes, [larger.root] + hashes, hashes + [larger.root]] {
        let evidence = try? Evidence(smaller: smaller, larger: larger, hashes: lie)
        #expect(evidence == nil)
      }
    }
  }

  @Test("evidence that was changed is none")
  func changed() throws {
    let (one, other) = Self.fork(common: 3, first: 5, second: 11)
    let evidence = try Self.evidence(one, other)
    let text = evidence.text
    for index in text.indices {
      var bytes = text
      bytes[index] ^= 1
      let read = try? Evidence(bytes, trusted: [one.key.key])
      // What stands in a comment, and which key the file names, proves nothing.
      #expect(read == nil || read == evidence, "byte \(index)")
    }
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    for index in lines.indices where !lines[index].hasPrefix("#") && !lines[index].isEmpty {
      var fewer = lines
      fewer.remove(at: index)
      let bytes = Array(fewer.joined(separator: "\n").utf8)
      #expect((try? Evidence(bytes, trusted: [])) == nil, "\(lines[index])")
    }
    let stumps: [[UInt8]] = [
      [], [0x0A], Array("fetchres fork evidence v1\n".utf8), Array(text.dropLast()),
    ]
    for stump in stumps {
      #expect((try? Evidence(stump, trusted: [])) == nil)
    }
  }
}
