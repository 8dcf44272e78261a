/// Something that an origin can do wrong: the id of a row of the catalogue, and a variant of it.
package enum Fault: String, Sendable, CaseIterable {
  // Answers to a request for a range.
  case wholeFile = "F01"
  case earlierWindow = "F02:earlier"
  case laterWindow = "F02:later"
  case longerWindow = "F02:longer"
  case noContentRange = "F02:missing"
  case severalRanges = "F02:multipart"
  case wrongTotal = "F02:total"
  case spelledUnit = "F03:unit"
  case unknownTotal = "F03:star"
  case cutBody = "F04"
  case flippedBit = "F05:bit"
  case shiftedWindow = "F05:shift"
  case otherBytes = "F05:other"
  case zeroBytes = "F05:zeros"
  case statusWithBlock = "F06:body"
  case statusWithoutBody = "F06:empty"
  case page = "F07"
  case gzip = "F08:gzip"
  case identityCoding = "F08:identity"
  case refusedBeyondEnd = "F09:refuse"
  case wholeBeyondEnd = "F09:whole"
  case replacedFile = "F10:replaced"
  case previousFile = "F10:previous"
  case changingTag = "F10:etag"
  case weakTag = "F10:weak"
  case noTag = "F10:none"
  case hugeField = "F11:field"
  case manyFields = "F11:fields"
  case impossibleLength = "F11:length"
  case endlessBody = "F11:endless"
  case unfinishedChunks = "F12:unfinished"
  case chunksAndLength = "F12:both"
  case chunks = "F12:chunked"

  // Connections and time.
  case silentBody = "F13:silence"
  case silentAnswer = "F13:accept"
  case trickle = "F13:trickle"
  case steady = "F13:steady"
  case resetInBody = "F14:reset"
  case closedUnanswered = "F14:early"
  case closedBetween = "F14:between"
  case slowDown = "F16"
  case dead = "F18"
  case redirectToHost = "F20:host"
  case redirectToScheme = "F20:scheme"
  case redirectLoop = "F20:loop"

  // Manifests and the release log.
  case noteReturns = "F30:crlf"
  case noteMark = "F30:bom"
  case noteTab = "F30:tab"
  case noteUnterminated = "F30:unterminated"
  case noteBlankLine = "F30:blank"
  case noteOrder = "F30:order"
  case noteTwice = "F30:twice"
  case noteNumber = "F30:number"
  case unknownSignature = "F31:junk"
  case brokenSignature = "F31:broken"
  case wrongKeyID = "F31:id"
  case manySignatures = "F31:many"
  case otherAlphabet = "F31:alphabet"
  case looseBits = "F31:loose"
  case previousManifest = "F32:previous"
  case foreignManifest = "F32:foreign"
  case unloggedManifest = "F32:unlogged"
  case reusedVersion = "F32:reused"
  case olderCheckpoint = "F33"
  case forkedLog = "F34:same"
  case longerFork = "F34:longer"
  case garbageLogTiles = "F35:tiles"
  case junkOnCheckpoint = "F35:junk"
  case checkpointBehind = "F35:behind"

  // Tiles.
  case oneHashMore = "F37:more"
  case oneHashFewer = "F37:fewer"
  case swappedHashes = "F37:swapped"
  case shiftedHashes = "F37:shifted"
  case doubledHash = "F37:doubled"
  case randomTile = "F38"
  case forgedBlocks = "F38:forged"

  /// The row of the catalogue, as `F05`.
  package var row: String { String(rawValue.prefix { $0 != ":" }) }
}

/// What a rule may say more about a fault, as `bytes=1000`.
package enum FaultArgument: String, Sendable, CaseIterable {
  case bytes
  case status
  case retryAfter = "retry-after"
  case time
  case rate
  case from
  case to
}
