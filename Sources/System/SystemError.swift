import Failure
import Glibc

/// A system call that failed: which one, on what, and errno.
package struct SystemError: Error, Sendable, Equatable {
  package var code: Int32
  package var call: String
  /// The name or path that the call was about, if it was about one.
  package var path: String?

  package init(_ code: Int32, _ call: String, path: String? = nil) {
    (self.code, self.call, self.path) = (code, call, path)
  }

  /// The error that errno holds now.
  package static func last(_ call: String, path: String? = nil) -> SystemError {
    SystemError(errno, call, path: path)
  }

  package static let notFound = ENOENT
  package static let exists = EEXIST
  package static let notDirectory = ENOTDIR
  package static let isDirectory = EISDIR
  package static let notEmpty = ENOTEMPTY
  package static let noSpace = ENOSPC
  package static let inputOutput = EIO
  package static let symbolicLink = ELOOP
  package static let crossDevice = EXDEV
  package static let invalid = EINVAL
  package static let interrupted = EINTR
  package static let notPermitted = EACCES
  package static let tooLarge = EFBIG

  /// There is more to read than the caller takes. No system call says so: of them only those that write
  /// and truncate know a file that is too large.
  package static func beyondLimit(_ path: String) -> SystemError {
    SystemError(tooLarge, "read", path: path)
  }

  package var isBeyondLimit: Bool { code == Self.tooLarge && call == "read" }

  /// Whether the file system does not know the call: some that run as programs answer ENOSYS.
  package var isNotSupported: Bool { code == EOPNOTSUPP || code == ENOSYS }

  package var isBrokenPipe: Bool { code == EPIPE }

  package var reason: String {
    let text = String(cString: strerror(code))
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  package var category: FailureCategory {
    switch code {
    case ENOSPC, EDQUOT: .noSpace
    case EACCES, EPERM, EROFS: .permission
    default: .ioError
    }
  }

  /// The failure that a user sees: what could not be done, with what, and why.
  package func failure(_ what: String) -> FetchFailure {
    let hint: String? =
      switch category {
      case .noSpace: "free some space, then run again: verified work is kept"
      case .permission: "check owner and permissions, then run again"
      case _ where code == Self.tooLarge && !isBeyondLimit:
        "raise the limit on the size of files (ulimit -f) or take a file system that has a larger one"
      default: nil
      }
    return FetchFailure(category, "\(what): \(reason) (\(call))", hint: hint)
  }
}

/// Runs a call that answers -1 on failure, again if a signal interrupted it.
@inline(__always)
func retryingInterrupts<Value: SignedInteger>(
  _ call: String, path: String? = nil, _ body: () -> Value
) throws(SystemError) -> Value {
  while true {
    let result = body()
    if result != -1 { return result }
    if errno != EINTR { throw .last(call, path: path) }
  }
}

/// Runs system calls, and says what they were for if one fails.
package func doing<Value>(
  _ what: @autoclosure () -> String, _ body: () throws(SystemError) -> Value
) throws(FetchFailure) -> Value {
  do throws(SystemError) { return try body() } catch { throw error.failure(what()) }
}
