import ReleaseLog
import Testing

/// A list that a test can change while it expects.
private final class Filed {
  private var list = AlertList()

  var alerts: [Alert] { list.alerts }
  var unacknowledged: [Alert] { list.unacknowledged }
  func file(_ alert: Alert) -> Bool { list.file(alert) }
  func acknowledgeAll() -> Int { list.acknowledgeAll() }
}

@Suite struct AlertTests {
  static func alert(_ kind: Alert.Kind, _ instance: Int) -> Alert {
    Alert(kind, release: 1, instance: "\(instance)", time: 0, message: "message \(instance)")
  }

  @Test("an alert is raised once, and a later, different one again")
  func once() {
    let list = Filed()
    var alert = Self.alert(.fork, 1)
    #expect(list.file(alert))
    alert.message = "said in other words"
    #expect(!list.file(alert))
    #expect(list.acknowledgeAll() == 1 && list.unacknowledged.isEmpty)
    // Also once somebody has seen it.
    #expect(!list.file(alert) && list.unacknowledged.isEmpty)
    #expect(list.file(Self.alert(.fork, 2)))
    #expect(list.file(Self.alert(.rollback, 1)))
    alert.release = 2
    #expect(list.file(alert))
    #expect(list.unacknowledged.count == 3)
  }

  @Test("the newest twenty are kept, what was seen goes first")
  func capacity() {
    let list = Filed()
    for number in 0..<20 { #expect(list.file(Self.alert(.badSignature, number))) }
    #expect(list.acknowledgeAll() == 20)
    for number in 20..<30 { #expect(list.file(Self.alert(.notLogged, number))) }
    #expect(list.alerts.map(\.instance) == (10..<30).map { "\($0)" })
    for number in 30..<60 { #expect(list.file(Self.alert(.withheld, number))) }
    #expect(list.alerts.map(\.instance) == (40..<60).map { "\($0)" })
  }

  @Test(
    "what nobody has seen yet of these kinds is never forgotten",
    arguments: Alert.Kind.allCases)
  func kept(_ kind: Alert.Kind) {
    let list = Filed()
    #expect(list.file(Self.alert(kind, 0)))
    for number in 1..<60 { #expect(list.file(Self.alert(.badSignature, number))) }
    let isThere = list.alerts.contains { $0.kind == kind && $0.instance == "0" }
    #expect(isThere == [.fork, .rollback, .keyChange, .versionReused].contains(kind))
    #expect(list.alerts.count == 20)
    // Many of them outgrow the list, up to a bound.
    for number in 60..<1_000 { _ = list.file(Self.alert(.fork, number)) }
    #expect(list.alerts.count == 100)
  }

  @Test("every kind has words for a user", arguments: Alert.Kind.allCases)
  func words(_ kind: Alert.Kind) {
    #expect(kind.category.rawValue == kind.rawValue)
    #expect(Alert.Kind(kind.category) == kind)
    #expect(kind.category.exitCode() == 5)
    #expect(!kind.meaning.isEmpty && !kind.advice.isEmpty)
    for text in [kind.meaning, kind.advice] { #expect(!text.hasSuffix(".")) }
  }
}
