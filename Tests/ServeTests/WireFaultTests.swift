import Failure
import System
import Testing

@testable import FaultOrigin

/// What each fault does to the bytes on the wire.
@Suite struct WireFaultTests {
  /// Faults that hold a connection open, or change only its course.
  private static let slow: Set<Fault> = [
    .silentBody, .silentAnswer, .trickle, .endlessBody,
  ]

  private static let asNeeded: [Fault: String] = [
    .refusedBeyondEnd: "1000-1050", .wholeBeyondEnd: "1000-1050",
  ]

  @Test(
    "every fault changes what comes over the wire, and says so once",
    arguments: Fault.allCases.filter { !slow.contains($0) })
  func changes(_ fault: Fault) throws {
    let from = fault.facts.arguments.contains(.from) ? " from=outside" : ""
    let faulty = try FaultySite(fault.rawValue + from)
    let path = FaultySite.path(for: fault)
    let range = path == FaultySite.dataPath ? Self.asNeeded[fault] ?? "200-499" : nil
    let plain = try FaultySite("")
    let right = try plain.exchange(path, range: range)
    // A reset may come before the bytes in front of it.
    let closes = fault != .closedBetween
    let spoilt = (try? faulty.exchange(path, range: range, closes: closes)) ?? []
    #expect(faulty.faults.map(\.fault) == [fault])
    #expect(plain.faults.isEmpty)
    switch fault {
    // These are seen by a client that keeps its connection, or by a clock.
    case .closedBetween, .steady: #expect(Self.body(spoilt) == Self.body(right))
    default: #expect(Self.undated(spoilt) != Self.undated(right))
    }
    if fault != .dead { #expect(faulty.faults.first?.path == path) }
  }

  private static func body(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let end = Array("\r\n\r\n".utf8)
    return bytes.indices.first { bytes[$0...].starts(with: end) }.map { bytes[($0 + 4)...] }
  }

  /// Without what differs from run to run.
  private static func undated(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).components("\r\n").filter {
      !$0.hasPrefix("Date: ") && !$0.hasPrefix("ETag: \"1") && !$0.hasPrefix("Last-Modified: ")
    }
  }

  @Test("a cut body ends where the rule says, behind a head that promised more")
  func cut() throws {
    let faulty = try FaultySite("F04 bytes=70")
    let text = try faulty.exchange(FaultySite.dataPath, range: "200-499")
    #expect(Self.body(text).map(Array.init) == Array(FaultySite.data[200..<270]))
    #expect(String(decoding: text, as: UTF8.self).contains("Content-Length: 300\r\n"))
  }

  @Test("one flipped bit is one, in the range that was asked for")
  func flipped() throws {
    let faulty = try FaultySite("F05:bit")
    let body = try #require(
      Self.body(try faulty.exchange(FaultySite.dataPath, range: "200-499")))
    let changes = zip(body, FaultySite.data[200..<500]).map { $0 ^ $1 }.filter { $0 != 0 }
    #expect(changes.count == 1 && changes.allSatisfy { $0.nonzeroBitCount == 1 })
  }

  @Test("the same seed spoils the same bytes, another seed others")
  func seeded() throws {
    func bodies(_ seed: UInt64) throws -> [[UInt8]] {
      let faulty = try FaultySite("F05:bit chance 50%", seed: seed)
      return try (0..<12).map { index in
        Array(
          Self.body(
            try faulty.exchange(FaultySite.dataPath, range: "\(index)-\(index + 500)")) ?? [])
      }
    }
    let first = try bodies(1)
    #expect(try bodies(1) == first)
    #expect(try bodies(2) != first)
  }

  @Test("wrong blocks and the tile that vouches for them fit each other")
  func forged() throws {
    let faulty = try FaultySite("F38:forged")
    let data = Array(Self.body(try faulty.exchange(FaultySite.dataPath)) ?? [])
    let tile = Array(Self.body(try faulty.exchange(FaultySite.tilePath)) ?? [])
    #expect(data.count == FaultySite.data.count && data != FaultySite.data)
    let leaves = stride(from: 0, to: data.count, by: FaultySite.blockSize).map {
      PlainSHA256.digest([0] + data[$0..<min(data.count, $0 + FaultySite.blockSize)])
    }
    #expect(tile == Array(leaves.joined()))
    // A range that begins inside of a block spoils the same bytes.
    let part = Array(Self.body(try faulty.exchange(FaultySite.dataPath, range: "250-449")) ?? [])
    #expect(part == Array(data[250..<450]))
  }

  @Test("silence lasts until the client goes, and does not hold the server up")
  func silence() throws {
    for rule in ["F13:silence bytes=10", "F13:accept", "F13:trickle", "F11:endless"] {
      let faulty = try FaultySite(rule)
      let client = try faulty.client()
      try client.send("GET \(FaultySite.dataPath) HTTP/1.1\r\nHost: test\r\n\r\n")
      if rule != "F13:accept" { try client.waitForInput() }
      _ = faulty.faults
      faulty.server.stop()
    }
  }

  @Test("a rule waits for its turn: after, first and every count the requests that it applies to")
  func turns() throws {
    let faulty = try FaultySite("F06:empty status=503 on data every 3 first 6 after 2 requests")
    let client = try faulty.client()
    var statuses: [Int] = []
    for _ in 0..<12 {
      statuses.append(try client.ask("GET", FaultySite.dataPath).status)
      #expect(try client.ask("GET", "/manifest").status == 200)
    }
    #expect(statuses.indices.filter { statuses[$0] == 503 } == [4, 7])
  }

  @Test("a rule for one block leaves the others alone")
  func oneBlock() throws {
    let faulty = try FaultySite("F06:empty status=503 on block=3")
    let client = try faulty.client()
    for (range, status) in [("0-299", 206), ("300-310", 503), ("250-350", 503), ("400-", 206)] {
      let answer = try client.ask("GET", FaultySite.dataPath, "Range: bytes=\(range)")
      #expect(answer.status == status)
    }
  }

  @Test("every port has rules of its own")
  func ports() throws {
    let faulty = try FaultySite("port 2\nF06:empty status=503 on any\n")
    #expect(try faulty.client(port: 1).ask("GET", "/manifest").status == 200)
    #expect(try faulty.client(port: 2).ask("GET", "/manifest").status == 503)
    #expect(faulty.faults.map(\.port) == [2])
  }

  @Test("a line of the log is JSON, without the query")
  func line() throws {
    let faulty = try FaultySite("F06:empty status=503 on data")
    _ = try faulty.client().ask("GET", FaultySite.dataPath + "?token=geheim", "Range: bytes=1-2")
    let record = try #require(faulty.faults.first)
    #expect(
      record.line(elapsed: 1.5)
        == #"{"ms":1500,"port":1,"request":1,"path":"/releases/v1/thing.bin","range":"1-2","#
        + #""fault":"F06:empty","rule":1}"#)
  }
}

extension String {
  fileprivate func components(_ separator: String) -> [String] {
    var (parts, rest) = ([String](), self[...])
    while let range = rest.firstRange(of: separator) {
      parts.append(String(rest[..<range.lowerBound]))
      rest = rest[range.upperBound...]
    }
    return parts + [String(rest)]
  }
}
