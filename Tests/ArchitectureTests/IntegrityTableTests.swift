import Testing

/// The tables of attacks and of false alarms in the documentation are proven row by row.
@Suite struct IntegrityTableTests {
  private static let page = "Sources/FetchResKit/FetchResKit.docc/Integrity.md"

  /// The first cells of the tables below a heading.
  private static func rows(below heading: String, in page: String) -> [String] {
    let section = page.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
    return section.filter { $0.hasPrefix("| ") }.dropFirst(2).map { line in
      var cell = line.dropFirst(2).prefix { $0 != "|" }
      while cell.last == " " { cell.removeLast() }
      return String(cell)
    }
  }

  @Test(arguments: [
    ("What each attack leads to", "AttackTests"), ("What must not alarm", "FalseAlarmTests"),
  ])
  func `every row has a test of its name, and every test a row`(
    _ heading: String, _ suite: String
  ) throws {
    let rows = Self.rows(below: heading, in: try Repository.text(Self.page))
    let files = try Repository.names(in: "Tests/ReleaseLogTests").filter { $0.hasPrefix(suite) }
    let tests = try files.map { try Repository.text("Tests/ReleaseLogTests/\($0)") }.joined()
      .split(separator: "\n").compactMap { line in
        line.split(separator: "\"").first == "  @Test("
          ? line.split(separator: "\"").dropFirst().first.map(String.init) : nil
      }
    #expect(rows.count > 5)
    #expect(rows.sorted() == tests.sorted())
  }
}
