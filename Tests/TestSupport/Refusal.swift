import Failure

/// What became of something: nil if it worked, else the failure.
package func failure(of body: () throws(FetchFailure) -> Void) -> FetchFailure? {
  do {
    try body()
    return nil
  } catch { return error }
}

/// What became of something: nil if it worked, else the category of its failure.
package func category(of body: () throws(FetchFailure) -> Void) -> FailureCategory? {
  failure(of: body)?.category
}
