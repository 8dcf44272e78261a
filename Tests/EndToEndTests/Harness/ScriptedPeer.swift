import System

/// A listener that says the same to everybody, whatever it is asked, and keeps what it heard.
final class ScriptedPeer: Sendable {
  private let listener: LoopbackListener
  private let all: Monitor<[[UInt8]]>

  /// - Parameters:
  ///   - answers: each is sent once something was heard.
  ///   - holds: whether the connection then stays open.
  init(_ answers: [[UInt8]], holds: Bool = false) throws {
    let all = Monitor<[[UInt8]]>([])
    self.all = all
    listener = try LoopbackListener { Self.serve($0, answers, holds: holds, all) }
  }

  convenience init(_ answer: String, holds: Bool = false) throws {
    try self.init([Array(answer.utf8)], holds: holds)
  }

  /// `127.0.0.1:PORT`
  var address: String { listener.address }

  /// What was heard, one entry for each time that something came.
  var heard: [[UInt8]] { all.look { $0 } }

  var connectionCount: Int { listener.connectionCount }

  private static func serve(
    _ socket: Socket, _ answers: [[UInt8]], holds: Bool, _ all: Monitor<[[UInt8]]>
  ) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    func hear() -> Bool {
      guard let count = try? buffer.withUnsafeMutableBytes({ try socket.receive(into: $0) }),
        count > 0
      else { return false }
      all.change { $0.append(Array(buffer[..<count])) }
      return true
    }
    for answer in answers {
      guard hear() else { return }
      try? answer.withUnsafeBytes { try socket.send($0) }
    }
    if !holds { socket.finishSending() }
    while hear() {}
  }
}
