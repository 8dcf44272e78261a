import Crypto
import Failure
import MerkleTree
import SignedNote
import System
import TestSupport

/// A small witness (C2SP tlog-witness): `POST /add-checkpoint` with the size that it cosigned last, the
/// proof that the new log continues it, and the checkpoint; answered by a cosignature.
final class WitnessServer: Sendable {
  struct State: Sendable {
    /// What it cosigned last.
    var size: Int64 = 0
    var root = Digest.empty
  }

  let witness = MadeWitness("witness.example/one")
  let base: String
  private let listener: Socket
  private let thread: WorkThread

  /// - Parameter log: the one log that it knows, by its key.
  init(_ log: NoteKey) throws {
    let listener = try Socket.listen(on: SocketAddress("127.0.0.1:0")!)
    self.listener = listener
    base = "http://\(try listener.localAddress().text)"
    thread = WorkThread("witness") { [witness] in
      var state = State()
      while let socket = try? listener.accept() {
        guard let body = try? Self.body(from: socket) else { continue }
        let (status, answer) = Self.answer(body, log, witness, &state)
        let head = "HTTP/1.1 \(status) Whatever\r\nContent-Length: \(answer.count)\r\n"
        try? Self.send(Array((head + "Connection: close\r\n\r\n").utf8) + answer, to: socket)
        socket.finishSending()
      }
    }
  }

  deinit {
    listener.shutdown()
    thread.join()
  }

  /// The protocol itself.
  static func answer(
    _ body: [UInt8], _ log: NoteKey, _ witness: MadeWitness, _ state: inout State
  ) -> (status: Int, body: [UInt8]) {
    let text = String(decoding: body, as: UTF8.self)
    guard text.hasPrefix("old "), let gap = text.firstRange(of: "\n\n") else { return (400, []) }
    let lines = text[..<gap.lowerBound].split(separator: "\n")
    let proof = lines.dropFirst().compactMap { Base64.decode($0) }
    guard let old = Decimal.decode(lines[0].dropFirst(4)), proof.count == lines.count - 1 else {
      return (400, [])
    }
    let note = Array(text[gap.upperBound...].utf8)
    guard let checkpoint = try? Checkpoint(try SignedNote(note).verify([log])) else {
      return (403, [])
    }
    guard old == state.size else { return (409, Array("\(state.size)\n".utf8)) }
    do throws(FetchFailure) {
      if old > 0 {
        try ConsistencyProof.verify(
          size1: old, root1: state.root.bytes, size2: checkpoint.size,
          root2: checkpoint.root.bytes, proof: proof)
      }
    } catch { return (422, []) }
    state = State(size: checkpoint.size, root: checkpoint.root)
    return (200, witness.line(checkpoint, at: Clocks.wall()))
  }

  // MARK: HTTP

  private static func body(from socket: Socket) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = try piece.withUnsafeMutableBytes { try socket.receive(into: $0) }
      if count == 0 { throw SystemError(SystemError.unexpectedEnd, "recv") }
      bytes += piece.prefix(count)
      let text = String(decoding: bytes, as: UTF8.self)
      guard let gap = text.firstRange(of: "\r\n\r\n") else { continue }
      let length =
        text[..<gap.lowerBound].lowercased().split(separator: "\r\n").compactMap {
          $0.hasPrefix("content-length: ") ? Int($0.dropFirst(16)) : nil
        }.first ?? 0
      let head = text[..<gap.upperBound].utf8.count
      if bytes.count >= head + length { return Array(bytes[head..<head + length]) }
    }
  }

  private static func send(_ bytes: [UInt8], to socket: Socket) throws {
    try bytes.withUnsafeBytes { try socket.send($0) }
  }
}
