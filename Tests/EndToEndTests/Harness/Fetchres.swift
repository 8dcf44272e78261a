import Foundation
import System
import Testing

/// The program under test, with a home of its own.
struct Fetchres: Sendable {
  /// Its home; there for as long as this value is.
  let scratch: Scratch

  init(_ scratch: Scratch) { self.scratch = scratch }

  var home: String { scratch.path }

  /// The binary lies beside the bundle of the tests.
  static let binary: String = {
    let bundle =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return Path.join(Path.parent(bundle), "fetchres")
  }()

  /// Long enough for the slowest step on a busy machine.
  static let patience = 90.0

  var environment: [String: String] {
    var environment = [
      "HOME": home, "XDG_STATE_HOME": "\(home)/state", "XDG_CONFIG_HOME": "\(home)/config",
      "NO_COLOR": "1",
    ]
    for name in ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "TMPDIR"] {
      environment[name] = ThisProcess.environment(name)
    }
    return environment
  }

  /// Starts the program and comes back at once.
  ///
  /// - Parameter directory: the working directory of the program.
  func start(
    _ arguments: [String], in directory: String? = nil, variables: [String: String?] = [:]
  ) throws -> Child {
    var environment = environment
    for (name, value) in variables { environment[name] = value }
    return try Child(
      Self.binary, arguments, environment: environment, directory: directory)
  }

  /// Runs the program to its end, which has to come.
  func run(
    _ arguments: [String], in directory: String? = nil, variables: [String: String?] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    let child = try start(arguments, in: directory, variables: variables)
    return try Outcome(of: child, sourceLocation: sourceLocation)
  }

  func run(
    _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Outcome {
    try run(arguments, sourceLocation: sourceLocation)
  }
}

/// What a run of the program ended with.
struct Outcome: Sendable, CustomTestStringConvertible {
  let ending: Child.Ending
  let error: String
  /// The bytes of the standard output.
  let bytes: [UInt8]

  /// Waits for the end of the program.
  init(
    of child: Child, within seconds: Double = Fetchres.patience,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let ending = child.wait(within: seconds)
    self.ending = try #require(
      ending, "still running after \(seconds) s: \(String(decoding: child.error, as: UTF8.self))",
      sourceLocation: sourceLocation)
    bytes = child.output
    error = String(decoding: child.error, as: UTF8.self)
  }

  var output: String { String(decoding: bytes, as: UTF8.self) }

  /// The exit status; nil if a signal ended the program.
  var exitCode: Int32? {
    if case .exited(let code) = ending { code } else { nil }
  }

  /// The one line of standard output.
  var line: String { output.hasSuffix("\n") ? String(output.dropLast()) : output }

  var testDescription: String { "\(ending)\n\(output)\(error)" }

  // MARK: What `--json` said

  struct Event: Decodable, Sendable {
    var event: String
    var category: String?
    var message: String?
    var hint: String?
    var source: String?
    var block: Int64?
    var exitCode: Int32?
    var httpStatus: Int?
    var wasOnDisk: Bool?
    var version: String?
    var origin: String?
    var path: String?
    var newerVersion: String?
    var release: Int64?
    var size: Int64?
    var fetched: Int64?
    var claimed: Int64?
    var holds: Bool?
    var verified: Int64?
    var total: Int64?
    var url: String?
    var bytes: Int64?
    var refusals: [Refusal]?
    var phase: String?
    var percent: Int?

    struct Refusal: Decodable, Sendable {
      var category: String
      var count: Int
    }
  }

  /// All events; a line that is no JSON is an error.
  func events() throws -> [Event] {
    try output.split(separator: "\n").map {
      try JSONDecoder().decode(Event.self, from: Data($0.utf8))
    }
  }

  func events(_ name: String) throws -> [Event] { try events().filter { $0.event == name } }

  func last(sourceLocation: SourceLocation = #_sourceLocation) throws -> Event {
    try #require(try events().last, sourceLocation: sourceLocation)
  }

  // MARK: What is expected

  /// Fails unless the run ended with this exit status; says all it said if it did not.
  func expect(_ code: Int32, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(ending == .exited(code), "\(testDescription)", sourceLocation: sourceLocation)
  }

  /// Fails unless a run with `--json` ended by this failure, said in its last line and on standard
  /// error.
  func expectFailure(
    _ category: String, _ code: Int32, _ words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    expect(code, sourceLocation: sourceLocation)
    let last = try last(sourceLocation: sourceLocation)
    #expect(
      last.event == "failed" && last.category == category && last.exitCode == code,
      "\(testDescription)", sourceLocation: sourceLocation)
    let message = try #require(last.message, sourceLocation: sourceLocation)
    #expect(
      error.contains("fetchres: error: \(message)"), "\(testDescription)",
      sourceLocation: sourceLocation)
    for word in words {
      #expect(error.contains(word), "\(testDescription)", sourceLocation: sourceLocation)
    }
  }

  /// Fails unless a run without `--json` ended by this failure: error lines and nothing on standard
  /// output.
  func expectRefusal(
    _ code: Int32, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expect(code, sourceLocation: sourceLocation)
    #expect(output.isEmpty, "\(testDescription)", sourceLocation: sourceLocation)
    #expect(
      error.contains("fetchres: error: "), "\(testDescription)", sourceLocation: sourceLocation)
    for word in words {
      #expect(
        error.contains(word), "'\(word)' is not in\n\(testDescription)",
        sourceLocation: sourceLocation)
    }
  }
}
