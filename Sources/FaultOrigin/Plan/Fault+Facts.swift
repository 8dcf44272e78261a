extension Fault {
  /// What is known of a fault, wherever it is used.
  package struct Facts: Sendable {
    /// One line, for people.
    package var summary: String
    /// What it applies to where a rule does not say.
    package var targets: [FaultTarget]
    package var arguments: [FaultArgument]
    /// The exit statuses other than 0 that are right for a client whose only source does this.
    package var exits: Set<Int32>

    init(
      _ summary: String, on targets: FaultTarget..., taking arguments: FaultArgument...,
      exits: Set<Int32> = []
    ) {
      self.summary = summary
      self.targets = targets
      self.arguments = arguments
      self.exits = exits
    }
  }

  package var facts: Facts {
    switch self {
    case .wholeFile: Facts("200 with the whole file instead of the range", on: .data)
    case .earlierWindow:
      Facts("206 with a window that begins a byte earlier", on: .data, exits: [4])
    case .laterWindow: Facts("206 with a window that begins a byte later", on: .data, exits: [4])
    case .longerWindow: Facts("206 with a window that is a byte longer", on: .data, exits: [4])
    case .noContentRange: Facts("206 without Content-Range", on: .data, exits: [4])
    case .severalRanges: Facts("206 as multipart/byteranges", on: .data, exits: [4])
    case .wrongTotal: Facts("206 with the total of another file", on: .data, exits: [4])
    case .spelledUnit: Facts("the range unit spelled 'Bytes', which is fine", on: .data)
    case .unknownTotal: Facts("the total given as '*', which is fine", on: .data)
    case .cutBody:
      Facts(
        "fewer bytes than announced, then the end of the connection", on: .data, taking: .bytes,
        exits: [3])
    case .flippedBit: Facts("one bit of the body flipped", on: .data, exits: [3, 4])
    case .shiftedWindow:
      Facts("the right header, and bytes from one place further on", on: .data, exits: [4])
    case .otherBytes: Facts("another file's bytes of the right length", on: .data, exits: [4])
    case .zeroBytes: Facts("zeros of the right length", on: .data, exits: [4])
    case .statusWithBlock:
      Facts(
        "403, 404, 416, 5xx or 204 with the right bytes as its body", on: .data, taking: .status,
        exits: [3, 4])
    case .statusWithoutBody:
      Facts("403, 404, 416, 5xx or 204 without a body", on: .any, taking: .status, exits: [3, 4])
    case .page:
      Facts(
        "a login page with status 200", on: .manifest, .checkpoint, .tile, .entries,
        exits: [3, 4])
    case .gzip: Facts("Content-Encoding: gzip, though nobody asked", on: .any, exits: [4])
    case .identityCoding: Facts("Content-Encoding: identity, which is fine", on: .any)
    case .refusedBeyondEnd: Facts("416 for a range that ends behind the file", on: .data)
    case .wholeBeyondEnd: Facts("the whole file for a range that ends behind it", on: .data)
    case .replacedFile:
      Facts("another file of the same size, with validators of its own", on: .data, exits: [4])
    case .previousFile:
      Facts(
        "the file as it stands in another directory", on: .data, taking: .from, exits: [3, 4])
    case .changingTag: Facts("an ETag that changes with every answer", on: .data)
    case .weakTag: Facts("a weak ETag", on: .data)
    case .noTag: Facts("neither ETag nor Last-Modified", on: .data)
    case .hugeField: Facts("a header field of 1 MiB", on: .any, exits: [3, 4])
    case .manyFields: Facts("10,000 header fields", on: .any, exits: [3, 4])
    case .impossibleLength:
      Facts("Content-Length: 99999999999999999999", on: .any, exits: [3, 4])
    case .endlessBody: Facts("a body without length or end", on: .any, exits: [3, 4])
    case .unfinishedChunks: Facts("a chunked body without its last chunk", on: .any, exits: [3])
    case .chunksAndLength: Facts("a chunked body with a Content-Length", on: .any, exits: [3, 4])
    case .chunks: Facts("a chunked body, which is fine", on: .data)
    case .silentBody:
      Facts("headers, some bytes, then silence", on: .any, taking: .bytes, .time, exits: [3])
    case .silentAnswer: Facts("no answer at all", on: .any, taking: .time, exits: [3])
    case .trickle: Facts("one byte every two seconds", on: .any, taking: .time, exits: [3])
    case .steady: Facts("slow but steady, which is fine", on: .data, taking: .rate)
    case .resetInBody: Facts("a reset in the body", on: .any, taking: .bytes, exits: [3])
    case .closedUnanswered: Facts("the connection closed unanswered", on: .any, exits: [3])
    case .closedBetween:
      Facts("the connection closed behind an answer that did not say so", on: .any)
    case .slowDown:
      Facts(
        "429 or 503 with Retry-After: 0, 1, a date, the past, nonsense or a century", on: .any,
        taking: .status, .retryAfter, exits: [3])
    case .dead: Facts("every connection reset when it begins", on: .any, exits: [3])
    case .redirectToHost:
      Facts("a redirect to the same file on another host", on: .any, taking: .to, exits: [4])
    case .redirectToScheme: Facts("a redirect to another scheme", on: .any, exits: [4])
    case .redirectLoop: Facts("a redirect to itself", on: .any, exits: [4])
    case .noteReturns: Facts("a note with CRLF line ends", on: .manifest, exits: [4, 5])
    case .noteMark: Facts("a note behind a byte order mark", on: .manifest, exits: [4, 5])
    case .noteTab: Facts("a note with a tab for a space", on: .manifest, exits: [4, 5])
    case .noteUnterminated:
      Facts("a note without its last newline", on: .manifest, exits: [4, 5])
    case .noteBlankLine: Facts("a note with an empty line more", on: .manifest, exits: [4, 5])
    case .noteOrder: Facts("a note with two lines swapped", on: .manifest, exits: [4, 5])
    case .noteTwice: Facts("a note with a line twice", on: .manifest, exits: [4, 5])
    case .noteNumber: Facts("a note whose size begins with 0", on: .manifest, exits: [4, 5])
    case .unknownSignature:
      Facts("a signature by an unknown key added, which is fine", on: .manifest)
    case .brokenSignature: Facts("a signature with one bit flipped", on: .manifest, exits: [4, 5])
    case .wrongKeyID:
      Facts("a signature with the id of another key", on: .manifest, exits: [4, 5])
    case .manySignatures: Facts("101 signatures", on: .manifest, exits: [4])
    case .otherAlphabet:
      Facts("a signature in another base64 alphabet", on: .manifest, exits: [4])
    case .looseBits: Facts("a signature with loose bits at its end", on: .manifest, exits: [4])
    case .previousManifest:
      Facts("yesterday's manifest, from another directory", on: .manifest, taking: .from)
    case .foreignManifest:
      Facts(
        "another resource's genuine manifest, from another directory", on: .manifest,
        taking: .from, exits: [5])
    case .unloggedManifest:
      Facts(
        "a good manifest that is not in the log, from another directory", on: .manifest,
        taking: .from, exits: [3, 4, 5])
    case .reusedVersion:
      Facts(
        "a signed manifest that gives the version another root, from another directory",
        on: .manifest, taking: .from, exits: [3, 4, 5])
    case .olderCheckpoint:
      Facts("an older checkpoint, from another directory", on: .checkpoint, taking: .from)
    case .forkedLog:
      Facts(
        "a log of the same size with another root, from another directory", on: .checkpoint,
        .tile, .entries, taking: .from, exits: [3, 4, 5])
    case .longerFork:
      Facts(
        "a longer log that is no extension, from another directory", on: .checkpoint, .tile,
        .entries, taking: .from, exits: [3, 4, 5])
    case .garbageLogTiles:
      Facts("garbage for the tiles of the log", on: .logTile, exits: [4])
    case .junkOnCheckpoint:
      Facts("a junk signature line on the checkpoint, which is fine", on: .checkpoint)
    case .checkpointBehind:
      Facts(
        "a checkpoint that is behind the manifest, from another directory", on: .checkpoint,
        taking: .from, exits: [4])
    case .oneHashMore: Facts("a tile with one hash more", on: .blockTile, exits: [3, 4])
    case .oneHashFewer: Facts("a tile with one hash fewer", on: .blockTile, exits: [3, 4])
    case .swappedHashes: Facts("a tile with two hashes swapped", on: .blockTile, exits: [4])
    case .shiftedHashes:
      Facts("a tile with its hashes moved on by one", on: .blockTile, exits: [4])
    case .doubledHash:
      Facts("a tile whose last hash stands there twice", on: .blockTile, exits: [4])
    case .randomTile: Facts("a tile of random hashes", on: .blockTile, exits: [4])
    case .forgedBlocks:
      Facts(
        "wrong blocks, and tiles that say that they are right", on: .data, .blockTile, exits: [4])
    }
  }

  /// What `serve --list-faults` prints.
  package static var list: String {
    let width = (allCases.map(\.rawValue.count).max() ?? 0) + 2
    return allCases.map { fault in
      let facts = fault.facts
      let arguments = facts.arguments.map { "\($0.rawValue)=" }.joined(separator: " ")
      return fault.rawValue + String(repeating: " ", count: width - fault.rawValue.count)
        + facts.summary + (arguments.isEmpty ? "" : " [\(arguments)]")
    }.joined(separator: "\n")
  }
}
