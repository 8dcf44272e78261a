import Manifest
import Publishing
import Storage
import System
import TestSupport
import Testing

/// What a server shows in TLS: trusted by the system or by `--cacert`, pinned, and said in words where
/// it is not what it should be.
@Suite(.enabled(if: GuardedServer.isAvailable, GuardedServer.need))
struct TLSTests {
  let bench: Workbench
  let desk: CertificateDesk
  let release: Release

  init() throws {
    bench = try Workbench()
    desk = try CertificateDesk()
    release = try bench.site.publish(randomBytes(100_000))
  }

  func pull(
    _ base: String, _ more: String..., trusts: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try bench.fetchres.run(
      [
        "pull", "\(base)manifest", "--key", bench.site.key, "-d", bench.directory, "--json",
        "--give-up-after", "1", "--retry-now",
      ] + (trusts ? ["--cacert", desk("root.pem")] : []) + more, sourceLocation: sourceLocation)
  }

  /// Pulls from a server with that certificate, which is not to be trusted.
  func expectRefused(
    _ certificate: String, _ words: String, trusts: Bool = true, _ more: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let server = try GuardedServer(
      desk, root: bench.site.path, certificate: certificate, clients: "off", more)
    let outcome = try pull(server.base(), trusts: trusts, sourceLocation: sourceLocation)
    try outcome.expectFailure(
      "tls", 3, "127.0.0.1:\(server.port)", words, sourceLocation: sourceLocation)
    #expect(try server.visits().isEmpty, sourceLocation: sourceLocation)
    #expect(!Disk.exists(bench.directory), sourceLocation: sourceLocation)
  }

  @Test("an issuer that is not known is said to be that, and --cacert is the only way")
  func unknownIssuer() throws {
    try desk.issueServer("server")
    try expectRefused("server", "the issuer of the certificate of 127.0.0.1", trusts: false)
    let server = try GuardedServer(desk, root: bench.site.path, clients: "off")
    try pull(server.base()).expect(0)
    withExtendedLifetime(server) {}
  }

  @Test("a certificate for another name is said to be that")
  func otherName() throws {
    try desk.issueServer("server", names: "DNS:other.example.org,IP:127.0.0.2")
    try expectRefused("server", "is for another name")
  }

  @Test("an expired certificate, and one of the future, are said to be that with the local clock")
  func dates() throws {
    try desk.issueServer("server", days: -1)
    try expectRefused("server", "has expired; the local clock says 2")
    try desk.signForFuture("server", by: "root", extensions: "server.ext")
    try expectRefused("server", "is not valid yet; the local clock says 2")
  }

  @Test("what is older than TLS 1.2 is no TLS")
  func oldProtocol() throws {
    try desk.issueServer("server")
    try expectRefused(
      "server", "offers no TLS 1.2 or later",
      "ssl_protocols TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;")
  }

  @Test("a port without TLS is said to be that")
  func noTLS() throws {
    let listener = try Socket.listen(on: try #require(SocketAddress("127.0.0.1:0")))
    let server = WorkThread("no TLS") {
      while let socket = try? listener.accept() {
        let answer = Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)
        try? answer.withUnsafeBytes { try socket.send($0) }
        socket.shutdown()
      }
    }
    try pull("https://\(listener.localAddress().text)/")
      .expectFailure("tls", 3, "does not speak TLS on this port")
    listener.shutdown()
    server.join()
  }

  @Test("one of the pinned keys has to be the server's")
  func pins() throws {
    try desk.issueServer("server")
    let server = try GuardedServer(desk, root: bench.site.path, clients: "off")
    try desk.openssl([
      "pkey", "-in", "server.key", "-pubout", "-outform", "DER", "-out", "key.der", "--", "dgst",
      "-sha256", "-binary", "-out", "key.sha256", "key.der", "--", "base64", "-A", "-in",
      "key.sha256", "-out", "pin",
    ])
    let pin = String(decoding: try Disk.read(desk("pin")), as: UTF8.self).filter { $0 != "\n" }
    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    try pull(server.base(), "--pin-sha256", other)
      .expectFailure("tls", 3, "the public key of 127.0.0.1:\(server.port) is none of those")
    #expect(try server.visits().isEmpty)
    try pull(server.base(), "--pin-sha256", other, "--pin-sha256", "sha256//\(pin)").expect(0)
    // A pin is no trust.
    try pull(server.base(), "--pin-sha256", pin, trusts: false).expectFailure("tls", 3, "unknown")
    for bad in ["", "abc", String(other.dropLast()) + "A", String(repeating: "A", count: 64)] {
      try pull(server.base(), "--pin-sha256=\(bad)").expectFailure("usage", 2, "is no pin")
    }
    try pull(bench.server.base, "--pin-sha256", pin).expectFailure("usage", 2, "needs an https URL")
  }

  @Test(
    "with --cacert the directory of the system vouches for no proxy either",
    .enabled(if: Self.canReplaceSystem, "needs a mount namespace"))
  func proxyBeyondFile() throws {
    try desk.issueServer("server")
    // Asked as a proxy, nginx answers itself.
    let proxy = try GuardedServer(desk, root: bench.site.path, clients: "off")
    try desk.issue("other", by: "middle", extensions: "authority.ext")
    try Disk.makeDirectory(desk("system"))
    try Disk.copy(desk("root.pem"), to: desk("system/root.pem"))
    try Disk.copy(desk("other.pem"), to: desk("system/ca-certificates.crt"))
    try desk.openssl("rehash", "system")
    for (more, code) in [([], 0), (["--cacert", desk("other.pem")], 3)] as [([String], Int32)] {
      let words =
        [
          "pull", "http://site.invalid/manifest", "--key", bench.site.key, "-d", bench.directory,
          "--proxy", proxy.base(), "--give-up-after", "1", "--retry-now",
        ] + more
      let child = try Child(
        Self.unshare,
        [
          "-m", "sh", "-c", "mount --bind \"$0\" /etc/ssl/certs && exec \"$@\"", desk("system"),
          Fetchres.binary,
        ] + words, environment: bench.fetchres.environment)
      let outcome = try Outcome(of: child)
      outcome.expect(code)
      if code == 0 {
        try bench.expectComplete(release)
        try Disk.remove(bench.directory)
      } else {
        #expect(outcome.error.contains("the proxy"), "\(outcome)")
      }
    }
  }

  private static let unshare = "/usr/bin/unshare"

  /// Whether a program can be shown another directory of the system's certificates.
  private static let canReplaceSystem: Bool = {
    let words = ["-m", "mount", "--bind", "/", "/etc/ssl/certs"]
    let child = try? Child(unshare, words, environment: ["PATH": "/usr/bin:/bin"])
    return child?.wait(within: Fetchres.patience) == .exited(0)
  }()

  @Test("a head is looked up under the certificates of --cacert")
  func ingest() throws {
    try desk.issueServer("server")
    let server = try GuardedServer(desk, root: bench.site.path, clients: "off")
    let first = try bench.scratch.write("first", try Disk.read("\(bench.site.path)/checkpoint"))
    // So long that its first tile is none of those that a pull keeps.
    let log = LongLog(
      try Manifest(selfSigned: try bench.site.manifest()),
      key: try KeyFile(bench.site.keyFile, RealFileSystem()).key, count: 300)
    for (path, bytes) in log.files { try Disk.write("\(bench.site.path)/\(path)", bytes) }
    try pull(server.base()).expect(0)
    let before = try server.visits().count
    let outcome = try bench.fetchres.run(
      "integrity", "ingest", first, "--cacert", desk("root.pem"))
    outcome.expect(0)
    #expect(outcome.output.contains("which are the first of the 300 releases"), "\(outcome)")
    #expect(try server.visits().count > before)
  }

  @Test("there is no switch that turns verification off")
  func noSwitch() throws {
    for word in ["--insecure", "-k", "--no-check-certificate"] {
      try pull(bench.server.base, word).expect(2)
    }
    let help = try bench.fetchres.run("help", "pull").output
    #expect(!help.contains("insecure"))
  }

  @Test("a server that asks in TLS itself is told apart from one that is broken")
  func demanded() throws {
    try desk.issueServer("server")
    for version in ["-tls1_2", "-tls1_3"] {
      let server = try Child(
        try #require(Command.path(of: "openssl")),
        [
          "s_server", "-accept", "127.0.0.1:0", "-cert", desk("server.pem"), "-key",
          desk("server.key"), "-CAfile", desk("root.pem"), "-Verify", "2", "-verify_return_error",
          version, "-WWW",
        ], environment: [:], directory: bench.site.path)
      #expect(server.waitForOutput(within: Fetchres.patience) { $0.contains("ACCEPT 127.0.0.1:") })
      let line = String(decoding: server.output, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("ACCEPT ") }
      let address = try #require(line?.dropFirst("ACCEPT ".count))
      let outcome = try pull("https://\(address)/")
      try outcome.expectFailure("tls", 3, "client certificate", "fetchres identity import")
    }
  }
}

/// How a TLS connection ends says nothing about bytes that were announced and are proven.
@Suite(
  .enabled(if: CertificateDesk.isAvailable && Command.path(of: "python3") != nil, "needs python3"))
struct GoodbyeTests {
  /// Serves a directory over TLS, one request a connection. How it ends: `close` with TLS's goodbye,
  /// `drop` without; `bare` also without Content-Length; `short` one byte early.
  static let server = """
    import os, re, socket, ssl, sys, threading
    root, certificate, key, ending = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    print(listener.getsockname()[1], flush=True)
    def serve(raw):
        try:
            stream = context.wrap_socket(raw, server_side=True)
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                got = stream.recv(4096)
                if not got: return
                head += got
            with open(root + head.split(b" ")[1].decode(), "rb") as file: body = file.read()
            found = re.search(rb"[Rr]ange: bytes=(\\d+)-(\\d+)", head)
            lines = ["HTTP/1.1 200 OK", "Connection: close"]
            total, is_part = len(body), found is not None
            if is_part:
                first, last = int(found[1]), int(found[2])
                body = body[first:last + 1]
                lines[0] = "HTTP/1.1 206 Partial Content"
                lines.append("Content-Range: bytes %d-%d/%d" % (first, last, total))
            if ending != "bare" or not is_part: lines.append("Content-Length: %d" % len(body))
            if ending == "short" and is_part: body = body[:-1]
            stream.sendall("\\r\\n".join(lines + ["", ""]).encode() + body)
            if ending == "close": stream.unwrap()
            stream.close()
        except OSError: pass
    while True:
        accepted, _ = listener.accept()
        threading.Thread(target=serve, args=(accepted,), daemon=True).start()
    """

  @Test("a response that is whole counts as whole", arguments: ["close", "drop", "bare", "short"])
  func goodbye(_ ending: String) throws {
    let bench = try Workbench()
    let desk = try CertificateDesk()
    try desk.issueServer("server")
    let release = try bench.site.publish(randomBytes(300_000))
    let server = try Child(
      try #require(Command.path(of: "python3")),
      ["-c", Self.server, bench.site.path, desk("server.pem"), desk("server.key"), ending],
      environment: [:])
    #expect(server.waitForOutput(within: Fetchres.patience) { $0.hasSuffix("\n") })
    let port = String(decoding: server.output, as: UTF8.self).dropLast()
    let outcome = try bench.fetchres.run([
      "pull", "https://127.0.0.1:\(port)/manifest", "--key", bench.site.key, "-d",
      bench.directory, "--json", "--cacert", desk("root.pem"), "--give-up-after", "2",
    ])
    if ending == "short" {
      try outcome.expectFailure("truncated", 3)
      try bench.expectUnfinished(release)
    } else {
      outcome.expect(0)
      try bench.expectComplete(release)
      #expect(try outcome.events("source-failed").isEmpty, "\(outcome.testDescription)")
    }
    withExtendedLifetime(server) {}
  }
}
