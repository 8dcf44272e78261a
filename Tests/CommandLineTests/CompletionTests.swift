import Foundation
import System
import Testing

@testable import fetchres_cli

@Suite struct CompletionTests {
  static let shells: [(String, @Sendable ([CommandSpec]) -> String)] = [
    ("bash", { Completion.bash($0) }), ("zsh", { Completion.zsh($0) }),
    ("fish", { Completion.fish($0) }),
  ]

  /// The part of a script that is about one command.
  private func part(_ script: String, of command: CommandSpec, _ shell: String) -> String {
    switch shell {
    case "fish":
      return script.split(separator: "\n").filter {
        $0.contains("__fish_seen_subcommand_from \(command.name)'")
      }.joined(separator: "\n")
    default:
      let indent = shell == "bash" ? "  " : "    "
      let start =
        script.range(of: "\n\(indent)\(command.name)) ")
        ?? script.range(of: "\n\(indent)\(command.name))\n")
      guard let start else { return "" }
      let rest = script[start.upperBound...]
      return String(rest[..<(rest.range(of: "\n\(indent)  ;;")?.lowerBound ?? rest.endIndex)])
    }
  }

  @Test("every command, option, verb and choice is completed", arguments: ["bash", "zsh", "fish"])
  func words(_ shell: String) throws {
    let script = try #require(Self.shells.first { $0.0 == shell }).1(Commands.all)
    for command in Commands.all {
      let part = part(script, of: command, shell)
      #expect(!part.isEmpty, "\(shell) \(command.name)")
      for option in command.options {
        for name in option.names {
          let spelled =
            shell != "fish"
            ? name : name.hasPrefix("--") ? "-l \(name.dropFirst(2)) " : "-s \(name.dropFirst()) "
          #expect(part.contains(spelled), "\(shell) \(command.name) \(name)")
        }
        for choice in option.choices {
          #expect(part.contains(choice), "\(shell) \(command.name) \(option.name) \(choice)")
        }
      }
      for verb in Completion.verbs(of: command, Commands.all) {
        #expect(part.contains(verb), "\(shell) \(command.name) \(verb)")
      }
      for option in command.allOptions where option.isHidden {
        #expect(
          !part.contains(shell == "fish" ? "-l \(option.key) " : option.name),
          "\(shell) \(command.name) \(option.name)")
      }
    }
  }

  @Test(
    "each shell that is installed can read its script",
    arguments: ["bash", "zsh", "fish"].filter { Program($0) != nil })
  func syntax(_ shell: String) throws {
    let program = try #require(Program(shell))
    let script = try #require(Self.shells.first { $0.0 == shell }).1(Commands.all)
    let result = try program.run(["-n"], file: script)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(
    "bash completes what is begun",
    arguments: [
      ("fetchres pul", "pull"), ("fetchres pull --on-new-version s", "stop switch"),
      ("fetchres pull --conn", "--connections --connect-timeout"),
      ("fetchres trust re", "remove reset"),
      ("fetchres completion z", "zsh"), ("fetchres help conf", "config"),
    ])
  func bash(_ line: String, _ words: String) throws {
    let program = try #require(Program("bash"))
    let given = line.split(separator: " ").map { "'\($0)'" }
    let script = """
      \(Completion.bash(Commands.all))
      COMP_WORDS=(\(given.joined(separator: " "))) COMP_CWORD=\(given.count - 1)
      _fetchres
      echo "${COMPREPLY[*]}"
      """
    let result = try program.run([], file: script)
    #expect(result.output == words + "\n")
  }
}

/// Another program, if it is installed.
struct Program {
  let path: String

  init?(_ name: String) {
    let found = ["/usr/local/bin", "/usr/bin", "/bin"].map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let found else { return nil }
    path = found
  }

  /// Runs it with a file of that text as its last argument; what it said on both streams.
  func run(_ arguments: [String], file text: String) throws -> (status: Int32, output: String) {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("fetchres-\(UInt64.random(in: 0 ... .max))")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments + [file.path]
    process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
  }
}
