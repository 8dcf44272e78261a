import Glibc

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let mine = baseAddress, let theirs = other.baseAddress else { return true }
    return memcmp(mine, theirs, count) == 0
  }
}
