#if os(Linux)
  extension BootIdentity {
    /// This boot, as the kernel names it; nil where `/proc` is not there.
    package static func current() -> BootIdentity? {
      guard let file = try? Descriptor.open("/proc/sys/kernel/random/boot_id", Descriptor.readOnly)
      else { return nil }
      var text = [UInt8](repeating: 0, count: 64)
      let count = text.withUnsafeMutableBytes { try? file.read(into: $0, at: 0) }
      let digits = text.prefix(count ?? 0).filter { $0 != UInt8(ascii: "-") }.compactMap {
        Character(UnicodeScalar($0)).hexDigitValue.map { UInt8($0) }
      }
      guard digits.count == 2 * byteCount else { return nil }
      return BootIdentity(
        (0..<byteCount).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
    }
  }
#endif
