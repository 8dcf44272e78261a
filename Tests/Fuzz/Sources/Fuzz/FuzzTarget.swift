/// One reader of bytes that somebody else may have written, and what has to hold for all of them.
struct FuzzTarget: Sendable {
  /// The name on the command line and of the folder of its corpus.
  let name: String
  /// Traps where the promise is broken.
  let run: @Sendable ([UInt8]) -> Void

  init(_ name: String, _ run: @escaping @Sendable ([UInt8]) -> Void) {
    (self.name, self.run) = (name, run)
  }

  static let all: [FuzzTarget] = [
    .texts, .keyText, .signedNote, .manifest, .checkpoint, .entryBundle, .tilePath, .tiles,
    .inclusionProof, .consistencyProof, .responseHead, .contentRange, .url, .journal, .marker,
    .ladderRecord, .logState, .evidence, .trust, .faultPlan, .requestHead,
    .configuration, .torReply,
  ]
}

/// Ends the process, so that the fuzzer keeps the input.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("Fuzz: \(what())") }
}

/// Whether two texts are the same bytes: String's own comparison takes more as equal.
func areSame(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
  one.utf8.elementsEqual(other.utf8)
}
