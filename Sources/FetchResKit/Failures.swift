import Failure

/// What ended a pull, or what a source did wrong during one: a `category` to act on, a `message` and a
/// `hint` to show. No text of it holds passwords, tokens or query values.
public typealias FetchFailure = Failure.FetchFailure

/// The kinds of failures, one stable word each: the same words that the command line and its JSON use.
public typealias FailureCategory = Failure.FailureCategory
