import Foundation
import Testing

@testable import fetchres_cli

@Suite struct ManualPageTests {
  static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Samples/fetchres.1")

  @Test func `the page that lies among the samples is the one of this table`() throws {
    let kept = try String(contentsOf: Self.file, encoding: .utf8)
    #expect(
      kept == ManualPage.text,
      "write it again: fetchres help --man > Samples/fetchres.1")
  }

  @Test func `the page says every command, option and exit code`() {
    let plain = ManualPage.text.replacing("\\-", with: "-")
    for command in Commands.all {
      #expect(plain.contains("\n.Ss \(command.name)\n"))
      for option in command.options {
        #expect(plain.contains("Fl \(option.key)"), "\(command.name) \(option.name)")
      }
    }
    for (code, _) in HelpCommand.exitCodes { #expect(plain.contains("\n.It \(code)\n")) }
  }

  @Test(.enabled(if: Program("mandoc") != nil, "mandoc is not installed"))
  func `mandoc finds nothing wrong with it`() throws {
    let mandoc = try #require(Program("mandoc"))
    let result = try mandoc.run(["-T", "lint", "-W", "warning"], file: ManualPage.text)
    #expect(result.output.isEmpty && result.status == 0)
  }
}
