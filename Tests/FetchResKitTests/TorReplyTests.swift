import Crypto
import Failure
import Testing

@testable import FetchResKit

/// The answers of tor's control port, as its specification writes them, and such as no tor sends.
@Suite struct TorReplyTests {
  private func replies(_ text: String) throws(TorControlFault) -> [TorReply] {
    var reader = TorReplyReader()
    return try reader.take(Array(text.utf8))
  }

  private func reply(_ text: String) throws -> TorReply {
    try #require(try replies(text).first)
  }

  // MARK: Lines

  @Test func `lines belong together up to the one without a hyphen, wherever the pieces are cut`()
    throws
  {
    let text = "250-one\r\n250-\r\n250 OK\r\n515 no\r\n"
    let whole = [
      TorReply(code: 250, lines: ["one", "", "OK"]), TorReply(code: 515, lines: ["no"]),
    ]
    #expect(try replies(text) == whole)
    for size in 1...text.utf8.count {
      var reader = TorReplyReader()
      var found: [TorReply] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        found += try reader.take(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(found == whole, "\(size)")
    }
  }

  @Test(arguments: [
    "HTTP/1.1 400 Bad Request\r\n", "\r\n", "250\r\n", "25 OK\r\n", "2500 OK\r\n", "250+x\r\n",
    "250-a\r\n251 b\r\n", "250 \u{1}\r\n", "250 a\rb\r\n", "x50 OK\r\n", "٢50 OK\r\n",
  ])
  func `what is no line of a reply is refused`(_ text: String) {
    #expect(throws: TorControlFault.self) { try replies(text) }
  }

  @Test func `neither a line nor a reply goes on for ever`() throws {
    let limit = TorReplyReader.maximumLineByteCount
    let longest = "250 " + String(repeating: "a", count: limit - 5)
    #expect(try replies(longest + "\r\n").count == 1)
    #expect(throws: TorControlFault.self) {
      try replies("250 " + String(repeating: "a", count: limit))
    }
    let line = "250-a\r\n"
    let most = TorReplyReader.maximumLineCount
    #expect(try replies(String(repeating: line, count: most - 1) + "250 b\r\n").count == 1)
    #expect(throws: TorControlFault.self) { try replies(String(repeating: line, count: most + 1)) }
  }

  // MARK: Progress

  @Test(arguments: [
    (#"NOTICE BOOTSTRAP PROGRESS=0 TAG=starting SUMMARY="Starting""#, 0),
    (
      #"WARN BOOTSTRAP PROGRESS=45 TAG=x SUMMARY="PROGRESS=99" WARNING="No route" REASON=NOROUTE"#,
      45
    ),
    (#"NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY="Done""#, 100),
  ])
  func `a phase of the start is a percentage`(_ phase: String, _ percent: Int) throws {
    let reply = try reply("250-status/bootstrap-phase=\(phase)\r\n250 OK\r\n")
    #expect(reply.bootstrapPercent == percent)
  }

  @Test(arguments: [
    "250-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=101 TAG=x\r\n250 OK\r\n",
    "250-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=-1 TAG=x\r\n250 OK\r\n",
    "250-status/bootstrap-phase=NOTICE BOOTSTRAP\r\n250 OK\r\n", "250 OK\r\n",
    "250-version=PROGRESS=5\r\n250 OK\r\n",
    "552-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=5 TAG=x\r\n552 x\r\n",
  ])
  func `anything else is no phase`(_ text: String) throws {
    #expect(try reply(text).bootstrapPercent == nil)
  }

  // MARK: Authentication

  private func ways(_ line: String) throws -> TorAuthentication? {
    TorAuthentication(
      try reply("250-PROTOCOLINFO 1\r\n250-\(line)\r\n250-VERSION Tor=\"0.4.9\"\r\n250 OK\r\n"))
  }

  @Test func `how a port wants to be talked to is read as it is written`() throws {
    let cookie = try ways(
      #"AUTH METHODS=COOKIE,SAFECOOKIE COOKIEFILE="/run/tor/a \"b\"\\\303\274""#)
    #expect(cookie?.methods == ["COOKIE", "SAFECOOKIE"])
    #expect(cookie?.cookieFile == #"/run/tor/a "b"\ü"#)
    #expect(try ways("AUTH METHODS=NULL")?.methods == ["NULL"])
    #expect(try ways("AUTH METHODS=HASHEDPASSWORD")?.cookieFile == nil)
    for wrong in [
      #"AUTH METHODS=SAFECOOKIE COOKIEFILE="/x"#, #"AUTH METHODS=SAFECOOKIE COOKIEFILE="\x41""#,
      #"AUTH METHODS=SAFECOOKIE COOKIEFILE="/a\000b""#, #"AUTH METHODS=A COOKIEFILE="\777""#,
      "METHODS=NULL",
    ] { #expect(try ways(wrong) == nil, "\(wrong)") }
  }

  @Test func `both sides show that they know the cookie, and neither shows it`() throws {
    var bytes = [UInt8](0..<32)
    let cookie = TorCookie(SecretBytes(taking: &bytes))
    let (own, theirs) = ([UInt8](32..<64), [UInt8](64..<96))
    // By another implementation of HMAC.
    #expect(
      "\(cookie.proof(of: .server, own, theirs))"
        == "3c8780ab52365c0d080750447e5f64dabc00428c6c434579c2043e18c1f85389")
    #expect(
      "\(cookie.proof(of: .controller, own, theirs))"
        == "b47642df2d5abb84f69e6d02d41bed6b44aee33e69562528a82166fc98bc0b1e")
  }

  @Test func `a challenge has a proof and a nonce of 32 bytes each`() throws {
    let hex = String(repeating: "A1", count: 32)
    let challenge = TorChallenge(
      try reply("250 AUTHCHALLENGE SERVERHASH=\(hex) SERVERNONCE=\(hex)\r\n"))
    #expect(challenge?.nonce == [UInt8](repeating: 0xA1, count: 32))
    for wrong in [
      "250 AUTHCHALLENGE SERVERHASH=\(hex)", "250 AUTHCHALLENGE SERVERHASH=A1 SERVERNONCE=\(hex)",
      "250 AUTHCHALLENGE SERVERHASH=\(hex) SERVERNONCE=\(hex)00",
      "250 SERVERHASH=\(hex) SERVERNONCE=\(hex)",
      "513 AUTHCHALLENGE SERVERHASH=\(hex) SERVERNONCE=\(hex)",
    ] { #expect(TorChallenge(try reply(wrong + "\r\n")) == nil, "\(wrong)") }
  }

  @Test func `a file that is no cookie is none, whoever names it`() {
    for path in ["", "cookie", "/", "/dev/zero", "/etc/passwd", "/no/such/cookie"] {
      #expect(throws: TorControlFault.self, "\(path)") { try TorCookie(file: path) }
    }
  }
}
