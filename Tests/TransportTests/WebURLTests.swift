import Failure
import TestSupport
import Testing

@testable import Transport

@Suite struct WebURLTests {
  @Test func `a URL is taken apart`() throws {
    let url = try WebURL("https://user:secret@Example.COM:8443/a/b%20c?token=1&x=/#part")
    #expect(url.scheme == "https")
    #expect(url.host == "example.com")
    #expect(url.port == 8_443)
    #expect(url.path == "/a/b%20c")
    #expect(url.query == "token=1&x=/")
    #expect(url.userinfo == "user:secret")
    #expect(url.text == "https://user:secret@example.com:8443/a/b%20c?token=1&x=/")
  }

  @Test(arguments: [
    ("http://example.com/m", "http", 80), ("https://example.com/m", "https", 443),
    ("HTTPS://example.com/m", "https", 443), ("http://example.com:80/m", "http", 80),
    ("https://example.com:443/m", "https", 443),
  ])
  func `the port of the scheme is known and never written`(
    _ text: String, _ scheme: String, _ port: Int
  ) throws {
    let url = try WebURL(text)
    #expect(url.scheme == scheme)
    #expect(url.port == port)
    #expect(url.text == "\(scheme)://example.com/m")
  }

  @Test(arguments: ["http://example.com:8080/m", "https://example.com:80/m", "http://h:443/m"])
  func `another port is kept`(_ text: String) throws {
    #expect(try WebURL(text).text == text)
    #expect(try WebURL(text).shown == text)
  }

  @Test func `nothing listens on port 0`() {
    #expect(
      category { () throws(FetchFailure) in _ = try WebURL("http://example.com:0/m") } == .usage)
    #expect(
      category { () throws(FetchFailure) in _ = try WebURL("http://example.com:65536/m") }
        == .usage)
  }

  @Test(arguments: [
    "ex%E8mple.com", "ex%C3%A9mple.com", "example%00.com", "example%0A.com", "a%7Fb",
  ])
  func `a host outside ASCII is refused, however it is written`(_ host: String) {
    #expect(
      category { () throws(FetchFailure) in _ = try WebURL("http://\(host)/m") } == .usage)
  }

  @Test(arguments: [
    "http://ex%6%61mple.com/m", "http://h%2525/m", "http://%25%36%31/m", "http://5%35/m",
    "http://%30x7f.1/m", "//ex%6%61mple.com/m",
  ])
  func `a host that another reading would decode further is refused`(_ url: String) throws {
    let base = try WebURL("http://example.com/a")
    #expect(throws: FetchFailure.self) { try WebURL(url, relativeTo: base) }
    #expect(throws: FetchFailure.self) { try WebURL(url) }
  }

  @Test func `an IPv6 address stays in its brackets`() throws {
    let url = try WebURL("http://[2001:DB8::1]:8000/manifest")
    #expect(url.host == "[2001:db8::1]")
    #expect(url.port == 8_000)
    #expect(url.text == "http://[2001:db8::1]:8000/manifest")
  }

  @Test func `a URL without a path has the root`() throws {
    #expect(try WebURL("http://example.com").path == "/")
    #expect(try WebURL("http://example.com?x=1").path == "/")
  }

  @Test(arguments: [
    "https://user:secret@example.com/a?token=secret", "https://secret@example.com/a?secret",
    "https://user:secret@example.com/a#secret", "https://example.com/a?x=secret@host/b",
  ])
  func `what is shown has neither userinfo nor query`(_ text: String) throws {
    let url = try WebURL(text)
    #expect(url.shown == "https://example.com/a")
    #expect(url.appending("").shown == "https://example.com/a")
  }

  @Test func `what stands below a base keeps its query and userinfo`() throws {
    let url = try WebURL("https://u:p@example.com/base/?token=1").appending("releases/1%2B2/tile")
    #expect(url.text == "https://u:p@example.com/base/releases/1%2B2/tile?token=1")
  }

  @Test(arguments: [
    ("next", "https://example.com:8443/a/next"), ("/root", "https://example.com:8443/root"),
    ("../up", "https://example.com:8443/up"), ("//other/x", "https://other/x"),
    ("http://other/x", "http://other/x"), ("?q", "https://example.com:8443/a/b?q"),
  ])
  func `a relative reference is resolved against its base`(
    _ reference: String, _ expected: String
  ) throws {
    let base = try WebURL("https://example.com:8443/a/b")
    #expect(try WebURL(reference, relativeTo: base).text == expected)
  }

  @Test func `a reference to another host takes no userinfo along`() throws {
    let base = try WebURL("https://user:secret@example.com/a")
    #expect(try WebURL("https://other/x", relativeTo: base).userinfo == nil)
    #expect(try WebURL("//other/x", relativeTo: base).userinfo == nil)
  }

  @Test func `dot segments are resolved before anything is compared`() throws {
    #expect(try WebURL("http://h/a/../b/./c").path == "/b/c")
    #expect(try WebURL("http://h/a/../../../c").path == "/c")
  }

  @Test(arguments: [
    "", " ", "example.com/manifest", "manifest", "ftp://h/m", "file:///etc/passwd", "http://",
    "http://h:65536/m", "http://h:x/m", "http://h/a b", "http://h/\u{e9}",
    "http://h/a\nb", "http://h/\u{0}", "http://[::1/m", "http://[x]/m", "javascript:alert(1)",
    "http://h/" + String(repeating: "a", count: 8_192),
  ])
  func `anything else is a usage error with a hint`(_ text: String) throws {
    let refusal = try #require(failure { () throws(FetchFailure) in _ = try WebURL(text) })
    #expect(refusal.category == .usage)
    #expect(refusal.hint?.contains("https://example.com/world/manifest") == true)
    #expect(refusal.message.utf8.count < 400)
  }

  @Test(arguments: [
    "ftp://user:secret@h/m", "http://user:secret@h:x/m", "https://h:x/m?token=secret",
    "user:secret@example.com/manifest", "http://user:se/secret@h/m", "http:user:secret@h/m",
    "http://user:a?secret@h/m", "http://user:a#secret@h/m",
    "http://h:x/m#secret", "http://user:se@secret@h:x/m", "https://user:secret@h/a b",
  ])
  func `a refusal never repeats what may be a secret`(_ text: String) throws {
    let refusal = try #require(failure { () throws(FetchFailure) in _ = try WebURL(text) })
    #expect(!refusal.message.contains("secret"), "\(refusal.message)")
    #expect(refusal.hint?.contains("secret") == false)
  }

  @Test func `a refusal shows what can be shown`() {
    #expect(URLText.shown("ftp://h/m?x") == "ftp://h/m")
    #expect(URLText.shown("ftp://u:p@h/m#x") == "ftp://h/m")
    #expect(URLText.shown("u:p@h/m") == "h/m")
    #expect(URLText.shown("manifest") == "manifest")
  }

  @Test(arguments: [
    ("ftp://u:secret@h:21/secret?secret", "ftp://h:21"), ("socks5://u:secret@h", "socks5://h"),
    ("gopher://h", "gopher://h"), ("javascript:secret", nil), ("secret", nil),
  ])
  func `of a foreign URL no more is named than its place`(_ text: String, _ place: String?) {
    #expect(WebURL.place(of: text) == place)
  }

  @Test func `the target of a redirect has a password only within one origin`() throws {
    let url = try WebURL("https://user:secret@example.com/a")
    func userinfo(_ target: String) throws -> String? {
      try WebURL(target).redirected(from: url).userinfo
    }
    #expect(try userinfo("https://example.com/b") == "user:secret")
    #expect(try userinfo("https://other:one@example.com/b") == "other:one")
    #expect(try userinfo("https://example.com:444/b") == nil)
    #expect(try userinfo("https://other:one@example.org/b") == nil)
  }

  @Test func `credentials belong to scheme, host and port together`() throws {
    let url = try WebURL("https://example.com/a")
    for same in ["https://example.com/b?x", "https://EXAMPLE.com:443/", "https://u@example.com/"] {
      #expect(url.hasSameOrigin(as: try WebURL(same)), "\(same)")
    }
    for other in ["http://example.com/a", "https://example.com:444/a", "https://www.example.com/a"]
    {
      #expect(!url.hasSameOrigin(as: try WebURL(other)), "\(other)")
    }
  }
}
