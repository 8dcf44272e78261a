import Glibc
import System
import Testing

/// An nginx of one test, with TLS and a say in who may come in.
final class GuardedServer: Sendable {
  let port: UInt16
  private let child: Child
  private let scratch: Scratch

  static let isAvailable = CertificateDesk.isAvailable && Command.path(of: "nginx") != nil
  static let need: Comment = "needs nginx and the openssl command"

  /// - Parameters:
  ///   - root: the directory that is served.
  ///   - certificate: `<name>.pem` and `<name>.key` of the desk.
  ///   - clients: `on`, `optional` or `off`: who shows a certificate that leads to the root of the desk.
  ///   - more: further lines of the server block.
  init(
    _ desk: CertificateDesk, root: String, certificate: String = "server", clients: String = "on",
    _ more: String = ""
  ) throws {
    let scratch = try Scratch()
    var started: (UInt16, Child)?
    // A port that was free a moment ago may be taken by now: then another one.
    for _ in 0..<5 where started == nil {
      let port = try Self.freePort()
      let configuration = Self.configuration(
        scratch.path, desk, root: root, port: port, certificate: certificate, clients: clients,
        more)
      try scratch.write("nginx.conf", Array(configuration.utf8))
      let child = try Child(
        try #require(Command.path(of: "nginx")), ["-c", scratch("nginx.conf"), "-p", scratch.path],
        environment: [:])
      // It listens before it says who it is.
      let answers = waitUntil { Disk.exists(scratch("pid")) || child.wait(within: 0) != nil }
      if answers, child.wait(within: 0) == nil { started = (port, child) }
    }
    (port, child) = try #require(started, "nginx does not start")
    self.scratch = scratch
  }

  deinit { _ = end() }

  /// Ends it with its workers.
  func end() -> Child.Ending? {
    child.send(15)
    return child.wait(within: Fetchres.patience)
  }

  func base(_ host: String = "127.0.0.1") -> String { "https://\(host):\(port)/" }

  /// What nginx wrote about a request: who came in, over which connection, for what.
  struct Visit: Sendable, Equatable {
    /// `SUCCESS`, `NONE` or `FAILED:…`.
    var verdict: String
    var connection: Int
    var status: Int
    var target: String
    /// The distinguished name of the client.
    var client: String
    var authorization: String
  }

  func visits() throws -> [Visit] {
    try String(decoding: Disk.read(scratch("access.log")), as: UTF8.self).split(separator: "\n")
      .compactMap { line in
        let words = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 6, let connection = Int(words[1]), let status = Int(words[2]) else {
          return nil
        }
        return Visit(
          verdict: words[0], connection: connection, status: status, target: words[3],
          client: words[4], authorization: words[5])
      }
  }

  private static func freePort() throws -> UInt16 {
    let address = try #require(SocketAddress("127.0.0.1:0"))
    let text = try Socket.listen(on: address).localAddress().text
    return try #require(text.split(separator: ":").last.flatMap { UInt16($0) })
  }

  private static func configuration(
    _ path: String, _ desk: CertificateDesk, root: String, port: UInt16, certificate: String,
    clients: String, _ more: String
  ) -> String {
    """
    \(geteuid() == 0 ? "user root;" : "")
    daemon off; worker_processes 1; pid \(path)/pid; error_log \(path)/error.log;
    events { worker_connections 256; }
    http {
      log_format visits '$ssl_client_verify|$connection|$status|$request_uri|$ssl_client_s_dn|$http_authorization';
      access_log \(path)/access.log visits;
      client_body_temp_path \(path)/1; proxy_temp_path \(path)/2; fastcgi_temp_path \(path)/3;
      uwsgi_temp_path \(path)/4; scgi_temp_path \(path)/5;
      types { } default_type application/octet-stream; keepalive_requests 100000;
      server {
        listen 127.0.0.1:\(port) ssl;
        ssl_certificate \(desk(certificate + ".pem")); ssl_certificate_key \(desk(certificate + ".key"));
        ssl_client_certificate \(desk("root.pem")); ssl_verify_client \(clients); ssl_verify_depth 3;
        root \(root);
        \(more)
      }
    }
    """
  }
}
