import FaultOrigin
import Failure
import Foundation
import Testing

@Suite struct StaticSiteTests {
  @Test(
    "a target is decoded once and without its query",
    arguments: [
      ("/manifest", ["manifest"]), ("/a/b/c", ["a", "b", "c"]), ("/a?x/../y", ["a"]),
      ("/a%2Bb%2bc+d", ["a+b+c+d"]), ("/%61", ["a"]), ("/%252e", ["%2e"]), ("/a..b", ["a..b"]),
      ("/%C3%A9", ["\u{e9}"]), ("http://host:80/a/b", ["a", "b"]), ("HTTP://host/a?", ["a"]),
    ])
  func components(_ target: String, _ names: [String]) throws {
    #expect(try StaticSite.components(target) == names)
  }

  @Test(
    "hidden names, dot segments and empty names are not found",
    arguments: [
      "/", "//", "//a", "/a/", "/a//b", "/.", "/..", "/../a", "/a/../b", "/a/./b", "/%2e%2e/a",
      "/%2E/a", "/.%2e/a", "/.publish/journal", "/%2epublish/journal", "/releases/.new-1/f",
      "/a%2fb", "/a%2Fb", "/%2fetc%2fpasswd", "/a%00", "/%00", "/%ff", "/?a", "http://host",
      "http://host?a", "http://host/",
    ])
  func notFound(_ target: String) {
    #expect(throws: SiteRefusal.notFound) { try StaticSite.components(target) }
  }

  @Test(
    "a target that is no path is malformed",
    arguments: ["*", "host:80", "a", "https://host/a", "/%", "/%4", "/%zz", "/%+1", "/a%2"])
  func malformed(_ target: String) {
    #expect(throws: SiteRefusal.malformed) { try StaticSite.components(target) }
  }

  @Test("regular files alone are shown, whatever links lead to")
  func kinds() throws {
    let directory = try ServeSite()
    try directory.write("a/file", [1, 2, 3])
    try directory.write(".hidden", [1])
    try directory.write(".publish/next", [1])
    try directory.write("releases/.new-1/f", [1])
    try directory.writeOutside("secret", [9])
    try directory.link("to-file", to: directory.outside + "/secret")
    try directory.link("to-directory", to: directory.outside)
    try directory.link("to-own-file", to: "a/file")
    try directory.link("to-own-directory", to: "a")
    #expect(mkfifo(directory.path + "/fifo", 0o600) == 0)
    let site = try StaticSite(directory.path)
    #expect(try site.file("/a/file").size == 3)
    for target in [
      "/a", "/a/", "/b", "/a/b", "/a/file/b", "/a/file/", "/to-file", "/to-directory/secret",
      "/to-own-file", "/to-own-directory/file", "/fifo", "/.hidden", "/.publish/next",
      "/releases/.new-1/f", "/a/../a/file", "/" + String(repeating: "n", count: 300),
    ] {
      #expect(throws: SiteRefusal.notFound, "\(target)") { try site.file(target) }
    }
  }

  @Test("the site itself may be a link, as the user wrote it")
  func linkedSite() throws {
    let directory = try ServeSite()
    try directory.writeOutside("file", [9])
    try directory.link("link", to: directory.outside)
    #expect(try StaticSite(directory.path + "/link").file("/file").size == 1)
  }

  @Test("a tag changes with the content, and the cache rules follow the name")
  func facts() throws {
    let directory = try ServeSite()
    for name in [
      "manifest", "checkpoint", "releases/1/manifest", "releases/1/checkpoint", "releases/1/f",
      "tile/0/000", "nested/manifest", "nested/checkpoint",
    ] {
      try directory.write(name, [1])
    }
    let site = try StaticSite(directory.path)
    let mutable = try [
      "/manifest", "/checkpoint", "/releases/1/manifest", "/nested/manifest", "/nested/checkpoint",
    ].map { try site.file($0) }
    for file in mutable {
      #expect(file.cacheControl == "max-age=5")
      #expect(file.contentType == "text/plain; charset=utf-8")
    }
    for target in ["/releases/1/checkpoint", "/releases/1/f", "/tile/0/000"] {
      let file = try site.file(target)
      #expect(file.cacheControl == "public, max-age=31536000, immutable")
      #expect(file.contentType == "application/octet-stream")
    }
    let before = try site.file("/manifest").entityTag
    #expect(try site.file("/manifest").entityTag == before)
    try directory.write("manifest", [1, 2])
    #expect(try site.file("/manifest").entityTag != before)
  }

  @Test("a site that is no directory is a usage error")
  func noDirectory() throws {
    let directory = try ServeSite()
    try directory.write("file", [1])
    for path in [directory.path + "/file", directory.path + "/missing", ""] {
      #expect {
        _ = try StaticSite(path)
      } throws: {
        ($0 as? FetchFailure)?.category == .usage
      }
    }
  }
}
