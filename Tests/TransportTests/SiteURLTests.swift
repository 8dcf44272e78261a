import Failure
import TestSupport
import Testing

@testable import Transport

@Suite struct SiteURLTests {
  @Test(arguments: [
    ("https://h/world/manifest", "https://h/world/", "manifest"),
    ("https://h/manifest", "https://h/", "manifest"),
    ("https://h/world/", "https://h/world/", "manifest"),
    ("https://h/", "https://h/", "manifest"), ("https://h", "https://h/", "manifest"),
    ("https://h/world/latest", "https://h/world/", "latest"),
    ("https://h:81/a/b/c%20d", "https://h:81/a/b/", "c%20d"),
    ("https://h/releases/manifest", "https://h/releases/", "manifest"),
    ("https://h/releases/1.0/other", "https://h/releases/1.0/", "other"),
    ("https://h/releases/1.0/", "https://h/releases/1.0/", "manifest"),
    ("https://h/releases//manifest", "https://h/releases//", "manifest"),
    ("https://h/my-releases/1.0/manifest", "https://h/my-releases/1.0/", "manifest"),
  ])
  func `the base is what stands before the last component`(
    _ text: String, _ base: String, _ name: String
  ) throws {
    let site = try SiteURL(text)
    #expect(site.base.text == base)
    #expect(site.manifestName == name)
    #expect(site.pinnedVersion == nil)
  }

  @Test(arguments: [
    ("https://h/world/releases/2026.11.30/manifest", "https://h/world/", "2026.11.30"),
    ("https://h/releases/1/manifest", "https://h/", "1"),
    ("https://h/releases/1.0%2Bb2/manifest", "https://h/", "1.0+b2"),
    ("https://h/releases/1.0%2bb2/manifest", "https://h/", "1.0+b2"),
    ("https://h/releases/a/releases/b/manifest", "https://h/releases/a/", "b"),
    ("https://h/releases/manifest/manifest", "https://h/", "manifest"),
  ])
  func `a URL below a release pins its version`(
    _ text: String, _ base: String, _ version: String
  ) throws {
    let site = try SiteURL(text)
    #expect(site.base.text == base)
    #expect(site.pinnedVersion == version)
    #expect(site.manifestName == "manifest")
  }

  @Test(arguments: ["1%", "1%2", "1%zz", "%FF%FE"])
  func `a version that cannot be decoded pins nothing`(_ version: String) throws {
    #expect(try SiteURL("https://h/releases/\(version)/manifest").pinnedVersion == nil)
  }

  @Test func `a decoded version may be no version, which is for the caller to refuse`() throws {
    #expect(try SiteURL("https://h/releases/%2E%2E%2Fetc/manifest").pinnedVersion == "../etc")
  }

  @Test(arguments: [
    "https://u:p@h/world/manifest?token=1", "https://u:p@h/world/?token=1",
    "https://u:p@h/world/releases/1.0/manifest?token=1",
  ])
  func `query and userinfo stay with the base`(_ text: String) throws {
    let base = try SiteURL(text).base
    #expect(base.text == "https://u:p@h/world/?token=1")
    #expect(base.shown == "https://h/world/")
  }

  @Test func `no URL is no site`() {
    #expect(category { () throws(FetchFailure) in _ = try SiteURL("world/manifest") } == .usage)
  }
}
