import Crypto
import Failure
import Transport

/// A client certificate as it is kept: names, hosts, the key plain or encrypted, the chain.
package struct StoredIdentity: Sendable {
  package var name: String
  /// `host` or `host:port`: where it is used without being asked for.
  package var hosts: [String]
  package var key: Key
  /// That of the key first, then its issuers upwards.
  package var chain: [Certificate]

  package enum Key: Sendable {
    /// PKCS#8 in PEM.
    case plain(SecretBytes)
    /// Encrypted PKCS#8 in PEM.
    case encrypted(String)
  }

  /// 1 to 64 of `A-Z a-z 0-9 . _ -`, not beginning with `.` or `-`: a file is named by it.
  package static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    return (1...64).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
      && bytes.first != UInt8(ascii: "-")
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// A host, with or without a port, in the form in which it is compared; nil if it is none.
  package static func host(_ text: String) -> String? {
    guard !text.contains(where: { "/@?#".contains($0) }), let url = try? WebURL("https://\(text)/")
    else { return nil }
    return text.lowercased() == url.host ? url.host : "\(url.host):\(url.port)"
  }

  func isFor(_ url: WebURL) -> Bool {
    url.scheme == "https" && (hosts.contains(url.host) || hosts.contains("\(url.host):\(url.port)"))
  }

  package var isEncrypted: Bool {
    switch key {
    case .plain: false
    case .encrypted: true
    }
  }
}

/// The record: lines, then PEM texts that the `openssl` command reads too, then a checksum, so that a
/// damaged record is not taken for a wrong password.
///
///     fetchres identity v1
///     name me
///     host data.example.org               (0 to 64)
///     -----BEGIN ENCRYPTED PRIVATE KEY-----
///     …
///     -----BEGIN CERTIFICATE-----         (1 to 16)
///     …
///     sha256 <64 hex digits of all that stands above>
extension StoredIdentity {
  static let maximumByteCount = 256 << 10
  static let maximumHosts = 64
  static let maximumChain = 16

  private static let firstLine = "fetchres identity v1\n"
  private static let plainLabel = "PRIVATE KEY"
  private static let sealedLabel = "ENCRYPTED PRIVATE KEY"
  private static let certificateLabel = "CERTIFICATE"

  /// The bytes to store, secret ones among them if the key is plain.
  var record: SecretBytes {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.maximumByteCount)
    bytes += Self.firstLine.utf8
    bytes += "name \(name)\n".utf8
    for host in hosts { bytes += "host \(host)\n".utf8 }
    switch key {
    case .plain(let text): text.withBytes { bytes.append(contentsOf: $0) }
    case .encrypted(let text): bytes += text.utf8
    }
    for certificate in chain { bytes += certificate.pem.utf8 }
    bytes += "sha256 \(SHA256.digest(bytes))\n".utf8
    return SecretBytes(taking: &bytes)
  }

  /// Nil unless the bytes are a whole record of that name.
  init?(_ record: SecretBytes, name: String) {
    var reader = RecordReader(record.withBytes { Array($0) })
    defer { reader.wipe() }
    guard reader.checkDigest(), reader.take(Self.firstLine), reader.take("name \(name)\n") else {
      return nil
    }
    self.name = name
    hosts = []
    while let host = reader.takeLine(after: "host ") {
      guard Self.host(host) == host, hosts.count < Self.maximumHosts else { return nil }
      hosts.append(host)
    }
    if let sealed = reader.takePEM(Self.sealedLabel) {
      key = .encrypted(String(decoding: sealed, as: UTF8.self))
    } else if var plain = reader.takePEM(Self.plainLabel) {
      key = .plain(SecretBytes(taking: &plain))
    } else {
      return nil
    }
    chain = []
    while let text = reader.takePEM(Self.certificateLabel) {
      let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
      guard let der = Base64.decode(lines.dropFirst().dropLast().joined()),
        let certificate = Certificate(der: der), chain.count < Self.maximumChain
      else { return nil }
      chain.append(certificate)
    }
    guard !chain.isEmpty, reader.isAtEnd else { return nil }
  }
}

/// Takes a record apart from its beginning.
private struct RecordReader {
  private var bytes: [UInt8]
  private var position = 0
  private var end: Int

  private static let digestLineLength = "sha256 ".utf8.count + 64 + 1

  init(_ bytes: [UInt8]) { (self.bytes, end) = (bytes, bytes.count) }

  mutating func wipe() { _ = SecretBytes(taking: &bytes) }

  var isAtEnd: Bool { position == end }

  /// Whether the last line is the digest of all above it, which is what is read from then on.
  mutating func checkDigest() -> Bool {
    guard bytes.count > Self.digestLineLength else { return false }
    end = bytes.count - Self.digestLineLength
    var above = Array(bytes[..<end])
    let line = "sha256 \(SHA256.digest(above))\n"
    _ = SecretBytes(taking: &above)
    return bytes[end...].elementsEqual(line.utf8)
  }

  mutating func take(_ text: String) -> Bool {
    guard bytes[position..<end].starts(with: text.utf8) else { return false }
    position += text.utf8.count
    return true
  }

  mutating func takeLine(after prefix: String) -> String? {
    guard bytes[position..<end].starts(with: prefix.utf8),
      let newline = bytes[position..<end].firstIndex(of: UInt8(ascii: "\n"))
    else { return nil }
    defer { position = newline + 1 }
    return String(decoding: bytes[position + prefix.utf8.count..<newline], as: UTF8.self)
  }

  /// A whole PEM text, its first and last line included.
  mutating func takePEM(_ label: String) -> [UInt8]? {
    let (begin, last) = ("-----BEGIN \(label)-----\n", Array("-----END \(label)-----\n".utf8))
    guard bytes[position..<end].starts(with: begin.utf8) else { return nil }
    var start = position + begin.utf8.count
    while start + last.count <= end {
      if bytes[start] == last[0], bytes[start..<start + last.count].elementsEqual(last) {
        defer { position = start + last.count }
        return Array(bytes[position..<start + last.count])
      }
      start += 1
    }
    return nil
  }
}
