import Crypto
import Failure
import Storage
import System

/// Takes a client certificate out of a PKCS#12 file into the store.
package struct IdentityImport {
  package var file: String
  package var name: String
  /// Where it is used without being asked for; none keeps those of the identity that is replaced.
  package var hosts: [String] = []
  /// Whether the key is stored without a password.
  package var dropsPassword = false
  private let store: IdentityStore
  private let fileSystem: any FileSystem

  package init(
    _ file: String, name: String, into store: IdentityStore,
    _ fileSystem: any FileSystem = RealFileSystem()
  ) {
    (self.file, self.name, self.store, self.fileSystem) = (file, name, store, fileSystem)
  }

  /// Whatever goes wrong, an identity of the same name stays as it is.
  ///
  /// - Throws: `usage` in the words of each reason; `expired` for the local clock's verdict.
  package func run(
    _ passwords: PasswordSource, _ interruption: Interruption, now: UTCDate,
    report: @escaping (String) -> Void
  ) throws(FetchFailure) -> StoredIdentity {
    var hosts = try checkedHosts()
    guard StoredIdentity.isName(name) else {
      throw FetchFailure(
        .usage, "'\(name)' is no name for an identity",
        hint: "1 to 64 of A-Z a-z 0-9 . _ - with --name")
    }
    ThisProcess.forbidCoreDumps()
    let bytes = try readFile()
    // Before anybody is asked for a password that could not help.
    do throws(PKCS12.Refusal) { try PKCS12.checkForm(bytes) } catch { throw error.failure(file) }

    let attempts = PasswordAttempts(
      source: passwords, subject: file, ladder: store.ladder(ofFile: bytes),
      interruption: interruption, report: report)
    let opened = try attempts.run { password throws(FetchFailure) -> Opened? in
      do throws(PKCS12.Refusal) {
        return Opened(content: try PKCS12(bytes, password: password), password: password)
      } catch {
        if error == .wrongPassword { return nil }
        throw error.failure(file)
      }
    }
    let content = opened.content
    try checkDates(content, now)
    if hosts.isEmpty, let before = try? store.read(name) { hosts = before.hosts }
    let identity = StoredIdentity(
      name: name, hosts: hosts, key: try sealed(opened), chain: content.chain)
    try store.write(identity)
    return identity
  }

  private struct Opened: Sendable {
    var content: PKCS12
    var password: SecretBytes
  }

  private func checkedHosts() throws(FetchFailure) -> [String] {
    var checked: [String] = []
    for text in hosts {
      guard let host = StoredIdentity.host(text) else {
        throw FetchFailure(
          .usage, "'\(text)' is no host for --for",
          hint: "such as --for data.example.org or --for data.example.org:8443")
      }
      if !checked.contains(host) { checked.append(host) }
    }
    guard checked.count <= StoredIdentity.maximumHosts else {
      throw FetchFailure(.usage, "--for takes at most \(StoredIdentity.maximumHosts) hosts")
    }
    return checked
  }

  private func readFile() throws(FetchFailure) -> [UInt8] {
    do throws(SystemError) {
      return try fileSystem.openFile(file).readAll(file, limit: PKCS12.maximumByteCount)
    } catch {
      switch error.code {
      case SystemError.notFound: throw FetchFailure(.usage, "there is no file \(file)")
      case SystemError.tooLarge: throw PKCS12.Refusal.tooLarge.failure(file)
      default: throw error.failure("cannot read \(file)")
      }
    }
  }

  private func checkDates(_ content: PKCS12, _ now: UTCDate) throws(FetchFailure) {
    guard let own = content.chain.first else { throw PKCS12.Refusal.noCertificate.failure(file) }
    let clock = "the local clock says \(now.text)"
    guard now < own.notAfter else {
      throw FetchFailure(
        .expired, "the certificate in \(file) expired at \(own.notAfter.text); \(clock)",
        hint: "if the clock is right, ask whoever issued it for a new one")
    }
    guard now >= own.notBefore else {
      throw FetchFailure(
        .expired, "the certificate in \(file) is valid from \(own.notBefore.text); \(clock)",
        hint: "set the clock if it is wrong, else import it then")
    }
  }

  private func sealed(_ opened: Opened) throws(FetchFailure) -> StoredIdentity.Key {
    if dropsPassword { return .plain(opened.content.key.pem) }
    guard !opened.content.hasNoPassword else {
      throw FetchFailure(
        .usage, "\(file) has no password that the key could be stored under",
        hint: "--no-password stores it without one")
    }
    return .encrypted(opened.content.key.encryptedPEM(opened.password))
  }
}
