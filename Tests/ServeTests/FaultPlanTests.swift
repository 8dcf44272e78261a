import Failure
import Testing

@testable import FaultOrigin

@Suite struct FaultPlanTests {
  @Test("a plan holds settings and rules, for all ports or for one")
  func whole() throws {
    let plan = try FaultPlan(
      """
      # A mirror that is slow, and one that is broken.
      latency 20ms
      rate 512K
      F05:bit chance 5%   # now and then

      port 2
      rate 1M
      F04 bytes=1K on data,block-tile every 5 first 10 after 3 requests
      F10:previous from=old on block=7 after 2M bytes
      """, name: "plan", directory: "plans")
    #expect(plan.portCount == 2)
    let (first, second) = (plan.port(1), plan.port(2))
    #expect(first.latency == 0.02 && first.rate == 524_288 && first.rules.count == 1)
    #expect(second.latency == 0.02 && second.rate == 1 << 20 && second.rules.count == 3)
    #expect(first.rules[0].fault == .flippedBit && first.rules[0].chance == 0.05)
    #expect(first.rules[0].targets == [.data])
    let cut = second.rules[1]
    #expect(cut.fault == .cutBody && cut.arguments == [.bytes: "1K"])
    #expect(cut.targets == [.data, .blockTile])
    #expect(cut.every == 5 && cut.first == 10 && cut.afterRequests == 3 && cut.afterBytes == 0)
    let old = second.rules[2]
    #expect(old.arguments == [.from: "plans/old"] && old.targets == [.block(7)])
    #expect(old.afterBytes == 2 << 20)
    #expect(plan.honest.rules.isEmpty && plan.honest.port(2).rate == 1 << 20)
  }

  @Test(
    "what means nothing is refused, and its line is named",
    arguments: [
      ("F99", "there is no fault 'F99'"), ("f04", "there is no fault"),
      ("F04 of data", "'of' means nothing"), ("F04 on", "'on' needs something"),
      ("F04 on moon", "'moon' means nothing behind 'on'"), ("F04 every 0", "'0' means nothing"),
      ("F04 chance 5", "'5' means nothing"), ("F04 chance 101%", "'101%' means nothing"),
      ("F04 after 3", "needs 'requests' or 'bytes'"), ("F04 bytes=-1", "no value for 'bytes='"),
      ("F04 status=404", "takes no 'status='"), ("F06:body status=99", "no value for 'status='"),
      ("latency", "needs a quantity"),
      ("latency 1h", "needs a quantity"), ("rate 0", "needs a quantity"),
      ("port 0", "ports 1 to 8"), ("port 9", "ports 1 to 8"),
    ])
  func refused(_ line: String, _ words: String) {
    let failure = #expect(throws: FetchFailure.self) {
      try FaultPlan("# first\n\(line)\n", name: "some.plan")
    }
    #expect(failure?.category == .usage)
    #expect(failure?.message.hasPrefix("some.plan, line 2: ") == true)
    #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
  }

  @Test("a rule without the directory that it needs is completed or refused")
  func directories() throws {
    let plan = try FaultPlan("F32:previous\nport 2\nF33\nF04\n", name: "plan")
    #expect(plan.rules.map(\.lacksDirectory) == [true, true, false])
    let completed = plan.completed(with: [.previousManifest: "a", .olderCheckpoint: "b"])
    #expect(completed.rules.map { $0.arguments[.from] } == ["a", "b", nil])
    var settings = FaultServer.Settings(listen: ["127.0.0.1:0"])
    settings.plan = plan
    let site = try ServeSite()
    let failure = #expect(throws: FetchFailure.self) {
      try FaultServer(site: site.path, settings) { _ in }
    }
    #expect(failure?.message == "the rule 'F32:previous' needs from=DIRECTORY")
  }

  @Test("every fault is in the list, once, and can be named by a rule")
  func listed() throws {
    let lines = Fault.list.split(separator: "\n")
    #expect(lines.count == Fault.allCases.count)
    for fault in Fault.allCases {
      #expect(lines.count { $0.split(separator: " ").first == fault.rawValue[...] } == 1)
      let needs = fault.facts.arguments.contains(.from) ? " from=there" : ""
      #expect(try FaultRule(fault.rawValue + needs).fault == fault)
      #expect(fault.row.count == 3 && fault.row.hasPrefix("F"))
    }
  }

  @Test(
    "places are told from paths",
    arguments: [
      (["manifest"], "manifest"), (["a", "manifest"], "manifest"),
      (["releases", "v1", "manifest"], "manifest"), (["checkpoint"], "checkpoint"),
      (["tile", "0", "000.p", "1"], "log-tile"), (["tile", "entries", "000.p", "1"], "entries"),
      (["releases", "v1", "tile", "0", "x001", "234"], "block-tile"),
      (["releases", "v1", "checkpoint"], "data"), (["b", "releases", "v1", "f"], "data"),
    ])
  func places(_ path: [String], _ word: String) throws {
    let place = SitePlace(path)
    for other in ["manifest", "checkpoint", "log-tile", "block-tile", "entries", "data"] {
      let target = try #require(FaultTarget(other))
      #expect(place.matches(target, bytes: nil, blockSize: nil) == (other == word))
    }
    #expect(place.matches(.any, bytes: nil, blockSize: nil))
    #expect(
      place.matches(.tile, bytes: nil, blockSize: nil) == word.hasSuffix("tile"))
    #expect(place.matches(.block(3), bytes: 399..<400, blockSize: 100) == (word == "data"))
    #expect(!place.matches(.block(3), bytes: 400..<500, blockSize: 100))
  }

  @Test("a block's place in a tile is told from the groups of three digits")
  func tilePlace() {
    let place = SitePlace(["releases", "v", "tile", "1", "x001", "x234", "067.p", "5"])
    #expect(place.kind == .blockTile(level: 1, index: 1_234_067))
  }
}
