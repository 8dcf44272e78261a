import Failure
import Manifest
import Transport

extension WebURL {
  /// A mirror as a user names it: a missing slash at the end is added, everything else has to be as in
  /// a manifest.
  ///
  /// - Throws: `usage`.
  static func mirror(_ text: String) throws(FetchFailure) -> WebURL {
    let url = try WebURL(text)
    guard url.query == nil, url.userinfo == nil else {
      throw FetchFailure(
        .usage, "the mirror \(url.shown) has a query or a user name, which no mirror is given")
    }
    let base = url.path.hasSuffix("/") ? url : try WebURL(url.text + "/")
    guard Mirror.isValid(base.text) else {
      throw FetchFailure(
        .usage, "'\(base.shown)' is no base URL of a mirror",
        hint: "give what stands before 'manifest', such as https://mirror.example.com/world/")
    }
    return base
  }
}
