import Testing

@testable import fetchres_cli

/// What of a command line is a secret.
@Suite struct HiddenArgumentsTests {
  @Test(
    "the user and password of a proxy are one, with and without a scheme",
    arguments: [
      ["--proxy", "alice:s3cret@proxy:3128"], ["--proxy=alice:s3cret@proxy:3128"],
      ["--proxy", "http://alice:s3cret@proxy:3128"], ["--proxy=socks5h://alice:s3cret@proxy"],
    ])
  func proxy(_ words: [String]) {
    #expect(HiddenArguments.secrets(in: ["pull"] + words) == ["alice:s3cret"])
  }

  @Test(
    "what holds none is left as it is",
    arguments: [
      ["--proxy", "proxy:3128"], ["--proxy=http://proxy:3128"], ["--key", "a@b"], ["me@host"],
      ["--proxy"], ["--header", "nothing"],
    ])
  func nothing(_ words: [String]) { #expect(HiddenArguments.secrets(in: words).isEmpty) }
}
