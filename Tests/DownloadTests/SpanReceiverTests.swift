import Failure
import MerkleTree
import System
import TestSupport
import Testing
import Transport

@testable import Download

@Suite struct SpanReceiverTests {
  /// A receiver, its pool, and what it handed over. Buffers are held until they are given back.
  private final class Subject {
    let layout: BlockLayout
    let pool: BufferPool
    let receiver: SpanReceiver
    let span: Span
    private let events: Mailbox

    private final class Mailbox: Sendable {
      let events = Monitor<[SpanReceiver.Event]>([])
    }

    init(
      size: Int64, blockSize: Int64, blocks: Range<Int64>, isWhole: Bool = false,
      blocksPerBuffer: Int = 1, buffers: Int = 1_000
    ) throws {
      layout = try #require(BlockLayout(size: size, blockSize: blockSize))
      pool = BufferPool(bufferSize: Int(blockSize) * blocksPerBuffer, capacity: buffers)
      span = Span(
        id: 7, source: 0, blocks: blocks, isWhole: isWhole, needsFreshConnection: false,
        usesHTTP2: false)
      let mailbox = Mailbox()
      events = mailbox
      receiver = SpanReceiver(span, layout: layout, pool: pool) { event in
        mailbox.events.look { $0.append(event) }
      }
    }

    var content: [UInt8] {
      let bytes = layout.bytes(of: span.blocks)
      return Array(Subject.content(layout.size)[Int(bytes.lowerBound)..<Int(bytes.upperBound)])
    }

    static func content(_ size: Int64) -> [UInt8] {
      var random = SeededGenerator(seed: 3)
      return (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    enum Answer: Equatable {
      case taken, pause
      case refuse(FailureCategory)
    }

    func offer(_ bytes: some Collection<UInt8>) -> Answer {
      switch Array(bytes).withUnsafeBytes({ receiver.receive(body: $0) }) {
      case .taken: .taken
      case .pause: .pause
      case .refuse(let failure): .refuse(failure.category)
      }
    }

    /// Takes what was handed over: the blocks and their bytes. The buffers go back.
    func take() -> [(blocks: Range<Int64>, bytes: [UInt8])] {
      let taken = events.events.look { events in
        defer { events.removeAll { if case .filled = $0 { true } else { false } } }
        return events
      }
      return taken.compactMap { event in
        guard case .filled(let buffer, let blocks, 7) = event else { return nil }
        return (blocks, Array(buffer.bytes[..<layout.bytes(of: blocks).count]))
      }
    }

    /// What it said at its end.
    var end: (count: Int, category: FailureCategory?) {
      events.events.look { events in
        var (count, category): (Int, FailureCategory?) = (0, nil)
        for case .ended(7, let failure) in events {
          (count, category) = (count + 1, failure?.category)
        }
        return (count, category)
      }
    }

    /// Whether the runs are whole blocks, in order, from `start`, with the right bytes.
    func expect(
      _ runs: [(blocks: Range<Int64>, bytes: [UInt8])], upTo end: Int64,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      var next = span.blocks.lowerBound
      let content = Subject.content(layout.size)
      for (blocks, bytes) in runs {
        let inside = layout.bytes(of: blocks)
        #expect(blocks.lowerBound == next, sourceLocation: sourceLocation)
        #expect(
          bytes == Array(content[Int(inside.lowerBound)..<Int(inside.upperBound)]),
          sourceLocation: sourceLocation)
        next = blocks.upperBound
      }
      #expect(next == end, sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: [
    (100, 10, 1), (103, 10, 1), (103, 10, 3), (101, 10, 4), (5, 10, 1), (64, 1, 16),
  ])
  func `a body in pieces of every size is cut into whole blocks`(
    _ size: Int64, _ blockSize: Int64, _ perBuffer: Int
  ) throws {
    let count = (size + blockSize - 1) / blockSize
    for blocks in [0..<count, count - 1..<count, count / 2..<count] {
      for piece in 1...Int(2 * blockSize) {
        let subject = try Subject(
          size: size, blockSize: blockSize, blocks: blocks, blocksPerBuffer: perBuffer)
        var rest = subject.content[...]
        while !rest.isEmpty {
          #expect(subject.offer(rest.prefix(piece)) == .taken)
          rest = rest.dropFirst(piece)
        }
        subject.receiver.finish(nil)
        subject.expect(subject.take(), upTo: blocks.upperBound)
        #expect(subject.end == (1, nil))
      }
    }
  }

  @Test(arguments: [1, 3, 7, 10, 11, 25, 100, 103], [1, 2, 3])
  func `an empty pool pauses the body, and offered again it goes on without loss`(
    _ piece: Int, _ buffers: Int
  ) throws {
    // What is offered after a pause may come in other pieces, as long as it is the same.
    for other in [piece, 1, 4, 103] {
      let subject = try Subject(size: 103, blockSize: 10, blocks: 0..<11, buffers: buffers)
      var runs: [(blocks: Range<Int64>, bytes: [UInt8])] = []
      let content = subject.content
      var (position, pauses, size) = (0, 0, piece)
      while position < content.count {
        switch subject.offer(content[position..<min(content.count, position + size)]) {
        case .taken:
          position = min(content.count, position + size)
          size = piece
        case .pause:
          pauses += 1
          let freed = subject.take()
          // Somebody else must be able to free it: the receiver holds nothing back that is whole.
          #expect(freed.count == buffers)
          runs += freed
          size = other
        case .refuse(let category): Issue.record("refused: \(category)")
        }
        try #require(pauses < 100)
      }
      subject.receiver.finish(nil)
      subject.expect(runs + subject.take(), upTo: 11)
      #expect(pauses > 0)
      #expect(subject.end == (1, nil))
    }
  }

  @Test func `transfers that wait for each other's buffers do not wait for ever`() throws {
    // Two transfers, two buffers, and pieces that end in the middle of a block.
    let layout = try #require(BlockLayout(size: 80, blockSize: 10))
    let pool = BufferPool(bufferSize: 10, capacity: 2)
    let content = Subject.content(80)
    let done = Monitor<[Int64: Int]>([:])
    var transfers = [0..<4 as Range<Int64>, 4..<8].enumerated().map { id, blocks in
      let span = Span(
        id: id, source: 0, blocks: blocks, isWhole: false, needsFreshConnection: false,
        usesHTTP2: false)
      let receiver = SpanReceiver(span, layout: layout, pool: pool) { event in
        // A buffer goes back as soon as it was looked at.
        if case .filled(_, let blocks, _) = event {
          done.look { $0[blocks.lowerBound, default: 0] += 1 }
        }
      }
      return (receiver, content[Int(blocks.lowerBound) * 10..<Int(blocks.upperBound) * 10])
    }
    for _ in 0..<100 {
      for index in transfers.indices where !transfers[index].1.isEmpty {
        let piece = Array(transfers[index].1.prefix(7))
        if case .taken = piece.withUnsafeBytes({ transfers[index].0.receive(body: $0) }) {
          transfers[index].1.removeFirst(piece.count)
        }
      }
    }
    #expect(transfers.allSatisfy { $0.1.isEmpty })
    #expect(done.look { $0 } == Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, 1) }))
  }

  @Test func `one byte too many is refused, also after a pause`() throws {
    let subject = try Subject(size: 100, blockSize: 10, blocks: 2..<4)
    #expect(subject.offer(subject.content) == .taken)
    #expect(subject.offer([0]) == .refuse(.tooLarge))
    let whole = try Subject(size: 100, blockSize: 10, blocks: 2..<4)
    #expect(whole.offer(whole.content + [0]) == .refuse(.tooLarge))
    let paused = try Subject(size: 100, blockSize: 10, blocks: 2..<4, buffers: 1)
    #expect(paused.offer(paused.content) == .pause)
    paused.expect(paused.take(), upTo: 3)
    #expect(paused.offer(paused.content + [0]) == .refuse(.tooLarge))
  }

  @Test(arguments: 0...33)
  func `a response that ends early hands over its whole blocks alone`(_ count: Int) throws {
    for perBuffer in [1, 2, 5] {
      let subject = try Subject(
        size: 33, blockSize: 10, blocks: 0..<4, blocksPerBuffer: perBuffer)
      #expect(subject.offer(subject.content.prefix(count)) == .taken)
      subject.receiver.finish(nil)
      // A short last block counts when all of it is there.
      subject.expect(subject.take(), upTo: count == 33 ? 4 : Int64(count / 10))
      #expect(subject.end == (1, count == 33 ? nil : .truncated))
    }
  }

  @Test func `the reason of a broken transfer is kept`() throws {
    let subject = try Subject(size: 100, blockSize: 10, blocks: 0..<4)
    #expect(subject.offer(subject.content.prefix(15)) == .taken)
    subject.receiver.finish(FetchFailure(.stalled, "slow"))
    subject.expect(subject.take(), upTo: 1)
    #expect(subject.end == (1, .stalled))
  }

  // MARK: Heads

  private func category(_ subject: Subject, _ head: ResponseHead) -> FailureCategory? {
    TestSupport.category { () throws(FetchFailure) in try subject.receiver.receive(head: head) }
  }

  @Test func `a span takes its own window and no other`() throws {
    let subject = try Subject(size: 95, blockSize: 10, blocks: 8..<10)
    func head(_ range: String) -> ResponseHead {
      ResponseHead(status: 206, fields: ["content-range": range])
    }
    #expect(category(subject, head("bytes 80-94/95")) == nil)
    #expect(category(subject, head("bytes 80-99/100")) == .rangeMismatch)
    #expect(category(subject, head("bytes 70-94/95")) == .rangeMismatch)
    #expect(category(subject, ResponseHead(status: 200)) == .rangeIgnored)
    #expect(category(subject, ResponseHead(status: 404)) == .httpStatus)
  }

  @Test func `a whole resource takes status 200 and its size`() throws {
    let subject = try Subject(size: 95, blockSize: 10, blocks: 0..<10, isWhole: true)
    func head(_ length: String?, status: Int = 200) -> ResponseHead {
      ResponseHead(status: status, fields: length.map { ["content-length": $0] } ?? [:])
    }
    #expect(category(subject, head("95")) == nil)
    #expect(category(subject, head(nil)) == nil)
    #expect(category(subject, head("94")) == .rangeMismatch)
    #expect(category(subject, head("95", status: 206)) == .httpStatus)
    #expect(
      category(subject, ResponseHead(status: 200, fields: ["content-encoding": "gzip"]))
        == .encodedBody)
  }
}
