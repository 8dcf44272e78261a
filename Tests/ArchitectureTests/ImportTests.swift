import Testing

@Suite struct ImportTests {
  private func table() throws -> ImportTable {
    try #require(ImportTable(packageText: Repository.text("Package.swift")))
  }

  @Test func `every import of the sources stands in the table`() throws {
    let table = try table()
    var seen = 0
    for module in try Repository.names(in: "Sources") {
      for file in try Repository.files(below: "Sources/\(module)", suffix: ".swift") {
        let source = try Repository.text(file)
        #expect(table.violations(module: module, file: file, source: source) == [])
        seen += ImportTable.imports(in: source).count
      }
    }
    #expect(seen >= 50, "the sources were not found")
  }

  @Test func `the table names the modules from top to bottom and points down only`() throws {
    let table = try table()
    #expect(
      table.modules.map(\.name) == [
        "fetchres-cli", "FaultOrigin", "FetchResKit", "Download", "Publishing", "ReleaseLog",
        "Transport", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto", "System",
        "Failure",
      ])
    #expect(table.upwardImports == [])
  }

  @Test func `each C module has one importer`() throws {
    for (cModule, importer) in ImportTable.importers {
      let importers = try table().modules.filter { $0.imports.contains(cModule) }.map(\.name)
      #expect(importers == [importer])
    }
  }

  @Test func `the proofs know nothing of the world, and the world nothing of the proofs`() throws {
    let world: Set = ["System", "Storage", "Transport", "CSystem", "CLibcurl"]
    let proofs: Set = ["MerkleTree", "SignedNote", "Manifest"]
    for module in try table().modules {
      if proofs.contains(module.name) || module.name == "Crypto" {
        #expect(world.isDisjoint(with: module.imports), "\(module.name)")
      }
      if world.contains(module.name) {
        #expect(proofs.isDisjoint(with: module.imports), "\(module.name)")
      }
    }
  }

  @Test func `every directory of the sources is a module of the table or a C module`() throws {
    let known = try table().modules.map(\.name) + Array(ImportTable.importers.keys)
    #expect(try Repository.names(in: "Sources") == known.sorted())
  }

  @Test func `the top level holds nothing but what belongs there`() throws {
    let known: Set = [
      "Package.swift", "Sources", "Tests", "TestVectors", "Samples", "README.md", "CHANGELOG.md",
      "CONTRIBUTING.md",
    ]
    let names = try Repository.names(in: ".").filter { !$0.hasPrefix(".") }
    #expect(names.contains("Package.swift"))
    #expect(names.filter { !known.contains($0) } == [])
  }
}

/// The checker can fail.
@Suite struct ImportTableTests {
  private let table = ImportTable(modules: [
    ("FetchResKit", ["Transport", "Storage"]),
    ("Transport", ["CLibcurl"]),
    ("Storage", ["CLibcurl", "Failure"]),
    ("System", ["CSystem"]),
    ("Failure", []),
  ])

  @Test(arguments: [
    ("Transport", "import Storage"),
    ("Storage", "import Transport"),
    ("Storage", "import CLibcurl"),
    ("Failure", "import Glibc"),
    ("Storage", "import CSystem"),
    ("FetchResKit", "import Foundation"),
    ("Storage", "import FoundationEssentials"),
    ("Storage", "@preconcurrency public import Dispatch"),
    ("Storage", "@_spi(Testing) import struct Foundation.Data"),
    ("Storage", "import Failure; import Foundation"),
    ("Storage", "#if os(Linux)\n  @testable import System\n#endif"),
    ("Unknown", ""),
  ])
  func `a source with a forbidden import is reported`(module: String, source: String) {
    #expect(table.violations(module: module, file: "Made.swift", source: source).count == 1)
  }

  @Test(arguments: [
    ("Transport", "import CLibcurl\nimport Synchronization"),
    ("System", "import CSystem\nimport Glibc\n"),
    ("FetchResKit", "import FoundationEssentials\ninternal import Storage"),
    ("Storage", "// import Foundation\nlet text = \"import Foundation\"\nimport Failure"),
  ])
  func `a source that keeps to the table passes`(module: String, source: String) {
    #expect(table.violations(module: module, file: "Made.swift", source: source) == [])
  }

  @Test func `an import that points up, or at itself, is reported`() {
    let cycle = ImportTable(modules: [("Upper", ["Lower"]), ("Lower", ["Upper"]), ("Own", ["Own"])])
    #expect(cycle.upwardImports.count == 2)
    #expect(table.upwardImports == [])
  }

  @Test func `a package text without a table is no table`() {
    #expect(ImportTable(packageText: "let package = Package(name: \"x\")") == nil)
  }
}
