import Foundation

/// An answer: right as it is made, then bent by the test.
struct OriginResponse: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    case file(String, Range<Int64>)

    var count: Int64 {
      switch self {
      case .bytes(let bytes): Int64(bytes.count)
      case .file(_, let range): Int64(range.count)
      }
    }
  }

  enum Ending: Sendable {
    case keepAlive
    case close
    case reset
    /// Says nothing more, and keeps the connection open.
    case hold
  }

  var status: Int
  var fields: [(name: String, value: String)]
  var body: Body
  /// Sent instead of status line, fields and body.
  var raw: [UInt8]?
  /// How much of the body is sent before `ending`; nil for all of it.
  var limit: Int64?
  var ending = Ending.keepAlive
  /// Pieces of so many bytes, with so many seconds in between.
  var pace: (bytes: Int, seconds: Double)?

  /// The right answer to a GET for a file below `root`.
  init(to request: OriginRequest, root: String) {
    let path = root + request.path
    guard !request.path.contains("/../"),
      let status = Disk.status(path), status.st_mode & S_IFMT == S_IFREG
    else {
      self.init(404, Array("not here\n".utf8))
      return
    }
    let size = Int64(status.st_size)
    let part = request.range.map { $0.clamped(to: 0..<size) } ?? 0..<size
    guard request.range == nil || !part.isEmpty else {
      self.init(416, [])
      self["Content-Range"] = "bytes */\(size)"
      return
    }
    self.init(request.range == nil ? 200 : 206, [], type: "application/octet-stream")
    body = .file(path, part)
    self["Content-Length"] = "\(body.count)"
    self["ETag"] = "\"\(size)-\(status.st_mtim.tv_sec)\""
    self["Accept-Ranges"] = "bytes"
    if request.range != nil {
      self["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
    }
  }

  init(_ status: Int, _ body: [UInt8], type: String = "text/plain") {
    self.status = status
    self.body = .bytes(body)
    fields = [("Content-Type", type), ("Content-Length", "\(body.count)")]
  }

  subscript(field: String) -> String? {
    get { fields.first { $0.name.lowercased() == field.lowercased() }?.value }
    set {
      fields.removeAll { $0.name.lowercased() == field.lowercased() }
      if let newValue { fields.append((field, newValue)) }
    }
  }

  /// The body, for bending. Its announced length stays as it is.
  var bytes: [UInt8] {
    get {
      switch body {
      case .bytes(let bytes): bytes
      case .file(let path, let range):
        (try? Disk.peek(path, at: range.lowerBound, count: range.count)) ?? []
      }
    }
    set { body = .bytes(newValue) }
  }

  /// Another body, with its length announced.
  mutating func replaceBody(_ bytes: [UInt8]) {
    body = .bytes(bytes)
    self["Content-Length"] = "\(bytes.count)"
  }

  var head: [UInt8] {
    let lines = ["HTTP/1.1 \(status) Whatever"] + fields.map { "\($0.name): \($0.value)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }
}
