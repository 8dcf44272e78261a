import Crypto
import Failure

/// What is said when a PKCS#12 file is refused: each reason in its own words, with the way out.
extension PKCS12.Refusal {
  func failure(_ file: String) -> FetchFailure {
    let quoted = ShellWord.quoted(file)
    func usage(_ message: String, _ hint: String? = nil) -> FetchFailure {
      FetchFailure(.usage, message, hint: hint)
    }
    let again = "export it again from where it came from"
    switch self {
    case .tooLarge:
      return usage("\(file) has more than \(PKCS12.maximumByteCount) bytes: no identity does")
    case .notPKCS12:
      return usage("\(file) is damaged, or no PKCS#12 file", again)
    case .isPEM:
      return usage(
        "\(file) is a PEM text, whatever its name says",
        "make a PKCS#12 file of it: openssl pkcs12 -export -in \(quoted) -out new.p12")
    case .macAbsent:
      return usage(
        "\(file) has no MAC: nothing in it can tell a right password from a wrong one",
        "add one: openssl pkcs12 -in \(quoted) -nodes -nomacver -out plain.pem && "
          + "openssl pkcs12 -export -in plain.pem -out new.p12 && shred -u plain.pem")
    case .macUnknown(let name):
      return usage(
        "\(file) has a MAC by \(name), which this OpenSSL does not know",
        "convert it with the openssl command of where it came from, with -macalg sha256")
    case .wrongPassword:
      return usage("the password of \(file) is wrong")
    case .legacyCipher(let name):
      return usage(
        "\(file) is encrypted with \(name), a legacy cipher that this OpenSSL does not load",
        "convert it: openssl pkcs12 -legacy -in \(quoted) -nodes -out plain.pem && "
          + "openssl pkcs12 -export -in plain.pem -out new.p12 && shred -u plain.pem")
    case .unknownCipher(let name):
      return usage("\(file) is encrypted with \(name), which this OpenSSL does not know", again)
    case .tooManyRounds:
      return usage("\(file) asks for more rounds of its password than anybody waits for", again)
    case .damaged:
      return usage("the password of \(file) is right, and what it protects is damaged", again)
    case .noKey:
      return usage(
        "\(file) holds no private key",
        "certificates alone are no identity: export it together with its key")
    case .noCertificate:
      return usage(
        "\(file) holds a private key and no certificate",
        "export it together with its certificate")
    case .noMatchingCertificate:
      return usage(
        "none of the certificates in \(file) belongs to its private key",
        "export the key together with its own certificate")
    }
  }
}

/// Words that a reader may paste into a shell.
enum ShellWord {
  /// As it is where nothing in it means anything to a shell, else in single quotes.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
    guard !isPlain || text.isEmpty else { return text }
    return "'"
      + text.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: #"'\''"#) + "'"
  }
}
