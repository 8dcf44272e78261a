import Foundation

/// What each module may import, and the check of a source against it.
struct ImportTable {
  /// The modules of the package from top to bottom.
  let modules: [(name: String, imports: [String])]

  /// What the toolchain gives and who may use it. Everything else of the toolchain is left out on
  /// purpose: Foundation does I/O that an import check cannot see.
  private static let toolchain: [String: Set<String>?] = [
    "Synchronization": nil,
    "Glibc": ["System"],
    "Darwin": ["System"],
    "FoundationEssentials": ["FetchResKit", "fetchres-cli"],
  ]

  /// The only importer of each C module.
  static let importers = ["CLibcurl": "Transport", "CLibcrypto": "Crypto", "CSystem": "System"]

  init(modules: [(name: String, imports: [String])]) { self.modules = modules }

  /// Reads the table out of the text of Package.swift: `let modules`, and what the target of the
  /// command line depends on.
  init?(packageText text: String) {
    guard let table = text.firstMatch(of: /let modules:[^=]*= \[\n([\s\S]*?)\n\]\n/)?.1,
      let command = text.firstMatch(
        of: /name: "fetchres-cli",\s*dependencies: \[([^\]]*)\]/)?.1
    else { return nil }
    modules =
      [("fetchres-cli", Self.words(command))]
      + table.matches(of: /\(\s*"([^"]+)",\s*\[([^\]]*)\]\s*\)/).map {
        (String($0.1), Self.words($0.2))
      }
  }

  private static func words(_ text: Substring) -> [String] {
    text.matches(of: /"([^"]+)"/).map { String($0.1) }
  }

  /// The modules that a source imports, one by one, whatever stands in front of the word `import`.
  static func imports(in source: String) -> [String] {
    let statement =
      /(?:^|;)[ \t]*(?:@\w+(?:\([^)]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)/
      .anchorsMatchLineEndings()
    return source.matches(of: statement).map { String($0.1) }
  }

  /// One sentence for each import in a source of `module` that the table does not allow.
  func violations(module: String, file: String, source: String) -> [String] {
    guard let allowed = modules.first(where: { $0.name == module })?.imports else {
      return ["\(module) stands in no table (\(file))"]
    }
    return Self.imports(in: source).compactMap { name in
      let isAllowed =
        if let users = Self.toolchain[name] {
          users?.contains(module) ?? true
        } else {
          allowed.contains(name) && Self.importers[name, default: module] == module
        }
      return isAllowed ? nil : "\(module) imports \(name) (\(file))"
    }
  }

  /// One sentence for each import of the table that does not point down it.
  var upwardImports: [String] {
    modules.enumerated().flatMap { position, module in
      let below = Set(modules.dropFirst(position + 1).map(\.name)).union(Self.importers.keys)
      return module.imports.filter { !below.contains($0) }
        .map { "\(module.name) stands above nothing called \($0)" }
    }
  }
}
