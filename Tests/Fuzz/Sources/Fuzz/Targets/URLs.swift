import Failure
import Manifest
@testable import Transport

extension FuzzTarget {
  /// What is checked of a URL is what is fetched, and what is shown of it holds no secret.
  static let url = FuzzTarget("url") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let url = try? WebURL(text) {
      expectSound(url)
      guard let site = try? SiteURL(text) else { fatalError("Fuzz: a URL that is no site") }
      expectSound(site.base)
      expect(site.base.path.hasSuffix("/"), "the base '\(site.base.path)'")
      expect(site.base.hasSameOrigin(as: url), "another origin")
      expect(site.base.query == url.query && site.base.userinfo == url.userinfo, "a secret lost")
      expect(site.pinnedVersion != "" && !site.manifestName.isEmpty, "empty names")
      expect(!site.manifestName.contains("/"), "the name '\(site.manifestName)'")
    }
    if let base = try? WebURL("https://host.example:8443/a/b/c?token"),
      let url = try? WebURL(text, relativeTo: base)
    {
      expectSound(url)
    }
    // A mirror may name an address that does not exist, such as one of three colons.
    if Mirror.isValid(text), let url = try? WebURL(text) {
      expect(url.userinfo == nil && url.query == nil, "a mirror with secrets")
      expect(areSame(url.path, text.dropFirst(pathStart(of: text))), "another path")
    }
    expectHidden(text)
  }

  /// Read again, it is the same.
  private static func expectSound(_ url: WebURL) {
    expect(url.path.hasPrefix("/") && (1...65_535).contains(url.port), "\(url.shown)")
    expect(url.scheme == "http" || url.scheme == "https", "\(url.shown)")
    expect((try? WebURL(url.text)) == url, "another URL: \(url.text)")
    let shown = try? WebURL(url.shown)
    expect(shown?.userinfo == nil && shown?.query == nil, "secrets in \(url.shown)")
    expect(shown.map { $0.hasSameOrigin(as: url) && $0.path == url.path } == true, "\(url.shown)")
  }

  /// A password is never shown, wherever the text around it goes wrong.
  private static func expectHidden(_ text: String) {
    let secret = "S3cR3t"
    guard !text.contains(secret) else { return }
    let halves = text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
    let whole = "http://\(halves[0]):\(secret)@\(halves.count > 1 ? halves[1] : "host/")"
    do throws(FetchFailure) {
      let url = try WebURL(whole)
      if url.userinfo?.contains(secret) == true {
        expect(!url.shown.contains(secret), "a password in \(url.shown)")
      }
    } catch {
      expect(!"\(error)".contains(secret), "a password in \(error)")
    }
  }

  /// How many characters stand before the path of a URL with an authority.
  private static func pathStart(of text: String) -> Int {
    let scheme = text.hasPrefix("https") ? 8 : 7
    return scheme + text.dropFirst(scheme).prefix { $0 != "/" }.count
  }
}
