import Failure
import MerkleTree
import Synchronization
import System
import Transport

/// Cuts the body of a data response into pooled buffers of whole blocks. Runs on the transport's
/// thread; pauses the transfer when the pool is empty.
final class SpanReceiver: ResponseReceiver, @unchecked Sendable {
  // Unchecked: everything but the constants is touched on the transport's thread alone.
  private let span: Span
  private let layout: BlockLayout
  private let pool: BufferPool
  private let arrived: ArrivedBytes
  /// The same of this span alone.
  let arrivedHere = ArrivedBytes()
  private let report: @Sendable (Event) -> Void

  /// Set aside for all of the span before it began; empty if buffers come as they are needed.
  private var reserved: [PooledBuffer]
  private var nextBlock: Int64
  private var buffer: PooledBuffer?
  private var filled = 0
  /// The blocks that the current buffer is for.
  private var target: Range<Int64>
  private var left: Int64
  /// How many of the bytes that are offered next were taken before the transfer was paused. Taking
  /// what fits, even if it is not all, hands a buffer over instead of holding it: transfers that wait
  /// for one another's buffers would wait for ever.
  private var taken = 0

  enum Event: Sendable {
    case filled(PooledBuffer, blocks: Range<Int64>, span: Span.ID)
    case ended(span: Span.ID, FetchFailure?)
  }

  init(
    _ span: Span, layout: BlockLayout, pool: BufferPool, reserved: [PooledBuffer] = [],
    arrived: ArrivedBytes = ArrivedBytes(), report: @escaping @Sendable (Event) -> Void
  ) {
    self.arrived = arrived
    self.reserved = reserved
    self.span = span
    self.layout = layout
    self.pool = pool
    self.report = report
    nextBlock = span.blocks.lowerBound
    target = nextBlock..<nextBlock
    let bytes = layout.bytes(of: span.blocks)
    left = bytes.upperBound - bytes.lowerBound
  }

  func receive(head: ResponseHead) throws(FetchFailure) {
    #if FETCHRES_MUTANTS
      if Mutant.appendWhole.isChosen, head.status == 200 { return }
    #endif
    guard span.isWhole else {
      return try head.check(range: layout.bytes(of: span.blocks), total: layout.size)
    }
    try head.checkStatus(200)
    try head.checkEncoding()
    if let length = head.contentLength, length != layout.size {
      throw FetchFailure(
        .rangeMismatch, "the server sends \(length) bytes for a file of \(layout.size)")
    }
  }

  func receive(body: UnsafeRawBufferPointer) -> BodyAnswer {
    guard Int64(body.count) - Int64(taken) <= left else {
      return .refuse(FetchFailure(.tooLarge, "the server sends more bytes than it announced"))
    }
    var rest = UnsafeRawBufferPointer(rebasing: body[min(taken, body.count)...])
    while !rest.isEmpty {
      if buffer == nil {
        guard let fresh = reserved.popLast() ?? pool.take() else {
          taken = body.count - rest.count
          return .pause
        }
        buffer = fresh
        target = nextBlock..<min(span.blocks.upperBound, nextBlock + blocksPerBuffer)
        filled = 0
      }
      guard let current = buffer else { preconditionFailure("Download: no buffer") }
      let size = layout.bytes(of: target).count
      let count = min(rest.count, size - filled)
      UnsafeMutableRawBufferPointer(rebasing: current.bytes[filled..<filled + count])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
      arrived.add(count)
      arrivedHere.add(count)
      filled += count
      left -= Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      if filled == size { handOver(target) }
    }
    taken = max(0, taken - body.count)
    return .taken
  }

  func finish(_ failure: FetchFailure?) {
    var failure = failure
    if failure == nil, left > 0 {
      failure = FetchFailure(.truncated, "the response ended \(left) bytes early")
    } else if left == 0, failure?.category == .truncated {
      // All that was announced is there, whether TLS said goodbye or not; blocks prove themselves.
      failure = nil
    }
    // Whole blocks of a transfer that broke off are as good as any.
    if buffer != nil {
      let whole = Int64(filled) / layout.blockSize
      if whole > 0 { handOver(target.lowerBound..<target.lowerBound + whole) }
      buffer = nil
    }
    reserved = []
    report(.ended(span: span.id, failure))
  }

  /// How many buffers all of a span takes.
  static func buffersNeeded(_ span: Span, layout: BlockLayout, pool: BufferPool) -> Int {
    let perBuffer = pool.bufferSize / Int(layout.blockSize)
    return (span.blocks.count + perBuffer - 1) / perBuffer
  }

  private var blocksPerBuffer: Int64 { Int64(pool.bufferSize) / layout.blockSize }

  private func handOver(_ blocks: Range<Int64>) {
    guard let full = buffer else { return }
    buffer = nil
    nextBlock = blocks.upperBound
    report(.filled(full, blocks: blocks, span: span.id))
  }
}

/// Counts what arrives, across all transfers of a run.
final class ArrivedBytes: Sendable {
  private let count = Atomic<Int64>(0)

  func add(_ bytes: Int) { count.add(Int64(bytes), ordering: .relaxed) }

  var total: Int64 { count.load(ordering: .relaxed) }
}
