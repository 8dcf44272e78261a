import Failure
import System
import TestSupport
import Testing

@testable import Transport

@Suite struct SmallReceiverTests {
  /// A receiver, and all that it reported.
  private final class Subject: Sendable {
    private let reports = Monitor<[Result<SmallResponse, FetchFailure>]>([])
    let receiver: SmallReceiver

    init(limit: Int) {
      let box = Box()
      receiver = SmallReceiver(limit: limit) { box.add?($0) }
      box.add = { [weak self] result in self?.reports.look { $0.append(result) } }
    }

    private final class Box: @unchecked Sendable {
      var add: (@Sendable (Result<SmallResponse, FetchFailure>) -> Void)?
    }

    var outcomes: [Result<SmallResponse, FetchFailure>] { reports.look { $0 } }
    var body: [UInt8]? { try? outcomes.first?.get().body }
    var category: FailureCategory? {
      if case .failure(let failure)? = outcomes.first { failure.category } else { nil }
    }

    func offer(_ bytes: [UInt8]) -> FailureCategory? {
      switch bytes.withUnsafeBytes({ receiver.receive(body: $0) }) {
      case .taken: nil
      case .refuse(let failure): failure.category
      case .pause: .stalled
      }
    }
  }

  private func head(_ fields: [String: String] = [:], status: Int = 200) -> ResponseHead {
    ResponseHead(status: status, fields: fields)
  }

  @Test func `a body is collected from its pieces and reported once`() throws {
    let subject = Subject(limit: 10)
    try subject.receiver.receive(head: head())
    for piece in [[1, 2, 3], [], [4], [5, 6, 7, 8, 9, 10]] as [[UInt8]] {
      #expect(subject.offer(piece) == nil)
    }
    #expect(subject.outcomes.isEmpty)
    subject.receiver.finish(nil)
    #expect(subject.outcomes.count == 1)
    #expect(subject.body == Array(1...10))
  }

  @Test func `one byte more than the limit is refused, in one piece or in many`() throws {
    let whole = Subject(limit: 10)
    try whole.receiver.receive(head: head())
    #expect(whole.offer([UInt8](repeating: 0, count: 11)) == .tooLarge)
    let pieces = Subject(limit: 10)
    try pieces.receiver.receive(head: head())
    for _ in 0..<10 { #expect(pieces.offer([0]) == nil) }
    #expect(pieces.offer([0]) == .tooLarge)
  }

  @Test func `an announced length beyond the limit is refused before the body`() throws {
    func category(_ length: String) -> FailureCategory? {
      TestSupport.category { () throws(FetchFailure) in
        try Subject(limit: 10).receiver.receive(head: head(["content-length": length]))
      }
    }
    #expect(category("10") == nil)
    #expect(category("11") == .tooLarge)
    #expect(category("9223372036854775807") == .tooLarge)
  }

  @Test(arguments: [201, 204, 206, 304, 404, 500])
  func `only status 200 has a body for us`(_ status: Int) {
    #expect(
      category { () throws(FetchFailure) in
        try Subject(limit: 10).receiver.receive(head: head(status: status))
      } == .httpStatus)
  }

  @Test func `an encoded body is refused`() {
    #expect(
      category { () throws(FetchFailure) in
        try Subject(limit: 10).receiver.receive(head: head(["content-encoding": "gzip"]))
      } == .encodedBody)
  }

  @Test func `a failure is reported as it came`() throws {
    let subject = Subject(limit: 10)
    try subject.receiver.receive(head: head())
    #expect(subject.offer([1]) == nil)
    subject.receiver.finish(FetchFailure(.stalled, "slow"))
    #expect(subject.category == .stalled)
  }

  @Test func `an end without a head is no answer`() {
    let subject = Subject(limit: 10)
    subject.receiver.finish(nil)
    #expect(subject.category == .truncated)
  }

  @Test func `an empty body is a body`() throws {
    let subject = Subject(limit: 0)
    try subject.receiver.receive(head: head())
    subject.receiver.finish(nil)
    #expect(subject.body == [])
  }
}
