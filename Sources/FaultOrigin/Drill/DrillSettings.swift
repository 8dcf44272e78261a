import System

/// What a drill is to do.
package struct DrillSettings: Sendable {
  package enum Resource: Sendable, Equatable {
    /// A site that is there. It needs `releases/` and a manifest that names its key.
    case site(String)
    /// A resource of so many bytes, made for the drill.
    case made(size: Int64)
  }

  package var resource: Resource
  /// Tried in turn; without any, each run draws its own.
  package var plans: [NamedPlan] = []
  package var runs = 20
  package var seed: UInt64 = 0
  package var jobs: Int
  /// Whether pulls are killed at random moments.
  package var kills = false
  /// Whether what a pull left behind is damaged before the next one.
  package var tampers = false
  /// The program under test.
  package var executable: String
  /// Where everything happens; removed at the end.
  package var scratch: String

  package struct NamedPlan: Sendable, Equatable {
    package var name: String
    package var plan: FaultPlan

    package init(name: String, plan: FaultPlan) { (self.name, self.plan) = (name, plan) }
  }

  package init(_ resource: Resource, executable: String, scratch: String) {
    self.resource = resource
    self.executable = executable
    self.scratch = scratch
    // Most of a run is waiting.
    jobs = 4 * WorkThread.processorCount
  }

  /// The seed of a run of its own, by which it can be repeated as the first of a drill.
  package func seed(ofRun index: Int) -> UInt64 {
    index == 0 ? seed : Draw.mixed(seed &+ UInt64(index) &* 0x9e37_79b9) & 0x7fff_ffff_ffff
  }
}

/// How long a pull waits for what, in seconds.
struct DrillPatience: Sendable, Equatable {
  var giveUpAfter: Int
  var stallWindow: Int
  var firstByteTimeout: Int

  /// So short that a run is quick.
  static let short = DrillPatience(giveUpAfter: 4, stallWindow: 2, firstByteTimeout: 2)
  /// For a machine that is too busy for the short one.
  static let long = DrillPatience(giveUpAfter: 60, stallWindow: 30, firstByteTimeout: 30)

  var arguments: [String] {
    [
      "--give-up-after", "\(giveUpAfter)", "--stall", "1K/\(stallWindow)", "--first-byte-timeout",
      "\(firstByteTimeout)", "--connect-timeout", "\(firstByteTimeout)",
    ]
  }

  /// The longest that a pull may take: its patience for the manifest, the transfer itself, and its
  /// patience for the last block, each with the window in which silence is noticed; and what a busy
  /// machine may add.
  func limit(size: Int64, rate: Int64?) -> Double {
    let transfer = rate.map { Double(size) / Double($0) } ?? 0
    return Double(2 * (giveUpAfter + stallWindow + firstByteTimeout)) + transfer + 30
  }
}

/// What every pull of a drill may take. Bytes.
enum DrillLimits {
  /// Requests of one process.
  static func requests(blocks: Int64) -> Int64 { 200 + 8 * blocks }

  /// Bytes of bodies that are sent to one process: three times the resource, and what the system may
  /// keep for each connection that the client has stopped reading.
  static func traffic(size: Int64, connections: Int64) -> Int64 {
    3 * size + (1 << 20) + connections * (256 << 10)
  }

  /// The largest resident size of one process: 64 MiB of buffers by default, and 24 MiB for all else.
  static var memory: Int64 {
    #if DEBUG
      // An unoptimised program with shared libraries has more of its own.
      (64 + 24 + 64) << 20
    #else
      (64 + 24) << 20
    #endif
  }
}
