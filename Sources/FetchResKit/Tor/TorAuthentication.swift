import Crypto
import Failure
import Storage
import System

/// What a control port takes from whoever wants to ask it something: the answer to `PROTOCOLINFO`
/// (control-spec 3.21).
struct TorAuthentication: Equatable {
  var methods: Set<Substring>
  var cookieFile: String?

  /// Nil if the reply is no such answer.
  init?(_ reply: TorReply) {
    guard reply.isDone, let line = reply.lines.first(where: { $0.hasPrefix("AUTH METHODS=") })
    else { return nil }
    let rest = line.dropFirst("AUTH METHODS=".count)
    methods = Set(rest.prefix { $0 != " " }.split(separator: ","))
    if let start = rest.firstRange(of: " COOKIEFILE=\"") {
      guard let path = Self.unquoted(rest[start.upperBound...]) else { return nil }
      cookieFile = path
    }
  }

  /// The content of a string in quotation marks, as C writes it, from behind the first mark on.
  private static func unquoted(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = unescaped(&rest) else { return nil }
        bytes.append(escaped)
      default: bytes.append(byte)
      }
    }
    return nil
  }

  private static func unescaped(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
    guard let first = rest.popFirst() else { return nil }
    switch first {
    case UInt8(ascii: "n"): return UInt8(ascii: "\n")
    case UInt8(ascii: "r"): return UInt8(ascii: "\r")
    case UInt8(ascii: "t"): return UInt8(ascii: "\t")
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): return first
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      var digits = [first]
      while digits.count < 3, let next = rest.first,
        (UInt8(ascii: "0")...UInt8(ascii: "7")) ~= next
      {
        digits.append(next)
        rest.removeFirst()
      }
      return UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
    default: return nil
    }
  }
}

/// The cookie of a tor daemon: who can read its file may ask. It leaves this process in no form that
/// tells it: each side shows the other that it knows it (`SAFECOOKIE`, control-spec 3.24). A program
/// that only listens where tor should be, and names a file that it wants to see, learns nothing.
struct TorCookie {
  static let byteCount = 32

  /// Who shows that it knows the cookie.
  enum Side: String {
    case server = "Tor safe cookie authentication server-to-controller hash"
    case controller = "Tor safe cookie authentication controller-to-server hash"
  }

  private let bytes: SecretBytes

  /// - Parameter path: as tor names it.
  init(file path: String) throws(TorControlFault) {
    ThisProcess.forbidCoreDumps()
    guard path.hasPrefix("/") else { throw .useless("names no file of its cookie") }
    do throws(SystemError) {
      var bytes = try RealFileSystem().openFile(path).readAll(path, limit: Self.byteCount)
      let count = bytes.count
      self.bytes = SecretBytes(taking: &bytes)
      guard count == Self.byteCount else {
        throw SystemError(SystemError.invalid, "read", path: path)
      }
    } catch {
      throw .useless("wants what is in the file \(path), which cannot be read: \(error.reason)")
    }
  }

  init(_ bytes: SecretBytes) { self.bytes = bytes }

  func proof(of side: Side, _ own: [UInt8], _ theirs: [UInt8]) -> Digest {
    HMAC.digest(key: Array(side.rawValue.utf8)) { hash in
      bytes.withBytes { hash.update($0) }
      hash.update(own)
      hash.update(theirs)
    }
  }
}

/// What tor answers to `AUTHCHALLENGE SAFECOOKIE`.
struct TorChallenge: Equatable {
  var proof: Digest
  var nonce: [UInt8]

  /// Nil if the reply is no such answer.
  init?(_ reply: TorReply) {
    guard reply.isDone, let words = reply.lines.first?.split(separator: " "),
      words.first == "AUTHCHALLENGE"
    else { return nil }
    func value(_ name: String) -> [UInt8]? {
      words.first { $0.hasPrefix(name) }.flatMap {
        Hex.decode($0.dropFirst(name.count).lowercased())
      }
    }
    guard let proof = value("SERVERHASH=").flatMap({ Digest($0) }),
      let nonce = value("SERVERNONCE="), nonce.count == TorCookie.byteCount
    else { return nil }
    (self.proof, self.nonce) = (proof, nonce)
  }
}
