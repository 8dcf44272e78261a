import Crypto
import Failure
@testable import ReleaseLog
@testable import SignedNote

extension FuzzTarget {
  /// Evidence is taken exactly if it proves a fork: two heads of one log, neither a prefix of the other.
  static let evidence = FuzzTarget("evidence") { bytes in
    if let evidence = try? Evidence(bytes, trusted: []) {
      expect((try? Evidence(evidence.text, trusted: [])) == evidence, "other evidence")
    }
    var reader = InputReader(bytes)
    let size = reader.choice(40) + 1
    var leaves = (0..<size).map { ReferenceTree.leaf([UInt8($0)]) }
    let (root2, m) = (ReferenceTree.root(leaves[...]), reader.choice(size) + 1)
    var hashes = ReferenceTree.consistency(m, leaves[...])
    // The power of two alone has its root in front.
    if m < size, m.nonzeroBitCount == 1 {
      hashes.insert(ReferenceTree.root(leaves.prefix(m)), at: 0)
    }
    let place = reader.choice(size)
    if reader.byte() % 2 == 1 { leaves[place] = reader.digest() }
    let root1 = ReferenceTree.root(leaves.prefix(m))
    for _ in 0..<reader.byte() % 3 where !hashes.isEmpty {
      let place = reader.choice(hashes.count)
      switch reader.byte() % 4 {
      case 0: hashes[place] = reader.digest()
      case 1: hashes.remove(at: place)
      case 2: hashes.insert(reader.digest(), at: place)
      default: hashes.swapAt(place, 0)
      }
    }
    guard let smaller = head(Int64(m), root1), let larger = head(Int64(size), root2) else {
      fatalError("Fuzz: no heads")
    }
    let found = implied(m, size, hashes)
    let isFork =
      m == size
      ? hashes.isEmpty && root1 != root2 : found.map { $0.1 == root2 && $0.0 != root1 } == true
    let made = Result { () throws(FetchFailure) in
      try Evidence(smaller: smaller, larger: larger, hashes: hashes)
    }
    switch made {
    case .success(let evidence):
      expect(isFork, "a fork that is none")
      let read = try? Evidence(evidence.text, trusted: [FuzzKeys.manifest.key])
      expect(read == evidence, "evidence not read back")
    case .failure(let failure): expect(!isFork, "a fork that is refused: \(failure)")
    }
  }

  /// The roots that the hashes lead to, where all of them stand there.
  private static func implied(_ m: Int, _ n: Int, _ hashes: [Digest]) -> (Digest, Digest)? {
    guard m < n, let first = hashes.first else { return nil }
    return m.nonzeroBitCount == 1
      ? ReferenceProof.roots(Int64(m), first, Int64(n), hashes.dropFirst())
      : ReferenceProof.roots(Int64(m), first, Int64(n), hashes[...])
  }

  private static func head(_ size: Int64, _ root: Digest) -> LogHead? {
    guard let origin = Origin(FuzzKeys.origin) else { return nil }
    let checkpoint = Checkpoint(origin: origin, size: size, root: root)
    return try? LogHead(
      SignedNote.sign(text: checkpoint.text, keys: [FuzzKeys.manifest]),
      keys: [FuzzKeys.manifest.key])
  }
}
