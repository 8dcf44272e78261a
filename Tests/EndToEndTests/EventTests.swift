import Foundation
import System
import Testing

/// What `--json` gives is what the schema among the samples says.
@Suite struct EventTests {
  private let schema: EventSchema

  init() throws { schema = try EventSchema() }

  /// Fails unless every line is of the schema, and the lines of one run are in order; their kinds.
  @discardableResult
  private func check(
    _ outcome: Outcome, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    var (kinds, last, run): ([String], Int64, String?) = ([], 0, nil)
    for (index, line) in outcome.output.split(separator: "\n").enumerated() {
      let fault = try schema.fault(line)
      #expect(fault == nil, "\(line)", sourceLocation: sourceLocation)
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["id"] as? Int == index + 1, sourceLocation: sourceLocation)
      let time = (object["ms"] as? NSNumber)?.int64Value ?? -1
      #expect(time >= last, sourceLocation: sourceLocation)
      last = time
      if let run { #expect(object["run"] as? String == run, sourceLocation: sourceLocation) }
      run = object["run"] as? String
      kinds.append(object["event"] as? String ?? "")
    }
    return kinds
  }

  @Test("a pull, an interrupted one, a resume, and what follows")
  func pulls() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(80 * Site.blockSize))
    let interrupted = try check(try bench.interruptPull(release, upTo: 48))
    #expect(interrupted.last == "failed")
    let unfinished = try check(
      try bench.fetchres.run("status", bench.directory, "--json"))
    #expect(unfinished == ["status"])
    let resumed = try check(try bench.pull("--json"))
    for kind in ["phase", "manifest", "begin", "progress", "source", "complete"] {
      #expect(resumed.contains(kind), "\(kind)")
    }
    #expect(resumed.last == "complete")
    #expect(try check(try bench.fetchres.run("verify", bench.directory, "--json")) == ["verified"])
    #expect(try check(try bench.fetchres.run("status", bench.directory, "--json")) == ["status"])
    #expect(try check(try bench.fetchres.run("integrity", "report", "--json")) == ["report"])
  }

  @Test("blocks and sources that are refused")
  func refusals() throws {
    let bench = try Workbench()
    let release = try bench.site.publish(randomBytes(8 * Site.blockSize))
    let isFirst = Monitor(true)
    try bench.origin().bendData(of: release) { _, response in
      let lies = isFirst.change { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if lies {
        response.body = .bytes([UInt8](repeating: 7, count: Int(response.body.count)))
      }
    }
    let kinds = try check(try bench.pull("--json"))
    #expect(kinds.contains("block-rejected"))
  }

  @Test(
    "a command line that is wrong ends with a line as well",
    arguments: [
      ["pull", "--json"], ["pull", "ftp://x/", "--json"], ["pull", "http://a/", "--jsn", "--json"],
      ["status", "/no/such/place", "--json"], ["verify", "a", "b", "--json"],
      ["pull", "http://a/", "--json", "--quiet"],
    ])
  func usage(_ arguments: [String]) throws {
    let bench = try Workbench()
    let outcome = try bench.fetchres.run(arguments)
    #expect(outcome.exitCode != 0)
    #expect(try check(outcome) == ["failed"])
    #expect(try outcome.last().exitCode == outcome.exitCode)
  }

  @Test("a command that gives no JSON says nothing on standard output")
  func noJSON() throws {
    let bench = try Workbench()
    try bench.fetchres.run("path", "--json").expectRefusal(2, "no option '--json'")
  }

  @Test(
    "the schema refuses what is no event",
    arguments: [
      "{}", "[]", "7",
      #"{"event":"begin","ms":1,"run":"0123456789abcdef","id":1,"version":"v","size":1}"#,
      #"{"event":"begin","ms":-1,"run":"0123456789abcdef","id":1,"version":"v","size":1,"claimed":0}"#,
      #"{"event":"begin","ms":1,"run":"x","id":1,"version":"v","size":1,"claimed":0}"#,
      #"{"event":"begin","ms":1,"run":"0123456789abcdef","id":1,"version":"v","size":"1","claimed":0}"#,
      #"{"event":"begin","ms":1,"run":"0123456789abcdef","id":1,"version":"v","size":1,"claimed":0,"x":1}"#,
      #"{"event":"begun","ms":1,"run":"0123456789abcdef","id":1,"version":"v","size":1,"claimed":0}"#,
      #"{"event":"failed","ms":1,"run":"0123456789abcdef","id":1,"category":"odd","message":"","exitCode":1}"#,
    ])
  func wrong(_ line: String) throws { #expect(try schema.fault(line) != nil) }

  @Test("the schema takes a line that is as it says")
  func right() throws {
    let line =
      #"{"event":"begin","ms":1,"run":"0123456789abcdef","id":1,"version":"v","size":1,"claimed":0}"#
    #expect(try schema.fault(line) == nil)
  }
}
