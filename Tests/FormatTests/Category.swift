import Failure

/// What became of a check: nil if it passed, else the category of its refusal.
func category(of check: () throws(FetchFailure) -> Void) -> FailureCategory? {
  do {
    try check()
    return nil
  } catch {
    return error.category
  }
}
