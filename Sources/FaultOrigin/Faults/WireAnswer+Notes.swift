/// Manifests and checkpoints with a byte here and there that should not be. Each says whether it
/// changed anything.
extension WireAnswer {
  mutating func spoilBytes(_ context: FaultContext, _ change: ([UInt8]) -> [UInt8]?) -> Bool {
    guard let bytes = context.bytes(of: context.file), !bytes.isEmpty, let spoilt = change(bytes),
      spoilt != bytes
    else { return false }
    replaceBody([.bytes(spoilt)])
    return true
  }

  mutating func spoilNote(_ context: FaultContext, _ change: (inout WireNote) -> Void) -> Bool {
    spoilBytes(context) { bytes in
      guard var note = WireNote(bytes), note.lines.count > 1 else { return nil }
      change(&note)
      return note.bytes
    }
  }
}
