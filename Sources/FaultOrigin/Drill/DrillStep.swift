import System

/// One start of the program under test, and what it ended with.
struct DrillStep: Sendable {
  enum Ending: Sendable, Equatable {
    case exited(Int32)
    /// By the drill, on purpose.
    case killed
    /// By a signal that nobody meant to send.
    case crashed(Int32)
    case hung

    var text: String {
      switch self {
      case .exited(let code): "exit \(code)"
      case .killed: "killed"
      case .crashed(let signal): "signal \(signal)"
      case .hung: "hung"
      }
    }
  }

  var ending: Ending
  var seconds: Double
  var peakMemory: Int64
  var output: [UInt8]
  var error: [UInt8]
  var traffic: StepTraffic.Totals
}

/// When a pull is killed, if it is still there: after so many seconds, or when its origin has sent so
/// many bytes.
struct Kill: Sendable, Equatable {
  var seconds: Double
  var bytes: Int64

  init(_ draw: inout Draw, size: Int64) {
    let isByBytes = draw.chance(0.6)
    bytes = isByBytes ? draw.below(size + size / 8 + 1_000) : .max
    // The first moments are the shortest, and matter as much as the rest.
    seconds = isByBytes ? 2 : Double(draw.below(draw.chance(0.5) ? 60 : 900)) / 1_000
  }
}

/// What an origin was asked and what it did, while one process ran.
final class StepTraffic: Sendable {
  struct Totals: Sendable {
    var requests: Int64 = 0
    var connections: Int64 = 0
    var bytes: Int64 = 0
    var faults: [FaultRecord] = []
    /// Requests with a secret that went to another name than the secret was meant for.
    var strange: [String] = []
  }

  private let state = Monitor(Totals())
  private let secrets: Secrets

  init(_ secrets: Secrets) { self.secrets = secrets }

  /// Takes what was counted, and begins anew.
  func take() -> Totals {
    state.change { state in
      defer { state = Totals() }
      return state
    }
  }

  var bytes: Int64 { state.look { $0.bytes } }

  func hear(_ event: OriginEvent) {
    switch event {
    case .connection: state.change { $0.connections += 1 }
    case .sending(_, let bytes): state.change { $0.bytes += bytes }
    case .fault(let record):
      state.change { state in
        // A timeline of thousands says no more than one of hundreds.
        if state.faults.count < 2_000 { state.faults.append(record) }
      }
    case .request(let record):
      let host = record.head.fields.single("host") ?? ""
      // The pull was given the first port under its number; everything else is a stranger.
      let isOwn = record.port == 1 && host.hasPrefix("127.0.0.1:")
      let said = [record.head.target] + record.head.fields.all.map(\.value)
      let tells = !isOwn && secrets.areIn(Array(said.joined(separator: "\n").utf8))
      state.change { state in
        state.requests += 1
        if tells { state.strange.append("\(host) on port \(record.port)") }
      }
    }
  }
}
