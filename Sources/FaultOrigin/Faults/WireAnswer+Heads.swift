import System

/// Another status, or fields that nobody should believe. Each says whether it changed anything.
extension WireAnswer {
  mutating func spoilStatus(_ context: inout FaultContext) -> Bool {
    statusLine = "HTTP/1.1 \(context.status([403, 404, 416, 500, 502, 204])) Spoilt"
    self["Content-Range"] = nil
    return true
  }

  mutating func drop() -> Bool {
    replaceBody([])
    return true
  }

  mutating func becomePage() -> Bool {
    statusLine = Self.statusLine(.ok)
    self["Content-Range"] = nil
    self["Content-Type"] = "text/html"
    replaceBody([.bytes(Array(Self.page.utf8))])
    return true
  }

  mutating func add(_ name: String, _ value: String) -> Bool {
    self[name] = value
    return true
  }

  mutating func addFields(_ count: Int) -> Bool {
    fields += (0..<count).map { .init(name: "X-Field-\($0)", value: "a") }
    return true
  }

  mutating func end(_ ending: Ending) -> Bool {
    self.ending = ending
    return true
  }

  mutating func goOnForEver(_ made: MadeBytes) -> Bool {
    self["Content-Length"] = nil
    body.append(.made(made, 0..<1 << 40))
    return end(.close)
  }

  /// One chunk, with or without the last one (RFC 9112 section 7.1).
  mutating func makeChunked(keepsLength: Bool, isFinished: Bool) -> Bool {
    let isEmpty = bodyCount == 0
    if !keepsLength { self["Content-Length"] = nil }
    self["Transfer-Encoding"] = "chunked"
    if !isEmpty {
      body = [.bytes(Array("\(String(bodyCount, radix: 16))\r\n".utf8))] + body
      body.append(.bytes(Array("\r\n".utf8)))
    }
    if isFinished { body.append(.bytes(Array("0\r\n\r\n".utf8))) }
    return true
  }

  mutating func slowDown(_ context: inout FaultContext) -> Bool {
    statusLine = "HTTP/1.1 \(context.status([429, 503])) Slow Down"
    self["Content-Range"] = nil
    self["Retry-After"] = context.retryAfter()
    replaceBody([.bytes(Array("slow down\n".utf8))])
    return true
  }

  mutating func redirect(to location: String) -> Bool {
    statusLine = "HTTP/1.1 302 Found"
    self["Content-Range"] = nil
    self["Location"] = location
    return drop()
  }

  private static let page: String = {
    let start = "<!doctype html><html><head><title>Welcome</title></head><body>"
    let end = "<form method=post><input name=room><input type=submit></form></body></html>\n"
    return start + String(repeating: "<p>Please log in to use this network.</p>", count: 12) + end
  }()
}

extension FaultContext {
  fileprivate mutating func status(_ statuses: [Int64]) -> Int64 {
    rule.arguments[.status].flatMap { PlanText.number($0) } ?? draw.one(of: statuses)
  }

  /// The value of a `Retry-After` field.
  fileprivate mutating func retryAfter() -> String {
    let words = ["0", "1", "date", "past", "nonsense", "century"]
    let word = rule.arguments[.retryAfter] ?? draw.one(of: words)
    return switch word {
    case "date": HTTPDate.text(Clocks.wall() + 2)
    case "past": HTTPDate.text(0)
    case "nonsense": "soon, -1"
    case "century": "3155760000"
    default: word
    }
  }

  /// The same server under another name.
  var otherHost: String {
    let host = head.fields.single("host") ?? "127.0.0.1"
    let port = host.split(separator: ":").last.flatMap { PlanText.number($0) } ?? 80
    return (host.hasPrefix("localhost") ? "http://127.0.0.1:" : "http://localhost:") + "\(port)"
  }
}
