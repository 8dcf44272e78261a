import Failure
import Manifest
@testable import SignedNote

extension FuzzTarget {
  /// A note is taken apart in one way only, and verifies exactly if a key of ours signed its text.
  static let signedNote = FuzzTarget("signed-note") { bytes in
    guard let note = try? SignedNote(bytes) else { return }
    let lines = note.signatures.map(\.line)
    expect((1...100).contains(lines.count), "\(lines.count) signatures")
    expect(Array((note.text + "\n" + lines.joined()).utf8) == bytes, "another note")
    _ = note.unverifiedKeys

    let key = FuzzKeys.note
    let own = note.signatures.filter { $0.id == key.key.id && areSame($0.name, key.key.name) }
    let good = key.signatureLine(text: note.text)
    let isGood = own.count == 1 && own[0].line == good
    let result = Result { () throws(FetchFailure) in try note.verify([key.key]) }
    switch result {
    case .success(let verified):
      // Ed25519 signatures have one form, so that the one we would make is the only good one.
      expect(isGood, "a signature that we did not make")
      expect(areSame(verified.lines.map { $0 + "\n" }.joined(), note.text), "other lines")
    case .failure(let failure):
      let category: FailureCategory =
        own.isEmpty ? .unknownKey : own.count > 1 ? .noteMalformed : .badSignature
      expect(!isGood && failure.category == category, "\(failure)")
    }
    // One more line by a key that signed it makes any note good, whoever else signed.
    guard own.isEmpty, lines.count < 100 else { return }
    let signed = try? SignedNote(bytes + Array(good.utf8)).verify([key.key])
    expect(signed?.text == note.text, "a good signature among others")
  }

  /// The manifest that a note holds says what its text says, and nothing else.
  static let manifest = FuzzTarget("manifest") { bytes in
    if let manifest = try? Manifest(selfSigned: bytes) {
      expect(bytes.starts(with: Array(manifest.text.utf8)), "another manifest")
    }
    guard let text = text(bytes), parses(text, Manifest.init),
      let note = try? SignedNote(SignedNote.sign(text: text, keys: [FuzzKeys.manifest]))
    else { return }
    let verified = try? note.verify([FuzzKeys.manifest.key])
    guard let manifest = verified.flatMap({ try? Manifest($0) }) else {
      // It names another key.
      return expect(verified?.text == text, "a note that we signed does not verify")
    }
    expect(areSame(manifest.text, text), "another manifest")
    expect(bytes.count <= Manifest.maximumByteCount, "too long")
    expect(manifest.layout.count <= 1 << 27 && manifest.since <= manifest.release, "bounds")
    for name in [manifest.version, manifest.file] {
      expect(!name.isEmpty && !name.hasPrefix(".") && !name.contains("/"), "the name '\(name)'")
    }
    expect(manifest.key == FuzzKeys.manifest.key, "a key that did not sign")
    let path = SitePaths.urlPath(SitePaths.file(manifest.version, manifest.file))
    expect(path.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "the path '\(path)'")
  }

  /// A checkpoint says what its text says, and nothing else.
  static let checkpoint = FuzzTarget("checkpoint") { bytes in
    guard let text = text(bytes), let checkpoint = try? Checkpoint(unsigned(text)) else { return }
    expect(areSame(checkpoint.text, text), "another checkpoint")
    expect(checkpoint.size >= 0, "bounds")
  }

  private static func text(_ bytes: [UInt8]) -> String? {
    guard bytes.last == UInt8(ascii: "\n") else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// What stands for a verified note, since signing each input would leave time for few of them.
  private static func unsigned(_ text: String) throws(FetchFailure) -> VerifiedNote {
    let key = FuzzKeys.manifest.key
    let line = NoteSignature(name: key.name, id: key.id, bytes: [UInt8](repeating: 0, count: 64))
    return VerifiedNote(note: try SignedNote(Array("\(text)\n\(line.line)".utf8)), signers: [key])
  }

  /// Whether nothing but the signature is wrong.
  private static func parses<Value>(
    _ text: String, _ parse: (VerifiedNote) throws(FetchFailure) -> Value
  ) -> Bool {
    do throws(FetchFailure) {
      _ = try parse(try unsigned(text))
      fatalError("Fuzz: a manifest without a good signature")
    } catch { return error.category == .badSignature }
  }
}
