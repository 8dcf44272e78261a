extension Fault {
  /// Spoils an answer.
  ///
  /// - Returns: whether it changed anything; some faults need a range, a body or a certain file.
  func bend(_ answer: inout WireAnswer, _ context: inout FaultContext) -> Bool {
    switch self {
    case .wholeFile: answer.sendWhole(context)
    // A window as long as it should be, or where the file has no room for that, a shorter one.
    case .earlierWindow: answer.moveWindow(-1, -1, context) || answer.moveWindow(0, -1, context)
    case .laterWindow: answer.moveWindow(1, 1, context) || answer.moveWindow(1, 0, context)
    case .longerWindow:
      answer.moveWindow(0, 1, context) || answer.moveWindow(-1, 0, context)
        || answer.sendMore(context)
    case .noContentRange: answer.changeContentRange(context) { _, _ in nil }
    case .severalRanges: answer.sendAsMultipart(&context)
    case .wrongTotal:
      answer.changeContentRange(context) { range, size in
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size + 1)"
      }
    case .spelledUnit:
      answer.changeContentRange(context) { range, size in
        "Bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
      }
    case .unknownTotal:
      answer.changeContentRange(context) { range, _ in
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/*"
      }
    case .refusedBeyondEnd: context.asksBeyondEnd && answer.refuseRange(context)
    case .wholeBeyondEnd: context.asksBeyondEnd && answer.sendWhole(context)

    case .flippedBit: answer.flipBit(&context)
    case .shiftedWindow: answer.shiftBytes(&context)
    case .otherBytes: answer.make(context.noise)
    case .zeroBytes: answer.make(.zeros)
    case .replacedFile: answer.make(context.noise) && answer.renew(context)
    case .changingTag: answer.changeTag { _ in "\"\(context.draw.next())\"" }
    case .weakTag: answer.changeTag { $0.hasPrefix("W/") ? $0 : "W/" + $0 }
    case .noTag: answer.changeTag { _ in nil }
    case .previousFile, .previousManifest, .foreignManifest, .unloggedManifest, .reusedVersion,
      .olderCheckpoint, .forkedLog, .longerFork, .checkpointBehind:
      answer.replaceFile(context)

    case .statusWithBlock: answer.bodyCount > 0 && answer.spoilStatus(&context)
    case .statusWithoutBody: answer.spoilStatus(&context) && answer.drop()
    case .page: answer.becomePage()
    case .gzip: answer.add("Content-Encoding", "gzip")
    case .identityCoding: answer.add("Content-Encoding", "identity")
    case .hugeField: answer.add("X-Padding", String(repeating: "a", count: 1 << 20))
    case .manyFields: answer.addFields(10_000)
    case .impossibleLength:
      answer.add("Content-Length", "99999999999999999999") && answer.end(.close)
    case .endlessBody: answer.goOnForEver(context.noise)
    case .unfinishedChunks:
      answer.makeChunked(keepsLength: false, isFinished: false) && answer.end(.close)
    case .chunksAndLength: answer.makeChunked(keepsLength: true, isFinished: true)
    case .chunks: answer.makeChunked(keepsLength: false, isFinished: true)
    case .slowDown: answer.slowDown(&context)
    case .redirectToHost:
      answer.redirect(to: (context.rule.arguments[.to] ?? context.otherHost) + context.head.path)
    case .redirectToScheme: answer.redirect(to: "ftp://127.0.0.1" + context.head.path)
    case .redirectLoop: answer.redirect(to: context.head.path)

    case .cutBody: answer.cut(&context, .close)
    case .silentBody: answer.cut(&context, .hold(context.time(WireAnswer.patience)))
    case .resetInBody: answer.cut(&context, .reset)
    case .silentAnswer: answer.say(nothing: .hold(context.time(WireAnswer.patience)))
    case .closedUnanswered: answer.say(nothing: context.draw.chance(0.5) ? .close : .reset)
    case .closedBetween: answer.ending == .keep && answer.end(.close)
    case .trickle: answer.trickle(every: context.time(2))
    case .steady: answer.slow(to: context.rate ?? 65_536)

    case .noteReturns: answer.spoilBytes(context) { bytes in WireNote.withReturns(bytes) }
    case .noteMark: answer.spoilBytes(context) { [0xef, 0xbb, 0xbf] + $0 }
    case .noteTab: answer.spoilBytes(context) { WireNote.withTab($0) }
    case .noteUnterminated: answer.spoilBytes(context) { Array($0.dropLast()) }
    case .noteBlankLine: answer.spoilNote(context) { $0.lines.insert("", at: 1) }
    case .noteOrder: answer.spoilNote(context) { $0.lines.swapAt(0, 1) }
    case .noteTwice: answer.spoilNote(context) { $0.lines.insert($0.lines[1], at: 1) }
    case .noteNumber: answer.spoilNote(context) { $0.padSize() }
    case .unknownSignature, .junkOnCheckpoint:
      answer.spoilNote(context) { $0.signatures.insert(WireNote.junk(&context.draw), at: 0) }
    case .manySignatures: answer.spoilNote(context) { $0.fill(to: 101, &context.draw) }
    case .brokenSignature: answer.spoilNote(context) { $0.changeSignatures { $0[20] ^= 1 } }
    case .wrongKeyID: answer.spoilNote(context) { $0.changeSignatures { $0[0] ^= 1 } }
    case .otherAlphabet: answer.spoilNote(context) { $0.endSignatures("_=") }
    // 68 bytes are 91 characters, of which the last holds two bits that mean nothing, and a pad.
    case .looseBits: answer.spoilNote(context) { $0.endSignatures("B=") }

    case .oneHashMore: answer.spoilTile(context) { $0.append($0[0]) }
    case .oneHashFewer: answer.spoilTile(context) { $0.removeLast() }
    case .swappedHashes:
      answer.spoilTile(context) { hashes in
        if hashes.count > 1 { hashes.swapAt(hashes.count - 2, hashes.count - 1) }
      }
    case .shiftedHashes: answer.spoilTile(context) { $0.insert($0.removeLast(), at: 0) }
    case .doubledHash:
      answer.spoilTile(context) { hashes in
        if hashes.count > 1 { hashes[hashes.count - 1] = hashes[hashes.count - 2] }
      }
    case .randomTile, .garbageLogTiles:
      answer.spoilBytes(context) { context.noise.bytes(0..<Int64($0.count)) }
    case .forgedBlocks: answer.forge(context)

    // Done to connections, before there is a request.
    case .dead: false
    }
  }
}
