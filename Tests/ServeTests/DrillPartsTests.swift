import Failure
import System
import Testing

@testable import FaultOrigin

@Suite struct DrillPartsTests {
  private static let alternatives = Dictionary(
    uniqueKeysWithValues: Fault.allCases.filter { $0.facts.arguments.contains(.from) }
      .map { ($0, "there") })

  @Test("a seed draws the same plan every time, and every drawn plan can be read")
  func drawing() throws {
    var seen: Set<Fault> = []
    for seed in 0..<2_000 as Range<UInt64> {
      var (one, other) = (Draw(seed: seed), Draw(seed: seed))
      let text = DrawnPlan.text(&one, size: 1 << 20, alternatives: Self.alternatives)
      #expect(DrawnPlan.text(&other, size: 1 << 20, alternatives: Self.alternatives) == text)
      seen.formUnion(try FaultPlan(text, name: "drawn").rules.map(\.fault))
    }
    #expect(seen == Set(Fault.allCases))
  }

  @Test("without other directories no fault is drawn that needs one")
  func withoutAlternatives() throws {
    for seed in 0..<500 as Range<UInt64> {
      var draw = Draw(seed: seed)
      let text = DrawnPlan.text(&draw, size: 0, alternatives: [:])
      #expect(!text.contains("from="))
      _ = try FaultPlan(text, name: "drawn")
    }
  }

  @Test("a run is repeated as the first of a drill with its own seed")
  func seeds() {
    var settings = DrillSettings(.made(size: 1), executable: "x", scratch: "y")
    settings.seed = 4
    let seed = settings.seed(ofRun: 17)
    settings.seed = seed
    #expect(settings.seed(ofRun: 0) == seed && seed != 4)
  }

  @Test("the command that repeats a run names all that it depends on")
  func command() throws {
    var settings = DrillSettings(.site("a b"), executable: "x", scratch: "y")
    settings.plans = [
      .init(name: "one.plan", plan: FaultPlan()), .init(name: "it's", plan: FaultPlan()),
    ]
    (settings.kills, settings.tampers) = (true, true)
    let report = DrillReport(settings)
    #expect(
      report.command(repeating: RunRecord(index: 3, seed: 9))
        == #"fetchres drill 'a b' --plan 'it'\''s' --runs 1 --seed 9 --kill --tamper"#)
  }

  @Test("what goes wrong in a run stands in all reports, and nothing of it is markup")
  func reports() {
    var report = DrillReport(DrillSettings(.made(size: 5), executable: "x", scratch: "y"))
    var run = RunRecord(index: 2, seed: 77)
    run.plan = ["F04 <every> 5"]
    let step = DrillStep(
      ending: .exited(0), seconds: 1, peakMemory: 5, output: [], error: [],
      traffic: StepTraffic.Totals())
    run.add(step, [.cutBody], [Violation(.secret, "a <secret> & more")], 0.5)
    report.add(run)
    #expect(report.violations == 1)
    #expect(report.text.contains("F04 "))
    #expect(report.text.contains("secret: a <secret> & more"))
    #expect(report.text.contains("fetchres drill --size 5 --runs 1 --seed 77"))
    #expect(report.json.text.contains(#""rule":"secret","text":"a <secret> & more""#))
    #expect(report.html.contains("a &lt;secret&gt; &amp; more"))
    #expect(!report.html.contains("<secret>") && !report.html.contains("<every>"))
  }

  @Test("secrets are found wherever they stand")
  func secrets() throws {
    var draw = Draw(seed: 1)
    let secrets = Secrets(&draw)
    #expect(secrets.areIn(Array("xx\(secrets.query)yy".utf8)))
    #expect(secrets.areIn(Array("bbearer-\(secrets.header)".utf8)))
    #expect(!secrets.areIn(Array(secrets.password.dropLast().utf8)))
    let files = try ServeSite()
    try files.write("a/b/told", secrets.header.utf8)
    try files.write("a/fine", "bearer".utf8)
    #expect(secrets.files(below: files.path) == ["a/b/told"])
  }

  @Test("secrets that go to another name than they were given for are seen")
  func strangers() throws {
    var draw = Draw(seed: 1)
    let secrets = Secrets(&draw)
    let traffic = StepTraffic(secrets)
    func hear(_ host: String, port: Int, _ line: String) throws {
      let head = try RequestHead(
        Array("GET /f HTTP/1.1\r\nHost: \(host)\r\n\(line)\r\n".utf8))
      traffic.hear(.request(RequestRecord(port: port, number: 1, head: head, range: nil)))
    }
    try hear("127.0.0.1:80", port: 1, "Authorization: Bearer \(secrets.header)")
    try hear("localhost:80", port: 1, "Accept: */*")
    #expect(traffic.take().strange.isEmpty)
    try hear("localhost:80", port: 1, "Authorization: Bearer \(secrets.header)")
    try hear("127.0.0.1:81", port: 2, "Authorization: Bearer \(secrets.header)")
    #expect(traffic.take().strange == ["localhost:80 on port 1", "127.0.0.1:81 on port 2"])
    #expect(traffic.take().requests == 0)
  }

  @Test("a text of JSON is quoted as RFC 8259 says")
  func json() {
    let value = JSON.object([
      ("a\"b", .text("c\\d\u{1}\n")), ("e", .list([.null, .bool(true), .number(-1)])),
    ])
    #expect(value.text == #"{"a\"b":"c\\d\u0001\u000a","e":[null,true,-1]}"#)
  }
}
