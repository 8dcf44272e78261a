import CLibcrypto
import Failure

/// What a PKCS#12 file (RFC 7292) held: a private key, its certificate, and those of its issuers.
public struct PKCS12: Sendable {
  public let key: PrivateKey
  /// That of the key first, then its issuers upwards; roots, which nobody needs to be sent, are left
  /// out.
  public let chain: [Certificate]
  /// Whether it was the empty password, or none, that opened the file.
  public let hasNoPassword: Bool

  public static let maximumByteCount = 1 << 20

  /// Why a file is refused, told apart.
  public enum Refusal: Error, Sendable, Equatable {
    case tooLarge
    case notPKCS12
    /// A PEM text, whatever the file is called.
    case isPEM
    /// Nothing in the file proves a password right or wrong.
    case macAbsent
    case macUnknown(String)
    case wrongPassword
    /// Known to OpenSSL, and not loaded here.
    case legacyCipher(String)
    case unknownCipher(String)
    /// Its password or numbers ask for more rounds than anybody waits for.
    case tooManyRounds
    /// The password is right, and the rest is not what it should be.
    case damaged
    case noKey
    case noCertificate
    /// There are certificates, and none is that of the key.
    case noMatchingCertificate
  }

  /// Opens a file: size, decoding, MAC, algorithms, key, certificate, in this order.
  ///
  /// - Parameter password: UTF-8; where it does not verify, the empty password and none are tried.
  public init(_ bytes: [UInt8], password: SecretBytes) throws(Refusal) {
    guard bytes.count <= Self.maximumByteCount else { throw .tooLarge }
    let file = try File(bytes)
    let opening = try file.checkMAC(password)
    let contents = try file.read(opening, password)
    guard let key = contents.key else { throw .noKey }
    guard !contents.certificates.isEmpty else { throw .noCertificate }
    guard let own = contents.certificates.first(where: { $0.belongs(to: key) }) else {
      throw .noMatchingCertificate
    }
    self.key = key
    chain = Self.chain(from: own, contents.certificates)
    hasNoPassword = opening.count == 0
  }

  /// Size, decoding and MAC alone: what can be said before there is a password.
  public static func checkForm(_ bytes: [UInt8]) throws(Refusal) {
    guard bytes.count <= maximumByteCount else { throw .tooLarge }
    try File(bytes).checkMACForm()
  }

  /// Longer chains are nobody's.
  private static let maximumChain = 16

  private static func chain(from own: Certificate, _ all: [Certificate]) -> [Certificate] {
    var chain = [own]
    while chain.count < maximumChain, let last = chain.last, !last.isSelfIssued,
      let next = all.first(where: {
        !$0.isSelfIssued && !chain.contains($0) && $0.isIssuer(of: last)
      })
    {
      chain.append(next)
    }
    return chain
  }

  private struct Contents {
    var key: PrivateKey?
    var certificates: [Certificate] = []
  }

  /// The password that verified: one given, the empty one, or none at all, which are different inputs.
  private struct Opening {
    var bytes: SecretBytes?

    var count: Int { bytes?.count ?? 0 }

    func lend<Result>(_ body: (UnsafePointer<CChar>?, Int32) -> Result) -> Result {
      guard let bytes else { return body(nil, 0) }
      // An empty password needs an address too: without one it would be none.
      guard bytes.count > 0 else { return "".withCString { body($0, 0) } }
      return bytes.withBytes {
        body($0.bindMemory(to: CChar.self).baseAddress, Int32($0.count))
      }
    }
  }

  /// The decoded file, before anything in it is believed.
  private final class File {
    private let handle: OpaquePointer

    /// How deep bags may lie in bags.
    private static let maximumDepth = 4

    init(_ bytes: [UInt8]) throws(Refusal) {
      let handle = bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        return OpenSSL.call { d2i_PKCS12(nil, &cursor, buffer.count) }
      }
      guard let handle else {
        let text = String(decoding: bytes.prefix(65_536), as: UTF8.self)
        throw text.contains("-----BEGIN ") ? .isPEM : .notPKCS12
      }
      self.handle = handle
    }

    deinit { PKCS12_free(handle) }

    /// Whether there is a MAC that can be computed here.
    func checkMACForm() throws(Refusal) {
      guard OpenSSL.call({ PKCS12_mac_present(handle) }) == 1 else { throw .macAbsent }
      var algorithm: UnsafePointer<X509_ALGOR>?
      var rounds: UnsafePointer<ASN1_INTEGER>?
      PKCS12_get0_mac(nil, &algorithm, nil, &rounds, handle)
      guard let algorithm else { throw .notPKCS12 }
      let name = Self.name(fetchres_algorithm_kind(algorithm)) ?? Self.digits(algorithm)
      guard let digest = OpenSSL.call({ EVP_MD_fetch(nil, name, nil) }) else {
        throw .macUnknown(name)
      }
      EVP_MD_free(digest)
      guard fetchres_small_integer(rounds) <= PrivateKey.maximumIterations else {
        throw .tooManyRounds
      }
    }

    func checkMAC(_ password: SecretBytes) throws(Refusal) -> Opening {
      try checkMACForm()
      for opening in [Opening(bytes: password), Opening(bytes: SecretBytes()), Opening(bytes: nil)]
      {
        let isRight = opening.lend { bytes, count in
          OpenSSL.call { PKCS12_verify_mac(handle, bytes, count) } == 1
        }
        if isRight { return opening }
        // A MAC that is another one leaves no reason behind; anything else does.
        if OpenSSL.hasError { throw .damaged }
      }
      throw .wrongPassword
    }

    /// The MAC is one over the characters of a password, and PBES2 encrypts under its bytes: a file that
    /// was written where characters were Latin-1 opens with the bytes of that spelling alone.
    func read(_ opening: Opening, _ password: SecretBytes) throws(Refusal) -> Contents {
      do throws(Refusal) { return try read(opening) } catch {
        guard error == .damaged, opening.count > 0, let other = password.otherSpelling else {
          throw error
        }
        return try read(Opening(bytes: other))
      }
    }

    private func read(_ opening: Opening) throws(Refusal) -> Contents {
      var contents = Contents()
      guard let parts = OpenSSL.call({ PKCS12_unpack_authsafes(handle) }) else { throw .damaged }
      defer { fetchres_pkcs7_free_all(parts) }
      for index in 0..<max(0, fetchres_pkcs7_count(parts)) {
        guard let part = fetchres_pkcs7_at(parts, index) else { throw .damaged }
        let bags: OpaquePointer?
        switch fetchres_pkcs7_kind(part) {
        case NID_pkcs7_data:
          bags = OpenSSL.call { PKCS12_unpack_p7data(part) }
        case NID_pkcs7_encrypted:
          guard let algorithm = fetchres_pkcs7_algorithm(part) else { throw .damaged }
          try Self.checkCipher(algorithm)
          bags = opening.lend { bytes, count in
            OpenSSL.call { PKCS12_unpack_p7encdata(part, bytes, count) }
          }
        case let kind:
          throw .unknownCipher(Self.name(kind) ?? "an unknown kind of content")
        }
        guard let bags else { throw .damaged }
        defer { fetchres_bag_free_all(bags) }
        try Self.read(bags, opening, into: &contents, depth: 0)
      }
      return contents
    }

    private static func read(
      _ bags: OpaquePointer, _ opening: Opening, into contents: inout Contents, depth: Int
    ) throws(Refusal) {
      guard depth < maximumDepth else { throw .damaged }
      for index in 0..<max(0, fetchres_bag_count(bags)) {
        guard let bag = fetchres_bag_at(bags, index) else { throw .damaged }
        switch PKCS12_SAFEBAG_get_nid(bag) {
        case NID_keyBag:
          guard let plain = PKCS12_SAFEBAG_get0_p8inf(bag) else { throw .damaged }
          try take(plain, into: &contents)
        case NID_pkcs8ShroudedKeyBag:
          var algorithm: UnsafePointer<X509_ALGOR>?
          guard let sealed = PKCS12_SAFEBAG_get0_pkcs8(bag) else { throw .damaged }
          X509_SIG_get0(sealed, &algorithm, nil)
          guard let algorithm else { throw .damaged }
          try checkCipher(algorithm)
          let plain = opening.lend { bytes, count in
            OpenSSL.call { PKCS12_decrypt_skey(bag, bytes, count) }
          }
          guard let plain else { throw .damaged }
          defer { PKCS8_PRIV_KEY_INFO_free(plain) }
          try take(plain, into: &contents)
        case NID_certBag:
          guard PKCS12_SAFEBAG_get_bag_nid(bag) == NID_x509Certificate else { continue }
          guard let handle = OpenSSL.call({ PKCS12_SAFEBAG_get1_cert(bag) }) else {
            throw .damaged
          }
          defer { X509_free(handle) }
          guard let certificate = Certificate(handle) else { throw .damaged }
          contents.certificates.append(certificate)
        case NID_safeContentsBag:
          guard let inner = PKCS12_SAFEBAG_get0_safes(bag) else { throw .damaged }
          try read(inner, opening, into: &contents, depth: depth + 1)
        default:
          // Revocation lists and what applications keep in there.
          continue
        }
      }
    }

    /// The first key counts: a file for a client has one.
    private static func take(
      _ plain: OpaquePointer, into contents: inout Contents
    ) throws(Refusal) {
      guard contents.key == nil else { return }
      guard let key = OpenSSL.call({ EVP_PKCS82PKEY(plain) }) else { throw .damaged }
      contents.key = PrivateKey(owning: key)
    }

    // MARK: Algorithms

    /// Reads what is needed before it is used: a cipher that is missing would otherwise look like a
    /// wrong password.
    private static func checkCipher(_ algorithm: UnsafePointer<X509_ALGOR>) throws(Refusal) {
      var method = fetchres_pbe()
      guard OpenSSL.call({ fetchres_read_pbe(algorithm, &method) }) else { throw .damaged }
      guard method.iterations <= PrivateKey.maximumIterations else { throw .tooManyRounds }
      guard method.derivation != NID_undef, method.cipher != NID_undef,
        let name = name(method.cipher)
      else { throw .unknownCipher(digits(algorithm)) }
      guard let cipher = OpenSSL.call({ EVP_CIPHER_fetch(nil, name, nil) }) else {
        throw .legacyCipher(name)
      }
      EVP_CIPHER_free(cipher)
    }

    private static func name(_ kind: Int32) -> String? {
      guard kind != NID_undef else { return nil }
      return OBJ_nid2sn(kind).map { String(cString: $0) }
    }

    private static func digits(_ algorithm: UnsafePointer<X509_ALGOR>) -> String {
      var text = [CChar](repeating: 0, count: 80)
      fetchres_algorithm_text(algorithm, &text, Int32(text.count))
      return String(
        decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
}
