@testable import ReleaseLog

extension FuzzTarget {
  /// A bundle gives exactly the entries that its bytes hold, as many as were asked for.
  static let entryBundle = FuzzTarget("entry-bundle") { bytes in
    var reader = InputReader(bytes)
    let width = Int(reader.byte()) + 1
    let content = Array(reader.rest)
    let bundle = try? EntryBundle(content, width: width)
    let entries = entries(content)
    expect((bundle != nil) == (entries.map { $0.count >= width } == true), "read or refused")
    guard let bundle else { return }
    expect(bundle.entries.elementsEqual(entries?.prefix(width) ?? []), "other entries")
    expect(content.starts(with: bundle.bytes), "another bundle")
  }

  /// The slow way: cuts one entry off after the other; nil if they do not come out.
  private static func entries(_ bytes: [UInt8]) -> [[UInt8]]? {
    var (entries, start) = ([[UInt8]](), 0)
    while start < bytes.count {
      guard start + 1 < bytes.count else { return nil }
      let end = start + 2 + 256 * Int(bytes[start]) + Int(bytes[start + 1])
      guard end <= bytes.count else { return nil }
      entries.append(Array(bytes[start + 2..<end]))
      start = end
    }
    return entries.count <= 256 ? entries : nil
  }
}
