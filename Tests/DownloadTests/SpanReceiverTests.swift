import Failure
import MerkleTree
import Synchronization
import System
import Testing
import Transport

@testable import Download

/// What becomes of a body when buffers are few.
struct SpanReceiverTests {
  private final class Heard: Sendable {
    private let buffers = Mutex<[(PooledBuffer, Range<Int64>)]>([])

    func add(_ event: SpanReceiver.Event) {
      if case .filled(let buffer, let blocks, _) = event {
        buffers.withLock { $0.append((buffer, blocks)) }
      }
    }

    /// The bytes of what was handed over, whose buffers go back.
    func take(blockSize: Int) -> [(Range<Int64>, [UInt8])] {
      buffers.withLock { buffers in
        defer { buffers = [] }
        return buffers.map { ($1, Array($0.bytes[..<($1.count * blockSize)])) }
      }
    }
  }

  private func offer(_ bytes: ArraySlice<UInt8>, to receiver: SpanReceiver) -> String {
    bytes.withUnsafeBytes { piece in
      switch receiver.receive(body: piece) {
      case .taken: "taken"
      case .pause: "pause"
      case .refuse(let failure): failure.category.rawValue
      }
    }
  }

  @Test func `transfers that share as few buffers as there are of them go on all the same`() throws
  {
    let layout = try #require(BlockLayout(size: 4_000, blockSize: 1_000))
    let pool = BufferPool(bufferSize: 1_000, capacity: 2)
    let heard = Heard()
    func receiver(_ id: Int, _ blocks: Range<Int64>) -> SpanReceiver {
      SpanReceiver(
        Span(id: id, blocks: blocks, isWhole: false, needsFreshConnection: false), layout: layout,
        pool: pool
      ) { heard.add($0) }
    }
    let (one, other) = (receiver(0, 0..<2), receiver(1, 2..<4))
    let content = (0..<4_000).map { UInt8($0 % 251) }
    #expect(offer(content[0..<700], to: one) == "taken")
    #expect(offer(content[2_000..<2_700], to: other) == "taken")
    // The end of a block and the beginning of the next, for which there is no buffer: the block is
    // handed over nevertheless.
    #expect(offer(content[700..<1_400], to: one) == "pause")
    let first = heard.take(blockSize: 1_000)
    #expect(first.map(\.0) == [0..<1])
    #expect(first.first?.1 == Array(content[0..<1_000]))
    // The same bytes again, with more behind them.
    #expect(offer(content[700..<1_900], to: one) == "taken")
    #expect(offer(content[2_700..<4_000], to: other) == "pause")
    #expect(heard.take(blockSize: 1_000).map(\.0) == [2..<3])
    // The same bytes again, in smaller pieces.
    for start in stride(from: 2_700, to: 4_000, by: 100) {
      #expect(offer(content[start..<start + 100], to: other) == "taken")
    }
    #expect(offer(content[1_900..<2_000], to: one) == "taken")
    let rest = heard.take(blockSize: 1_000)
    #expect(rest.map(\.0) == [3..<4, 1..<2])
    #expect(rest.map(\.1) == [Array(content[3_000..<4_000]), Array(content[1_000..<2_000])])
    #expect(offer(content[0..<1], to: one) == "too-large")
  }
}
