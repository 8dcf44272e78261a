import System

/// Right headers with wrong bytes, and validators that say nothing. Each says whether it changed
/// anything.
extension WireAnswer {
  /// The file and the window of it that the right answer sends; nil if it sends something else.
  private var window: (file: Descriptor, range: Range<Int64>)? {
    guard body.count == 1, case .file(let file, let range)? = body.first, !range.isEmpty else {
      return nil
    }
    return (file, range)
  }

  mutating func flipBit(_ context: inout FaultContext) -> Bool {
    guard let (file, range) = window else { return false }
    let at = range.lowerBound + context.draw.below(Int64(range.count))
    guard let byte = file.bytes(at..<at + 1)?.first else { return false }
    body = [
      .file(file, range.lowerBound..<at), .bytes([byte ^ 1 << UInt8(context.draw.below(8))]),
      .file(file, at + 1..<range.upperBound),
    ]
    return true
  }

  mutating func shiftBytes(_ context: inout FaultContext) -> Bool {
    guard let (file, range) = window, let size = context.file?.size else { return false }
    let (before, behind) = (min(4_096, range.lowerBound), min(4_096, size - range.upperBound))
    if max(before, behind) > 0 {
      let step = behind > 0 ? context.draw.number(1...behind) : -context.draw.number(1...before)
      body = [.file(file, range.lowerBound + step..<range.upperBound + step)]
    } else {
      // All of it was asked for: it begins somewhere inside, and goes round.
      guard size > 1 else { return false }
      let step = context.draw.number(1...size - 1)
      body = [.file(file, step..<size), .file(file, 0..<step)]
    }
    return true
  }

  /// Other bytes, as many.
  mutating func make(_ made: MadeBytes) -> Bool {
    guard let (_, range) = window else { return false }
    body = [.made(made, range)]
    return true
  }

  /// The validators of a file that is another one.
  mutating func renew(_ context: FaultContext) -> Bool {
    self["ETag"] = "\"replaced\""
    self["Last-Modified"] = context.file.map { HTTPDate.text($0.status.modified.seconds + 1) }
    return true
  }

  /// Without a tag there is no date either.
  mutating func changeTag(_ change: (String) -> String?) -> Bool {
    guard let tag = self["ETag"] else { return false }
    let changed = change(tag)
    self["ETag"] = changed
    if changed == nil { self["Last-Modified"] = nil }
    return changed != tag
  }

  /// The file of the same path from another directory, as if it stood here.
  mutating func replaceFile(_ context: FaultContext) -> Bool {
    guard let other = context.alternative() else { return false }
    let date = self["Date"]
    let now = other.status.modified.seconds
    self = WireAnswer(Answer(to: context.head, with: other, now: now), now: now)
    self["Date"] = date
    return true
  }
}
