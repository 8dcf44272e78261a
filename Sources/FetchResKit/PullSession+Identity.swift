import Crypto
import Failure
import Manifest
import SignedNote
import Storage
import System
import Transport

/// The client certificate of a pull.
extension PullSession {
  /// An identity whose key is open.
  struct OpenIdentity: Sendable {
    var name: String
    var certificate: ClientCertificate
    var stamp: IdentityStore.Stamp
    /// What opened it; nil if it needs none.
    var password: SecretBytes?
  }

  /// The identity of `--identity`, else the one that is for the host of the site; nil if there is none.
  ///
  /// - Throws: `usage` for one that is not there, or where two are for that host.
  func openIdentity(_ site: SiteURL, _ store: IdentityStore) throws(FetchFailure) -> OpenIdentity? {
    var chosen = request.identity
    if chosen == nil { chosen = try matching(site, store) }
    guard let name = chosen else { return nil }
    guard site.base.scheme == "https" else {
      throw FetchFailure(
        .usage, "an identity is shown in TLS, and \(site.base.shown) is no https URL")
    }
    // The stamp first: what is replaced in between is seen as replaced.
    guard let stamp = store.stamp(name), let stored = try store.read(name) else {
      throw FetchFailure(
        .usage, "there is no identity '\(name)'",
        hint: "'fetchres identity import FILE.p12 --name \(name)' adds it")
    }
    warnOfDates(stored)
    switch stored.key {
    case .plain(let pem):
      return OpenIdentity(
        name: name, certificate: stored.shown(key: pem), stamp: stamp, password: nil)
    case .encrypted(let sealed):
      let attempts = PasswordAttempts(
        source: passwords, subject: "the identity '\(name)'", ladder: store.ladder(of: name),
        interruption: interruption
      ) { report(.note($0, hint: nil)) }
      return try attempts.run { failures throws(FetchFailure) in
        try store.wipe(name, ifDueAfter: failures)
      } _: { password throws(FetchFailure) -> OpenIdentity? in
        guard let pem = stored.open(sealed, password) else { return nil }
        return OpenIdentity(
          name: name, certificate: stored.shown(key: pem), stamp: stamp, password: password)
      }
    }
  }

  private func matching(_ site: SiteURL, _ store: IdentityStore) throws(FetchFailure) -> String? {
    var found: [String] = []
    for name in try store.names() {
      // One that is damaged is of no concern to whoever does not ask for it.
      if let stored = try? store.read(name), stored.isFor(site.base) { found.append(name) }
    }
    guard found.count <= 1 else {
      throw FetchFailure(
        .usage, "several identities are for this host: \(found.joined(separator: ", "))",
        hint: "choose one with --identity")
    }
    return found.first
  }

  /// The server judges it, by its own clock.
  private func warnOfDates(_ stored: StoredIdentity) {
    guard let own = stored.chain.first, now() >= own.notAfter else { return }
    report(
      .note(
        "the certificate of the identity '\(stored.name)' expired at \(own.notAfter.text); "
          + "the local clock says \(now().text)",
        hint: "import a new one under the same name"))
  }

  /// A transport that shows the identity for as long as it is stored, if there is one.
  func makeTransport(
    _ policy: RequestPolicy, _ identity: OpenIdentity?, _ store: IdentityStore
  ) -> any Transport {
    let make: @Sendable (ClientCertificate?) -> CurlTransport = { certificate in
      var policy = policy
      policy.clientCertificate = certificate
      return CurlTransport(policy: policy)
    }
    guard let identity else { return make(nil) }
    let (name, password) = (identity.name, identity.password)
    return IdentityTransport(
      identity.certificate, name: name, store: store, stamp: identity.stamp, make: make
    ) {
      guard let stored = try? store.read(name) else { return nil }
      switch stored.key {
      case .plain(let pem): return stored.shown(key: pem)
      // Nobody can be asked now: the password of before is the only one that there is.
      case .encrypted(let sealed):
        return password.flatMap { stored.open(sealed, $0) }.map { stored.shown(key: $0) }
      }
    }
  }

  /// - Throws: `usage` for what is no pin, or has nothing to be checked on.
  func checkedPins(_ site: SiteURL) throws(FetchFailure) -> [String] {
    var pins: [String] = []
    for text in request.pins {
      let pin = text.hasPrefix("sha256//") ? String(text.dropFirst("sha256//".count)) : text
      guard let bytes = Base64.decode(pin), bytes.count == Digest.byteCount else {
        throw FetchFailure(
          .usage, "'\(text.shortened(to: 100))' is no pin for --pin-sha256",
          hint: "base64 of the SHA-256 of the server's public key, 44 characters")
      }
      pins.append(pin)
    }
    guard pins.isEmpty || site.base.scheme == "https" else {
      throw FetchFailure(.usage, "--pin-sha256 needs an https URL, and \(site.base.shown) is none")
    }
    return pins
  }

  /// The same failure, with a hint where a server without a client certificate says no in HTTP.
  func hintingAtIdentity(
    _ failure: FetchFailure, _ site: SiteURL, _ identity: OpenIdentity?
  ) -> FetchFailure {
    guard identity == nil, site.base.scheme == "https", failure.hint == nil,
      failure.category == .httpStatus, [400, 401, 403, 495, 496].contains(failure.httpStatus)
    else { return failure }
    var hinting = failure
    hinting.hint =
      "if the server asks for a client certificate, import one with 'fetchres identity import', "
      + "then give --identity NAME"
    return hinting
  }
}

extension StoredIdentity {
  /// Nil for a wrong password.
  func open(_ sealed: String, _ password: SecretBytes) -> SecretBytes? {
    (try? PrivateKey(encryptedPEM: Array(sealed.utf8), password: password))?.pem
  }

  /// What is shown in a handshake.
  func shown(key: SecretBytes) -> ClientCertificate {
    var text = Array(chain.map(\.pem).joined().utf8)
    return ClientCertificate(chain: SecretBytes(taking: &text), key: key)
  }
}

extension SecretBytes: LentBytes {}
