import Failure
import TestSupport
import Testing

@testable import Transport

@Suite struct RequestPolicyTests {
  private func category(
    _ from: String, _ to: String, hops: Int = 1
  ) throws -> FailureCategory? {
    let (from, to) = (try WebURL(from), try WebURL(to))
    return TestSupport.category { () throws(FetchFailure) in
      try RequestPolicy(userAgent: "test").checkRedirect(from: from, to: to, hops: hops)
    }
  }

  @Test(arguments: [
    ("http://a/x", "http://b/y"), ("http://a/x", "https://a/x"), ("https://a/x", "https://b/y"),
    ("http://a/x", "http://a:81/x"),
  ])
  func `a redirect may lead elsewhere, and to https`(_ from: String, _ to: String) throws {
    #expect(try category(from, to) == nil)
  }

  @Test func `a redirect never leads from https to http`() throws {
    #expect(try category("https://a/x", "http://a/x") == .redirectRefused)
    #expect(try category("https://a/x", "http://b/x", hops: 10) == .redirectRefused)
  }

  @Test func `ten redirects are followed and no more`() throws {
    #expect(try category("http://a/x", "http://a/y", hops: 10) == nil)
    #expect(try category("http://a/x", "http://a/y", hops: 11) == .redirectRefused)
  }

  @Test(arguments: [1, 11])
  func `the words name the host of the target and none of its secrets`(_ hops: Int) throws {
    let (from, to) = (
      try WebURL("https://a/x"), try WebURL("http://u:secret@b:81/secret?t=secret")
    )
    let refusal = try #require(
      failure { () throws(FetchFailure) in
        try RequestPolicy(userAgent: "test").checkRedirect(from: from, to: to, hops: hops)
      })
    #expect(refusal.message.contains("http://b:81"))
    #expect(!refusal.message.contains("secret"))
  }
}
