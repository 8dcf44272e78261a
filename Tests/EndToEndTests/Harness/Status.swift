import Foundation
import Testing

/// What `status --json` says.
struct Status: Decodable, Sendable {
  struct Version: Decodable, Sendable {
    var version: String
    var release: Int64
    var size: Int64
    var blocks: Int64
    var root: String
    var path: String?
    var onDisk: Int64?
  }

  var directory: String
  var origin: String?
  var current: String?
  var complete: [Version]
  var unfinished: [Version]
  var sources: [Source]

  struct Source: Decodable, Sendable {
    var url: String
    var bytes: Int64
    var refusals: [Outcome.Event.Refusal]
    var failures: Int
    var wait: Int
    var held: Int
  }
}

extension Workbench {
  func status() throws -> Status {
    let outcome = try fetchres.run("status", directory, "--json")
    outcome.expect(0)
    return try JSONDecoder().decode(Status.self, from: Data(outcome.bytes))
  }
}
