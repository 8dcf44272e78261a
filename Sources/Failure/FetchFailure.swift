/// An error that can be shown: what went wrong, where, and what to do next.
///
/// `message` and `hint` are sentences in lower case without a full stop. They hold no block bytes,
/// passwords, tokens, userinfo or query values: whoever makes one sees to that.
public struct FetchFailure: Error, Sendable, Equatable {
  public var category: FailureCategory
  public var message: String
  /// What the reader can do next, if there is something.
  public var hint: String?
  /// The source (a base URL without secrets) whose answer it was, if it was one.
  public var source: String?
  /// The block at fault, if it was one.
  public var block: Int64?
  /// The status behind `http-status`.
  public var httpStatus: Int?
  /// Overrides the exit status of the category: the signal that ended an interrupted run.
  public var signal: Int32?
  /// What else the exchange told, for whoever decides what is asked for next.
  package var exchange = Exchange()

  public init(
    _ category: FailureCategory, _ message: String, hint: String? = nil, source: String? = nil,
    block: Int64? = nil, httpStatus: Int? = nil, signal: Int32? = nil
  ) {
    self.category = category
    self.message = message
    self.hint = hint
    self.source = source
    self.block = block
    self.httpStatus = httpStatus
    self.signal = signal
  }

  /// The process exit status that the contract gives this failure.
  public var exitCode: Int32 {
    if let signal { return 128 + signal }
    return category.exitCode(httpStatus: httpStatus)
  }

  /// The same failure, said of a source.
  public func from(_ source: String) -> FetchFailure {
    var copy = self
    copy.source = copy.source ?? source
    return copy
  }
}
