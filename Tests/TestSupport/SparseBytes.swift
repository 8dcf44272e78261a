/// The content of a file in pages; a page that was never written is a hole and costs nothing.
struct SparseBytes: Sendable {
  static let pageSize: Int64 = 4_096

  private(set) var size: Int64 = 0
  private var pages: [Int64: [UInt8]] = [:]
  /// Pages that space was set aside for, and that read as a hole still.
  private var reserved = RangeSet<Int64>()

  /// How many pages the file takes from the disk.
  var pageCount: Int64 {
    reserved.ranges.reduce(Int64(pages.count)) { $0 + Int64($1.count) }
  }

  /// How many bytes from `range.lowerBound` on can be written when the disk has `free` pages left.
  func bytesThatFit(_ range: Range<Int64>, free: Int64) -> Int64 {
    var free = free
    for index in Self.pagesTouched(by: range) where !isBacked(index) {
      if free < 1 { return max(0, index * Self.pageSize - range.lowerBound) }
      free -= 1
    }
    return range.upperBound - range.lowerBound
  }

  /// How many more pages `reserve` would take.
  func pagesMissing(in range: Range<Int64>) -> Int64 {
    let touched = Self.pagesTouched(by: range)
    var set = RangeSet(touched)
    for held in reserved.ranges { set.remove(contentsOf: held) }
    let free = set.ranges.reduce(Int64(0)) { $0 + Int64($1.count) }
    return free - Int64(pages.keys.lazy.filter { touched.contains($0) }.count)
  }

  /// The number of bytes read: fewer than the buffer holds only at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    let count = min(Int64(buffer.count), size - offset)
    guard count > 0 else { return 0 }
    for (page, within, position, length) in Self.pieces(offset..<(offset + count)) {
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[position..<(position + length)])
      if let bytes = pages[page] {
        target.copyBytes(from: bytes[within..<(within + length)])
      } else {
        target.initializeMemory(as: UInt8.self, repeating: 0)
      }
    }
    return Int(count)
  }

  mutating func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
    guard !bytes.isEmpty else { return }
    let end = offset + Int64(bytes.count)
    for (page, within, position, length) in Self.pieces(offset..<end) {
      let start = bytes.startIndex + position
      pages[page, default: Self.zeros].replaceSubrange(
        within..<(within + length), with: bytes[start..<(start + length)])
      reserved.remove(contentsOf: page..<(page + 1))
    }
    size = max(size, end)
  }

  mutating func truncate(to newSize: Int64) {
    if newSize < size {
      let kept = (newSize + Self.pageSize - 1) / Self.pageSize
      clear(newSize..<(kept * Self.pageSize))
      pages = pages.filter { $0.key < kept }
      reserved.remove(contentsOf: kept..<Int64.max)
    }
    size = newSize
  }

  /// Sets space aside without changing the size.
  mutating func reserve(_ range: Range<Int64>) {
    let touched = Self.pagesTouched(by: range)
    reserved.insert(contentsOf: touched)
    for page in pages.keys where touched.contains(page) {
      reserved.remove(contentsOf: page..<(page + 1))
    }
  }

  /// Makes the range read as zeros, and a hole where it covers whole pages; the size stays.
  mutating func punch(_ range: Range<Int64>) {
    let first = (range.lowerBound + Self.pageSize - 1) / Self.pageSize
    let end = range.upperBound / Self.pageSize
    guard first < end else { return clear(range) }
    clear(range.lowerBound..<(first * Self.pageSize))
    clear((end * Self.pageSize)..<range.upperBound)
    pages = pages.filter { !(first..<end).contains($0.key) }
    reserved.remove(contentsOf: first..<end)
  }

  /// The first run of pages with data at or behind `offset`; nil if only a hole follows.
  func nextData(from offset: Int64) -> Range<Int64>? {
    guard offset >= 0, offset < size else { return nil }
    let here = offset / Self.pageSize
    var page = here
    if pages[here] == nil {
      guard let next = pages.keys.lazy.filter({ $0 > here }).min() else { return nil }
      page = next
    }
    let start = max(offset, page * Self.pageSize)
    while pages[page] != nil { page += 1 }
    let end = min(size, page * Self.pageSize)
    return start < end ? start..<end : nil
  }

  /// Takes the content of `source`; what this file has behind its end stays.
  mutating func share(_ source: SparseBytes) {
    let covered = Self.pagesTouched(by: 0..<source.size)
    pages = pages.filter { !covered.contains($0.key) }
    reserved.remove(contentsOf: covered)
    for (page, bytes) in source.pages where covered.contains(page) { pages[page] = bytes }
    size = max(size, source.size)
  }

  // MARK: Pages

  private static let zeros = [UInt8](repeating: 0, count: Int(pageSize))

  private func isBacked(_ page: Int64) -> Bool { pages[page] != nil || reserved.contains(page) }

  private static func pagesTouched(by range: Range<Int64>) -> Range<Int64> {
    if range.isEmpty { return 0..<0 }
    return (range.lowerBound / pageSize)..<((range.upperBound - 1) / pageSize + 1)
  }

  /// Writes zeros over what data there is in a range.
  private mutating func clear(_ range: Range<Int64>) {
    for (page, within, _, length) in Self.pieces(range) where pages[page] != nil {
      pages[page]!.replaceSubrange(
        within..<(within + length), with: repeatElement(0, count: length))
    }
  }

  /// A range, cut at the page bounds: the page, where in it, where in the range, how many bytes.
  private static func pieces(
    _ range: Range<Int64>
  ) -> some Sequence<(page: Int64, within: Int, position: Int, length: Int)> {
    pagesTouched(by: range).lazy.map { page in
      let start = max(range.lowerBound, page * pageSize)
      let end = min(range.upperBound, (page + 1) * pageSize)
      return (
        page, Int(start - page * pageSize), Int(start - range.lowerBound), Int(end - start)
      )
    }
  }
}
