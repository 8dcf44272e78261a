import CLibcrypto

/// Bytes that are wiped when nobody needs them any more: a password, or a key as text.
///
/// Described and mirrored as nothing, so that they do not get into a message, a log or a dump by
/// accident.
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  // Unchecked: written before the object is shared, and never again.
  private let memory: UnsafeMutableRawBufferPointer

  /// Takes the bytes over: the array is wiped and empty afterwards.
  public init(taking bytes: inout [UInt8]) {
    memory = .allocate(byteCount: max(1, bytes.count), alignment: 1)
    count = bytes.count
    bytes.withUnsafeMutableBytes { source in
      if count > 0 { memory.copyMemory(from: UnsafeRawBufferPointer(source)) }
      OPENSSL_cleanse(source.baseAddress, source.count)
    }
    bytes = []
  }

  init(copying bytes: UnsafeRawBufferPointer) {
    memory = .allocate(byteCount: max(1, bytes.count), alignment: 1)
    count = bytes.count
    if count > 0 { memory.copyMemory(from: bytes) }
  }

  /// No bytes at all: an empty password.
  public convenience init() {
    var none: [UInt8] = []
    self.init(taking: &none)
  }

  deinit {
    OPENSSL_cleanse(memory.baseAddress, memory.count)
    memory.deallocate()
  }

  public let count: Int

  public var isEmpty: Bool { count == 0 }

  /// Lends the bytes, which stay where they are for as long as this object lives.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
  }

  public func isSame(as other: SecretBytes) -> Bool {
    withBytes { one in
      other.withBytes { other in
        one.count == other.count
          && CRYPTO_memcmp(one.baseAddress, other.baseAddress, one.count) == 0
      }
    }
  }

  public var description: String { "\(count) secret bytes" }

  public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}

extension SecretBytes {
  /// The same characters in Latin-1 if these bytes are UTF-8, and in UTF-8 if they are not; nil if that
  /// is no different, or cannot be written.
  var otherSpelling: SecretBytes? {
    var other: [UInt8] = []
    other.reserveCapacity(2 * count)
    let isWritable = withBytes { bytes in
      var decoder = UTF8()
      var source = bytes.makeIterator()
      while true {
        switch decoder.decode(&source) {
        case .scalarValue(let scalar):
          guard let byte = UInt8(exactly: scalar.value) else { return false }
          other.append(byte)
        case .emptyInput: return other.count < bytes.count
        case .error:
          other.removeAll(keepingCapacity: true)
          for byte in bytes { other += Character(Unicode.Scalar(byte)).utf8 }
          return true
        }
      }
    }
    let spelled = SecretBytes(taking: &other)
    return isWritable ? spelled : nil
  }
}
