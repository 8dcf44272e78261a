import Failure

/// The mirrors that are kept by hand for an origin: at most eight beside the publisher's own. A pull
/// that runs sees a change within two seconds.
extension Fetcher {
  /// In the order in which they were added.
  ///
  /// - Throws: `usage` if `origin` is none, `io-error`, `permission`.
  public func mirrors(of origin: String) throws(FetchFailure) -> [String] {
    try MirrorList(stateDirectory: stateDirectory).list(origin)
  }

  /// Adds a base URL that has what the publisher's site has; it need not be trusted.
  ///
  /// - Returns: the URL as it is kept.
  /// - Throws: `usage` for what is no http or https URL without user name, query and fragment, is there
  ///   already, or is one too many.
  @discardableResult
  public func addMirror(_ url: String, to origin: String) throws(FetchFailure) -> String {
    try MirrorList(stateDirectory: stateDirectory).add(origin, url)
  }

  /// Takes a mirror away: what comes from it now is given up, and others take over.
  ///
  /// - Throws: `usage` if it is none of this origin's.
  public func removeMirror(_ url: String, of origin: String) throws(FetchFailure) {
    try MirrorList(stateDirectory: stateDirectory).remove(origin, url)
  }
}
