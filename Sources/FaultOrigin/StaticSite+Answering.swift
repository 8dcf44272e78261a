extension StaticSite {
  /// Decides the answer to a request. Opens the file; sends and reads nothing.
  ///
  /// - Parameter now: seconds since 1970.
  package func answer(_ head: RequestHead, now: Int64) -> Answer {
    let closes = !head.isPersistent
    switch head.method {
    case "GET": return get(head, now: now)
    case "HEAD": return get(head, now: now).withoutBody
    default:
      var answer = Answer(refusing: .methodNotAllowed, closes: closes)
      answer.fields.append("Allow", "GET, HEAD")
      return answer
    }
  }

  private func get(_ head: RequestHead, now: Int64) -> Answer {
    // A body means nothing here, and may be an attempt to smuggle a request past somebody in front
    // of this server (RFC 9110 section 9.3.1).
    if head.hasBody { return Answer(refusing: .contentTooLarge, closes: true) }
    do throws(SiteRefusal) {
      return Answer(to: head, with: try file(head.target), now: now)
    } catch {
      return Answer(refusing: error.status, closes: !head.isPersistent)
    }
  }
}

extension SiteRefusal {
  var status: Answer.Status {
    switch self {
    case .malformed: .badRequest
    case .notFound: .notFound
    case .forbidden: .forbidden
    case .unreadable: .internalError
    }
  }
}

extension RequestRefusal {
  var status: Answer.Status {
    switch self {
    case .malformed: .badRequest
    case .targetTooLong: .uriTooLong
    case .headTooLarge: .headTooLarge
    case .unsupportedVersion: .versionNotSupported
    case .late: .requestTimeout
    }
  }
}
