import Testing

/// `proof make` and `proof check`, against each other and against what was changed.
@Suite struct ProofTests {
  static func site(_ blocks: Int, blockSize: Int = 100) throws -> (Scratch, Site, Release) {
    let scratch = try Scratch()
    let site = try Site(Fetchres(scratch), at: scratch("site"))
    let release = try site.publish(
      randomBytes(blocks * blockSize - blockSize / 2), blockSize: blockSize)
    return (scratch, site, release)
  }

  /// The arguments that `proof make` prints for `proof check`.
  static func proof(_ site: Site, _ index: Int) throws -> [String] {
    let made = try site.fetchres.run("proof", "make", site.path, "v1", "\(index)")
    made.expect(0)
    return made.line.split(separator: " ").map(String.init)
  }

  @Test("every block's proof holds, as a hash and as bytes", arguments: [1, 2, 3, 5, 8])
  func roundTrip(_ count: Int) throws {
    let (scratch, site, release) = try Self.site(count)
    for index in 0..<count {
      let proof = try Self.proof(site, index)
      let check = try site.fetchres.run(["proof", "check"] + proof)
      check.expect(0)
      #expect(check.output == "the proof holds\n")

      let leaf = try #require(proof.firstIndex(of: "--leaf"))
      var byBytes = proof
      let range = release.range(of: index)
      byBytes[leaf] = "--block"
      byBytes[leaf + 1] = try scratch.write("block", Array(release.bytes[range]))
      try site.fetchres.run(["proof", "check"] + byBytes).expect(0)
      try Disk.flip(scratch("block"), at: Int64(range.count - 1))
      try site.fetchres.run(["proof", "check"] + byBytes).expectRefusal(4)
    }
  }

  @Test(
    "proofs of a tree of several tiles hold, on every edge",
    arguments: [0, 1, 255, 256, 257, 511, 512, 599])
  func tiles(_ index: Int) throws {
    let (_, site, _) = try Self.site(600)
    try site.fetchres.run(["proof", "check"] + Self.proof(site, index)).expect(0)
  }

  enum Change: String, Sendable, CaseIterable {
    case otherIndex, otherCount, otherRoot, otherLeaf, siblingGone, siblingAdded, siblingsSwapped
    case siblingTwice, siblingChanged, siblingShort, siblingLong, indexIsCount, indexShifted
    case countZero, hugeIndex, hugeCount, emptySibling

    func apply(_ proof: inout [String]) {
      func at(_ option: String) -> Int { (proof.firstIndex(of: option) ?? -1) + 1 }
      func flipped(_ hex: String) -> String {
        (hex.hasPrefix("0") ? "1" : "0") + hex.dropFirst()
      }
      let first = at("--sibling")
      switch self {
      case .otherIndex: proof[at("--index")] = "4"
      case .otherCount: proof[at("--count")] = "6"
      case .otherRoot: proof[at("--root")] = flipped(proof[at("--root")])
      case .otherLeaf: proof[at("--leaf")] = flipped(proof[at("--leaf")])
      case .siblingGone: proof.removeLast(2)
      case .siblingAdded: proof += ["--sibling", proof[first]]
      case .siblingsSwapped: proof.swapAt(first, first + 2)
      case .siblingTwice: proof[first + 2] = proof[first]
      case .siblingChanged: proof[first] = flipped(proof[first])
      case .siblingShort: proof[first] = String(proof[first].dropLast(2))
      case .siblingLong: proof[first] += "00"
      case .indexIsCount: proof[at("--index")] = "7"
      case .indexShifted: proof[at("--index")] = "13"
      case .countZero: proof[at("--count")] = "0"
      case .hugeIndex: proof[at("--index")] = "99999999999999999999"
      case .hugeCount: proof[at("--count")] = "99999999999999999999"
      case .emptySibling: proof[first] = ""
      }
    }
  }

  @Test("a proof with anything changed does not hold", arguments: Change.allCases)
  func changed(_ change: Change) throws {
    let (_, site, _) = try Self.site(7)
    var proof = try Self.proof(site, 5)
    try site.fetchres.run(["proof", "check"] + proof).expect(0)
    change.apply(&proof)
    try site.fetchres.run(["proof", "check"] + proof).expectRefusal(4)
  }

  @Test("the proof of one block does not fit another one")
  func anotherBlock() throws {
    let (scratch, site, release) = try Self.site(7)
    var proof = try Self.proof(site, 5)
    let leaf = try #require(proof.firstIndex(of: "--leaf"))
    proof[leaf] = "--block"
    proof[leaf + 1] = try scratch.write("block", Array(release.bytes[release.range(of: 4)]))
    try site.fetchres.run(["proof", "check"] + proof).expectRefusal(4)
  }

  @Test(
    "a check that lacks something is refused as such",
    arguments: [
      ["--count"], ["--index", "x"], ["--index", ""], ["--index", "+5"], ["--index", "05"],
      ["--index", "-0"], ["--index", "00000000000000000005"], ["--count", "07"],
      ["--count", "+7"], ["--root", "zz"], ["--root", "abc"],
      ["--leaf", "xyz"], ["--sibling", "0"], ["--block", "/dev/null"],
    ])
  func usage(_ change: [String]) throws {
    let (_, site, _) = try Self.site(7)
    var proof = try Self.proof(site, 5)
    let option = change[0]
    if option == "--block" {
      proof += change
    } else if let at = proof.firstIndex(of: option) {
      if change.count == 1 {
        proof.removeSubrange(at...at + 1)
      } else {
        proof[at + 1] = change[1]
      }
    }
    try site.fetchres.run(["proof", "check"] + proof).expectRefusal(2, option)
  }

  @Test("proof make says what is not there")
  func makeRefused() throws {
    let (_, site, _) = try Self.site(7)
    for index in ["7", "8", "9223372036854775807"] {
      let outcome = try site.fetchres.run("proof", "make", site.path, "v1", index)
      #expect([2, 4].contains(outcome.exitCode) && outcome.output.isEmpty, "\(index)")
      #expect(outcome.error.contains("7"), "\(outcome.testDescription)")
    }
    for index in ["-1", "x", "", "99999999999999999999"] {
      let outcome = try site.fetchres.run(["proof", "make", "--", site.path, "v1", index])
      outcome.expectRefusal(2, "is no block index")
    }
    let missing = try site.fetchres.run("proof", "make", site.path, "v9", "0")
    #expect([1, 2, 6].contains(missing.exitCode) && missing.error.contains("v9"))
    let nowhere = try site.fetchres.run("proof", "make", site.path + "x", "v1", "0")
    #expect([1, 2, 6].contains(nowhere.exitCode) && nowhere.error.contains(site.path + "x"))
  }
}
