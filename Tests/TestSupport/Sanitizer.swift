import System

/// What the tests know of a sanitizer that they run under.
package enum Sanitizer {
  /// Whether there is one. It takes memory and time of its own: bounds of them say nothing.
  package static let isThere = ThisProcess.environment("FETCHRES_SANITIZER") != nil

  /// Every how many places an exhaustive search looks: all code runs at one of 16 as well.
  package static let stride = isThere ? 16 : 1
}
