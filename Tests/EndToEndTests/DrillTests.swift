import Foundation
import System
import TestSupport
import Testing

/// `drill`, and `serve` with faults, as a user runs them.
@Suite struct DrillTests {
  /// A drill bounds the memory and the time of a pull, and a sanitizer takes its own share of both.
  private static let boundsNeed: Comment = "the bounds of a drill hold without sanitizers"

  let scratch: Scratch
  let fetchres: Fetchres

  init() throws {
    scratch = try Scratch()
    fetchres = Fetchres(scratch)
  }

  /// The parts of a report that the tests look at.
  struct Report: Decodable {
    struct Failure: Decodable {
      struct Violation: Decodable {
        var rule: String
        var text: String
      }
      var command: String
      var violations: [Violation]
    }

    var seed: Int64
    var runs: Int
    var pulls: Int
    var faults: Int
    var violations: Int
    var outcomes: [String: [String: Int]]
    var failures: [Failure]
  }

  /// Long enough for a drill on a busy machine.
  private static let patience = 900.0

  private func drill(_ arguments: String...) throws -> (Outcome, Report) { try drill(arguments) }

  private func drill(_ arguments: [String]) throws -> (Outcome, Report) {
    let file = scratch("report.json")
    let child = try fetchres.start(
      ["drill"] + arguments + ["--report", file], variables: ["TMPDIR": scratch.path])
    let outcome = try Outcome(of: child, within: Self.patience)
    let report = try JSONDecoder().decode(Report.self, from: Data(try Disk.read(file)))
    return (outcome, report)
  }

  // MARK: Drilling

  // covers: F01, F02, F03, F04, F05, F06, F07, F08, F10, F11, F12, F13, F14, F16, F18, F20
  // covers: F30, F31, F32, F33, F34, F35, F37, F38
  @Test(
    "every fault that an origin can do, alone and without end, ends pulls as it should",
    .disabled(if: Sanitizer.isThere, Self.boundsNeed))
  func everyFault() throws {
    let list = try fetchres.run("serve", "--list-faults")
    let faults = list.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
    var arguments = ["--size", "300K", "--runs", "\(faults.count)", "--seed", "1"]
    for fault in faults {
      arguments += ["--plan", try scratch.write("\(fault).plan", Array(fault.utf8))]
    }
    let (outcome, report) = try drill(arguments)
    outcome.expect(0)
    // Nobody asks past the end of a file, so that an origin cannot answer it wrongly.
    let never = Set(faults.filter { $0.hasPrefix("F09") }.map(String.init))
    let done = Set(report.outcomes.keys)
    #expect(done.isDisjoint(with: never))
    #expect(Set(faults.map(String.init)).subtracting(done) == never)
  }

  // covers: F21, F23, F24
  @Test(
    "a drill with kills and tampering finds nothing, and its reports say what was done",
    .disabled(if: Sanitizer.isThere, Self.boundsNeed))
  func drill() throws {
    let seed = UInt32.random(in: .min ... .max)
    let page = scratch("report.html")
    let (outcome, report) = try drill(
      "--size", "300K", "--runs", "12", "--seed", "\(seed)", "--kill", "--tamper", "--html", page)
    outcome.expect(0)
    #expect(report.seed == Int64(seed) && report.runs == 12 && report.violations == 0)
    #expect(report.pulls >= 24 && report.faults > 0 && report.failures.isEmpty)
    let last = outcome.output.split(separator: "\n").last ?? ""
    #expect(last.hasPrefix("drill: 12 runs, ") && last.hasSuffix("0 violations (seed \(seed))"))
    for fault in report.outcomes.keys { #expect(outcome.output.contains("\n\(fault) ")) }
    let html = String(decoding: try Disk.read(page), as: UTF8.self)
    for fault in report.outcomes.keys { #expect(html.contains("<td>\(fault)</td>")) }
    // It needs nothing from elsewhere.
    for word in ["http:", "https:", "src=", "href=", "@import", "<script"] {
      #expect(!html.contains(word))
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        .allSatisfy { !$0.hasPrefix("fetchres-drill-") })
  }

  @Test("a drill with a site that is there pulls what that site holds")
  func ownSite() throws {
    let site = try Site(fetchres, at: scratch("site"))
    try Disk.makeDirectory(site.path)
    try site.publish(randomBytes(200_000))
    let plan = try scratch.write("cut.plan", Array("F04 on data first 3\n".utf8))
    let (outcome, report) = try drill(site.path, "--plan", plan, "--runs", "2", "--seed", "7")
    outcome.expect(0)
    #expect(report.runs == 2 && report.outcomes["F04"] != nil)
  }

  @Test(
    "the story of the stale edge in the samples holds, and both of its faults come about",
    .disabled(if: Sanitizer.isThere, Self.boundsNeed))
  func sample() throws {
    let (outcome, report) = try drill(
      "--size", "1M", "--plan", Self.sample, "--runs", "6", "--seed", "3", "--kill", "--tamper")
    outcome.expect(0)
    #expect(report.outcomes["F10:replaced"] != nil && report.outcomes["F04"] != nil)
  }

  @Test("what a drill does not take is refused")
  func usage() throws {
    try fetchres.run("drill", "site", "--size", "1M").expectRefusal(2, "not both")
    try fetchres.run("drill", "--plan", scratch("none")).expectRefusal(2, "cannot read the plan")
    let plan = try scratch.write("bad.plan", Array("\nF04 sometimes\n".utf8))
    try fetchres.run("drill", "--plan", plan).expectRefusal(2, "bad.plan, line 2: 'sometimes'")
    try fetchres.run("drill", "--jobs", "0").expectRefusal(2, "--jobs")
    try fetchres.run("drill", scratch("nowhere")).expectRefusal(6, "nowhere/manifest")
  }

  // MARK: Serving

  private static let sample: String = {
    let file = #filePath
    return Path.join(Path.parent(Path.parent(Path.parent(file))), "Samples/stale-edge.plan")
  }()

  // covers: F04, F10
  @Test("a pull from the stale edge gets there, and the log of faults holds a line for each")
  func staleEdge() throws {
    let site = try Site(fetchres, at: scratch("site"))
    try Disk.makeDirectory(site.path)
    let release = try site.publish(randomBytes(60 * Site.blockSize))
    let log = scratch("faults.log")
    let server = try fetchres.start([
      "serve", site.path, "--listen", "127.0.0.1:0", "--faults", Self.sample, "--seed", "1",
      "--fault-log", log,
    ])
    try #require(server.waitForOutput(within: Fetchres.patience) { $0.hasSuffix("\n") })
    let url = String(decoding: server.output, as: UTF8.self).split(separator: "\n")[0]
    let directory = scratch("pulled")
    var exits: [Int32?] = []
    while exits.count < 12, exits.last != 0 {
      let outcome = try fetchres.run([
        "pull", String(url), "--key", site.key, "-d", directory, "--connections", "2",
      ])
      exits.append(outcome.exitCode)
    }
    #expect(exits.last == 0 && exits.dropLast().allSatisfy { $0 == 4 || $0 == 3 }, "\(exits)")
    #expect(
      areEqual(try Disk.read("\(directory)/v1/\(release.file)"), release.bytes))
    let lines = String(decoding: try Disk.read(log), as: UTF8.self).split(separator: "\n")
    let faults = try lines.map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }.map { $0?["fault"] as? String }
    #expect(faults.count { $0 == "F10:replaced" } == 20)
    server.send(SIGTERM)
    try Outcome(of: server).expect(143)
  }

  @Test("serve lists its faults, and has a port for each mirror of a plan")
  func mirrors() throws {
    let list = try fetchres.run("serve", "--list-faults")
    list.expect(0)
    #expect(list.output.contains("F05:bit") && list.output.contains("F38"))
    try fetchres.run("serve", scratch.path, "--fault", "F99").expectRefusal(2, "F99")
    try Disk.makeDirectory(scratch("site"))
    let server = try fetchres.start([
      "serve", scratch("site"), "--listen", "127.0.0.1:0", "--faults",
      try scratch.write("two.plan", Array("port 2\nF18\n".utf8)),
    ])
    try #require(
      server.waitForOutput(within: Fetchres.patience) { $0.split(separator: "\n").count == 2 })
    server.send(SIGTERM)
    try Outcome(of: server).expect(143)
  }

  @Test("the product has no switch for faults of its own")
  func mutants() throws {
    let program = Data(try Disk.read(Fetchres.binary))
    func holds(_ text: String) -> Bool { program.range(of: Data(text.utf8)) != nil }
    // What is in it is found, so that what is not found is not in it.
    #expect(holds("fetchres manifest v1"))
    #expect(!holds("FETCHRES_MUTANT") && !holds("skip-proof") && !holds("never-give-up"))
  }
}
