import System

/// What a request is answered with: a value, decided before anything is sent.
package struct Answer: Sendable {
  package struct Status: Sendable, Equatable {
    package var code: Int
    package var reason: String

    package init(_ code: Int, _ reason: String) { (self.code, self.reason) = (code, reason) }
  }

  package enum Body: Sendable {
    case none
    case text(String)
    case file(Descriptor, Range<Int64>)
  }

  package var status: Status
  /// Everything but `Connection`, which follows from ``closes``, and `Date`.
  package var fields: HeaderFields
  package var body: Body
  /// Whether the connection ends behind this answer.
  package var closes: Bool

  /// A status with one line that repeats it, for people. Nothing keeps it: what is missing now may be
  /// published in a minute.
  package init(refusing status: Status, closes: Bool) {
    let text = "\(status.code) \(status.reason)\n"
    self.status = status
    self.closes = closes
    fields = HeaderFields()
    fields.append("Content-Type", "text/plain; charset=utf-8")
    fields.append("Cache-Control", "no-store")
    fields.append("Content-Length", String(text.utf8.count))
    body = .text(text)
  }

  /// The answer to a GET or HEAD request for a file that is there.
  ///
  /// - Parameter now: seconds since 1970; a file from the future counts as changed now (RFC 9110
  ///   section 8.8.2.1).
  package init(to head: RequestHead, with file: SiteFile, now: Int64) {
    let modified = min(file.status.modified.seconds, now)
    fields = HeaderFields()
    fields.append("ETag", file.entityTag)
    fields.append("Last-Modified", HTTPDate.text(modified))
    fields.append("Cache-Control", file.cacheControl)
    fields.append("Accept-Ranges", "bytes")
    closes = !head.isPersistent

    var sent = 0..<file.size
    switch Preconditions(head.fields).verdict(entityTag: file.entityTag, modified: modified) {
    case .failed:
      self = Answer(refusing: .preconditionFailed, closes: !head.isPersistent)
      return
    case .notModified:
      status = .notModified
      body = .none
      return
    case .go(let isRangeWanted):
      // A range means something to GET alone (RFC 9110 section 14.2).
      let isRange = isRangeWanted && head.method == "GET"
      switch ByteRange(isRange ? head.fields.values("range") : [], size: file.size) {
      case .whole:
        status = .ok
      case .part(let range):
        status = .partialContent
        sent = range
        fields.append(
          "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)")
      case .unsatisfiable:
        self = Answer(refusing: .rangeNotSatisfiable, closes: !head.isPersistent)
        fields.append("Content-Range", "bytes */\(file.size)")
        return
      }
    }
    fields.append("Content-Type", file.contentType)
    fields.append("Content-Length", String(sent.upperBound - sent.lowerBound))
    body = .file(file.descriptor, sent)
  }

  /// The same answer without its body, as HEAD wants it: the fields stay (RFC 9110 section 9.3.2).
  package var withoutBody: Answer {
    var answer = self
    answer.body = .none
    return answer
  }
}

extension Answer.Status {
  package static let ok = Self(200, "OK")
  package static let partialContent = Self(206, "Partial Content")
  package static let notModified = Self(304, "Not Modified")
  package static let badRequest = Self(400, "Bad Request")
  package static let forbidden = Self(403, "Forbidden")
  package static let notFound = Self(404, "Not Found")
  package static let methodNotAllowed = Self(405, "Method Not Allowed")
  package static let requestTimeout = Self(408, "Request Timeout")
  package static let preconditionFailed = Self(412, "Precondition Failed")
  package static let contentTooLarge = Self(413, "Content Too Large")
  package static let uriTooLong = Self(414, "URI Too Long")
  package static let rangeNotSatisfiable = Self(416, "Range Not Satisfiable")
  package static let headTooLarge = Self(431, "Request Header Fields Too Large")
  package static let internalError = Self(500, "Internal Server Error")
  package static let versionNotSupported = Self(505, "HTTP Version Not Supported")
}
