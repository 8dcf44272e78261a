import Failure
import TestSupport
import Testing

@testable import Transport

@Suite struct ProxyServerTests {
  @Test(arguments: [
    ("http://proxy.example:3128", "http://proxy.example:3128"),
    ("HTTP://Proxy.Example:3128/", "http://proxy.example:3128"),
    ("proxy.example:3128", "http://proxy.example:3128"),
    ("proxy.example", "http://proxy.example:80"),
    ("https://proxy.example", "https://proxy.example:443"),
    ("socks5h://127.0.0.1:9050", "socks5h://127.0.0.1:9050"),
    ("socks5h://proxy.example", "socks5h://proxy.example:1080"),
    ("socks5h://[2001:DB8::1]:1080", "socks5h://[2001:db8::1]:1080"),
    ("http://u:secret@proxy.example:1", "http://proxy.example:1"),
  ])
  func `a proxy is taken apart, and shown without secrets`(
    _ text: String, _ shown: String
  ) throws {
    #expect(try ProxyServer(text).shown == shown)
  }

  @Test func `user and password are percent-decoded`() throws {
    let proxy = try ProxyServer("socks5h://a%40b:p%3Aw%2F@proxy.example:1080")
    #expect(proxy.user == "a@b" && proxy.password == "p:w/")
    #expect(try ProxyServer("http://user@proxy.example").password == "")
    #expect(try ProxyServer("http://proxy.example").user == nil)
  }

  @Test(arguments: ["socks5://h:1", "socks4://h:1", "socks4a://h:1", "socks://h:1", "SOCKS5://h:1"])
  func `who would have names resolved here is told of socks5h`(_ text: String) throws {
    let refusal = try #require(failure { () throws(FetchFailure) in _ = try ProxyServer(text) })
    #expect(refusal.category == .usage && refusal.hint?.contains("socks5h://") == true)
  }

  @Test(arguments: [
    "", " ", "http://", "http://h:0", "http://h:65536", "http://h:x", "http://h/path", "http://h?q",
    "http://h#f", "ftp://h:1", "http://h h", "http://h\n", "http://\u{e9}", "http://%00",
    "socks5h://",
    "http://a:b:c@h@i:1/x", "file:///etc/passwd", "http://:1", "http://%01:x@h:1",
    "http://x:%0A@h:1",
    "http://a%3Ab:x@h:1", "http://\(String(repeating: "a", count: 256)):secret@h:1",
    "socks5h://u:\(String(repeating: "a", count: 256))@h:1",
    "http://" + String(repeating: "a", count: 2_048),
  ])
  func `anything else is a usage error with a hint of what to write`(_ text: String) throws {
    let refusal = try #require(failure { () throws(FetchFailure) in _ = try ProxyServer(text) })
    #expect(refusal.category == .usage)
    #expect(refusal.message.utf8.count < 400)
  }

  @Test(arguments: [
    "socks5://user:secret@h:1", "ftp://user:secret@h", "http://user:secret@h:x",
    "http://user:secret@h/path", "user:secret@h:x",
  ])
  func `a refusal never repeats what may be a secret`(_ text: String) throws {
    let refusal = try #require(failure { () throws(FetchFailure) in _ = try ProxyServer(text) })
    #expect(!refusal.message.contains("secret") && refusal.hint?.contains("secret") == false)
  }

  @Test func `Tor is told of origin and server, so that they share no circuit`() throws {
    var proxy = try ProxyServer("socks5h://127.0.0.1:9050")
    proxy.isolation = "https://example.org/thing/"
    let first = try #require(proxy.credentials(for: try WebURL("https://a.example/x?token=secret")))
    let second = try #require(proxy.credentials(for: try WebURL("https://b.example:81/x")))
    #expect(first.user == "https://example.org/thing/" && first.password == "https://a.example")
    #expect(second.user == first.user && second.password == "https://b.example:81")
    proxy.isolation = String(repeating: "a", count: 1_000)
    let long = proxy.credentials(for: try WebURL("https://a/"))
    #expect(long?.user.utf8.count == 255)
  }

  @Test func `what an HTTP proxy is asked for itself goes through no tunnel`() throws {
    let (http, socks) = (try ProxyServer("http://p:1"), try ProxyServer("socks5h://p:1"))
    let (secure, plain) = (try WebURL("https://h/"), try WebURL("http://h/"))
    #expect(http.tunnels(secure) && !http.tunnels(plain))
    #expect(socks.tunnels(secure) && socks.tunnels(plain))
  }
}

@Suite struct ProxyChoiceTests {
  private func excepts(_ list: String, _ url: String) throws -> Bool {
    ProxyExceptions(list).contains(try WebURL(url))
  }

  @Test(arguments: [
    ("*", "http://h/"), ("example.com", "http://example.com/"),
    ("example.com", "https://a.b.example.com:8443/"), (".example.com", "http://a.example.com/"),
    (".example.com", "http://example.com/"), ("*.example.com", "http://a.example.com/"),
    ("EXAMPLE.com", "http://example.com/"), ("a, example.com ,b", "http://example.com/"),
    ("a example.com", "http://example.com/"), ("127.0.0.1", "http://127.0.0.1:81/"),
    ("::1", "http://[::1]:81/"), ("[::1]", "http://[::1]/"), ("[::1]:81", "http://[::1]:81/"),
    ("example.com:81", "http://example.com:81/"), ("example.com", "http://example.com./"),
    ("localhost", "http://localhost/"), ("x,*", "https://h/"),
  ])
  func `hosts are excepted`(_ list: String, _ url: String) throws {
    #expect(try excepts(list, url))
  }

  @Test(arguments: [
    ("", "http://h/"), (",, ,", "http://h/"), (".", "http://h/"),
    ("example.com", "http://badexample.com/"),
    ("example.com", "http://example.com.evil/"), ("example.com:81", "http://example.com/"),
    ("0.0.1", "http://127.0.0.1/"), ("127.0.0.0/8", "http://127.0.0.1/"),
    ("1", "http://127.0.0.1/"),
    ("a.example.com", "http://example.com/"), ("*x", "http://xx/"), ("::1:81", "http://[::1]:82/"),
    ("exam*", "http://example.com/"),
  ])
  func `others are not`(_ list: String, _ url: String) throws { #expect(try !excepts(list, url)) }

  @Test func `each scheme has its proxy, and exceptions have none`() throws {
    let choice = ProxyChoice(
      secure: try ProxyServer("http://s:1"), plain: nil, exceptions: ProxyExceptions("in.example"))
    #expect(choice.server(for: try WebURL("https://h/"))?.host == "s")
    #expect(choice.server(for: try WebURL("http://h/")) == nil)
    #expect(choice.server(for: try WebURL("https://in.example/")) == nil)
    #expect(ProxyChoice().server(for: try WebURL("https://h/")) == nil)
  }

  @Test func `names that a proxy cannot be given go nowhere`() throws {
    let label = String(repeating: "a", count: 63) + "."
    let long = try WebURL("http://\(label)\(label)\(label)\(label)com/")
    let choice = ProxyChoice(try ProxyServer("socks5h://p:1"))
    #expect(category { () throws(FetchFailure) in try choice.check(long) } == .proxyUnreachable)
    #expect(category { () throws(FetchFailure) in try ProxyChoice().check(long) } == nil)
  }

  @Test(arguments: [
    "http://abc.onion/", "https://a.abc.onion:81/", "http://abc.onion./", "http://ABC.ONION/",
  ])
  func `onion addresses go through Tor or nowhere`(_ text: String) throws {
    let url = try WebURL(text)
    var server = try ProxyServer("socks5h://p:1")
    for choice in [ProxyChoice(), ProxyChoice(server)] {
      let refusal = failure { () throws(FetchFailure) in try choice.check(url) }
      #expect(refusal?.category == .unreachable && refusal?.hint?.contains("--tor") == true)
    }
    server.isolation = "x"
    try ProxyChoice(server).check(url)
  }
}
