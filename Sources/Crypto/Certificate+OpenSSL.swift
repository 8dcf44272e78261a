import CLibcrypto
import Failure

/// An X.509 certificate as far as it is shown and sent: nothing here judges whether it is trusted.
public struct Certificate: Sendable, Hashable {
  public let der: [UInt8]
  public let subject: String
  public let issuer: String
  public let notBefore: UTCDate
  public let notAfter: UTCDate
  /// Whether it names itself as its issuer, as roots do.
  public let isSelfIssued: Bool

  /// Nil unless the bytes are one certificate and nothing else.
  public init?(der bytes: [UInt8]) {
    guard let handle = Self.decode(bytes) else { return nil }
    defer { X509_free(handle) }
    self.init(handle)
  }

  init?(_ handle: OpaquePointer) {
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = OpenSSL.call { i2d_X509(handle, &encoded) }
    guard count > 0, let encoded else { return nil }
    defer { CRYPTO_free(encoded, nil, 0) }
    der = Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    guard let subject = X509_get_subject_name(handle), let issuer = X509_get_issuer_name(handle),
      let begin = Self.date(X509_get0_notBefore(handle)),
      let end = Self.date(X509_get0_notAfter(handle))
    else { return nil }
    self.subject = Self.text(subject)
    self.issuer = Self.text(issuer)
    isSelfIssued = X509_NAME_cmp(subject, issuer) == 0
    (notBefore, notAfter) = (begin, end)
  }

  public var pem: String {
    let lines = stride(from: 0, to: der.count, by: 48).map {
      Base64.encode(der[$0..<min(der.count, $0 + 48)]) + "\n"
    }
    return "-----BEGIN CERTIFICATE-----\n\(lines.joined())-----END CERTIFICATE-----\n"
  }

  /// Whether `key` is the one that this certificate is about.
  public func belongs(to key: PrivateKey) -> Bool {
    guard let handle = Self.decode(der) else { return false }
    defer { X509_free(handle) }
    return OpenSSL.call { X509_check_private_key(handle, key.handle) } == 1
  }

  /// Whether this is, by names and key identifiers, the certificate of the issuer of `other`.
  public func isIssuer(of other: Certificate) -> Bool {
    guard let handle = Self.decode(der), let subject = Self.decode(other.der) else { return false }
    defer {
      X509_free(handle)
      X509_free(subject)
    }
    return OpenSSL.call { X509_check_issued(handle, subject) } == X509_V_OK
  }

  private static func decode(_ bytes: [UInt8]) -> OpaquePointer? {
    bytes.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      guard let handle = OpenSSL.call({ d2i_X509(nil, &cursor, buffer.count) }) else { return nil }
      guard cursor == buffer.baseAddress.map({ $0 + buffer.count }) else {
        X509_free(handle)
        return nil
      }
      return handle
    }
  }

  private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> UTCDate? {
    var seconds: Int64 = 0
    guard fetchres_time_seconds(time, &seconds) else { return nil }
    return UTCDate(seconds: seconds)
  }

  /// On one line, other scripts as they are, control characters escaped.
  private static func text(_ name: OpaquePointer) -> String {
    let text = OpenSSL.written { stream in
      OpenSSL.call { fetchres_print_name(stream, name) }
    }
    return text?.withBytes { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
