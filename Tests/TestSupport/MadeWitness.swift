import Crypto
import Failure
import SignedNote

/// The key of a witness, which cosigns whatever it is shown (C2SP tlog-cosignature, `cosignature/v1`).
package struct MadeWitness: Sendable {
  package let key: NoteKey
  private let seed: [UInt8]

  package init(_ name: String, seed: [UInt8] = SecureRandom.bytes(32)) {
    self.seed = seed
    guard
      let key = NoteKey(
        name: name, algorithm: .cosignature, publicKey: Ed25519.publicKey(seed: seed))
    else { preconditionFailure("TestSupport: no name of a key") }
    self.key = key
  }

  /// The line to add to a checkpoint.
  package func line(_ checkpoint: Checkpoint, at time: Int64) -> [UInt8] {
    let time = UInt64(bitPattern: time)
    let message = Array("cosignature/v1\ntime \(time)\n\(checkpoint.text)".utf8)
    func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }
    let bytes =
      bigEndian(UInt64(key.id), 4) + bigEndian(time, 8) + Ed25519.sign(message, seed: seed)
    return Array("\u{2014} \(key.name) \(Base64.encode(bytes))\n".utf8)
  }
}
