import FetchResKit
import Foundation
import Testing

/// The library as an app sees it, against a server of its own.
@Suite struct FetcherTests {
  @Test("a pull makes a version available, and a newer one takes its place")
  func versions() async throws {
    let publication = try Publication(size: 200_000)
    let fetcher = publication.fetcher
    #expect(await fetcher.isAvailable == false)
    let first = try await fetcher.pull(publication.request())
    #expect(first.fetched == first.size)
    #expect(FileManager.default.contents(atPath: first.path) == publication.content)
    var expected = first
    expected.fetched = 0
    #expect(await fetcher.available == expected)
    #expect(try await fetcher.pull(publication.request()) == expected)

    try publication.publish(size: 300_000, version: "2.0")
    let second = try await fetcher.pull(publication.request())
    #expect(second.reused > 0 && second.fetched < second.size)
    #expect(await fetcher.available?.path == second.path)
    #expect(FileManager.default.contents(atPath: second.path) == publication.content)
    #expect(FileManager.default.fileExists(atPath: first.path))
  }

  @Test("a pull of a pinned version asks the base which one is the newest")
  func pinned() async throws {
    let publication = try Publication(size: 200_000)
    try publication.publish(size: 300_000, version: "2.0")
    // Without the entries of the log, the newest manifest alone can tell.
    try FileManager.default.removeItem(atPath: publication.site + "/tile/entries")
    var request = publication.request()
    request.url = request.url.replacing("/manifest", with: "/releases/1.0/manifest")
    let result = try await publication.fetcher.pull(request)
    #expect(result.version == "1.0" && result.newerVersion == "2.0")
  }

  @Test("the events come in their order, and the last is what the pull returns")
  func events() async throws {
    let publication = try Publication(size: 200_000)
    var events: [FetchEvent] = []
    for try await event in publication.fetcher.events(publication.request()) {
      events.append(event)
    }
    guard case .complete(let result)? = events.last else {
      Issue.record("the last event is \(String(describing: events.last))")
      return
    }
    #expect(result.size == 200_000)
    let manifest = events.firstIndex { if case .manifest = $0 { true } else { false } }
    let begin = events.firstIndex { if case .begin = $0 { true } else { false } }
    #expect(try #require(manifest) < #require(begin))
    let verified = events.compactMap { event -> Int64? in
      if case .progress(let progress) = event { progress.verified } else { nil }
    }
    #expect(verified.last == 200_000)
    #expect(verified == verified.sorted())
  }

  @Test("a mirror that an app keeps has what the base has lost, until it is taken away")
  func mirrors() async throws {
    let publication = try Publication(size: 200_000)
    let (fetcher, origin) = (publication.fetcher, "maps.example.com/world")
    let mirror = try publication.mirror()
    defer { mirror.stop() }
    let url = String(mirror.manifestURL.dropLast("manifest".count))
    #expect(try fetcher.addMirror(String(url.dropLast()), to: origin) == url)
    #expect(try fetcher.mirrors(of: origin) == [url])
    #expect(throws: FetchFailure.self) { try fetcher.addMirror(url, to: origin) }
    publication.stopServing()
    let result = try await fetcher.pull(publication.request())
    #expect(FileManager.default.contents(atPath: result.path) == publication.content)

    try fetcher.removeMirror(url, of: origin)
    #expect(try fetcher.mirrors(of: origin).isEmpty)
    #expect(throws: FetchFailure.self) { try fetcher.removeMirror(url, of: origin) }
  }

  @Test("cancelling the task of a pull ends it as interrupted, and the next one goes on")
  func cancelled() async throws {
    let publication = try Publication(size: 4 << 20)
    let fetcher = publication.fetcher
    let (progressed, continuation) = AsyncStream.makeStream(of: Int64.self)
    let task = Task {
      try await fetcher.pull(publication.request(rate: 64 << 10)) { event in
        if case .progress(let progress) = event, progress.verified > 0 {
          continuation.yield(progress.verified)
        }
      }
    }
    for await _ in progressed { break }
    task.cancel()
    let failure = await #expect(throws: FetchFailure.self) { try await task.value }
    #expect(failure?.category == .interrupted)
    #expect(await fetcher.isAvailable == false)
    // The directory is free at once, and what was verified is not fetched again.
    let result = try await fetcher.pull(publication.request())
    #expect(result.fetched < result.size)
    #expect(FileManager.default.contents(atPath: result.path) == publication.content)
  }

  @Test("cancelling the task that reads events ends the pull before it throws")
  func cancelledReader() async throws {
    let publication = try Publication(size: 4 << 20)
    let fetcher = publication.fetcher
    let task = Task {
      for try await event in fetcher.events(publication.request(rate: 64 << 10)) {
        if case .progress(let progress) = event, progress.verified > 0 {
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
    }
    let failure = await #expect(throws: FetchFailure.self) { try await task.value }
    #expect(failure?.category == .interrupted)
    let result = try await fetcher.pull(publication.request())
    #expect(result.fetched < result.size)
  }

  @Test("a task that is cancelled before it pulls asks nobody")
  func cancelledBefore() async throws {
    let publication = try Publication(size: 100_000)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await publication.fetcher.pull(publication.request())
    }
    let failure = await #expect(throws: FetchFailure.self) { try await task.value }
    #expect(failure?.category == .interrupted)
  }

  @Test("leaving the loop ends the pull")
  func left() async throws {
    let publication = try Publication(size: 4 << 20)
    let fetcher = publication.fetcher
    for try await event in fetcher.events(publication.request(rate: 64 << 10)) {
      if case .progress(let progress) = event, progress.verified > 0 { break }
    }
    // As slow as it was, it would hold the directory for half a minute.
    var result: PullResult?
    while result == nil {
      do throws(FetchFailure) { result = try await fetcher.pull(publication.request()) } catch {
        guard error.category == .locked else { throw error }
        await Task.yield()
      }
    }
    #expect(try #require(result).fetched < 4 << 20)
  }

  @Test("two pulls into one directory: the second is refused")
  func locked() async throws {
    let publication = try Publication(size: 8 << 20)
    let fetcher = publication.fetcher
    // So slow that it is there however long this task has to wait for a thread.
    for try await event in fetcher.events(publication.request(rate: 1 << 10)) {
      guard case .begin = event else { continue }
      let failure = await Self.refusal(fetcher, publication.request())
      #expect(failure?.category == .locked)
      break
    }
  }

  @Test("a key that nobody trusts is refused with what to do about it")
  func untrusted() async throws {
    let publication = try Publication(size: 100_000)
    var request = publication.request()
    request.keys = []
    let failure = await Self.refusal(publication.fetcher, request)
    #expect(failure?.category == .unknownKey)
    #expect(failure?.hint?.contains(publication.key) == true)
  }

  static let meaningless: [@Sendable (inout PullRequest) -> Void] = [
    { $0.connections = 0 }, { $0.memory = -1 }, { $0.rateLimit = 0 }, { $0.keep = 0 },
    { $0.maximumAge = -1 }, { $0.stallRate = -1 }, { $0.stallWindow = 0 },
    { $0.connectTimeout = .nan }, { $0.firstByteTimeout = .infinity }, { $0.giveUpAfter = -1 },
    { $0.connectTimeout = 1e300 }, { $0.headers = ["X-One: 1\r\nX-Two: 2"] },
    { $0.headers = ["Range: bytes=0-0"] }, { $0.headers = ["no colon"] },
  ]

  @Test(
    "a request that means nothing is refused before anything is done",
    arguments: meaningless.indices)
  func nonsense(_ index: Int) async throws {
    let publication = try Publication(size: 1_000)
    var request = publication.request()
    Self.meaningless[index](&request)
    let failure = await Self.refusal(publication.fetcher, request)
    #expect(failure?.category == .usage)
  }

  /// What a pull ends with; nil if it succeeds.
  private static func refusal(_ fetcher: Fetcher, _ request: PullRequest) async -> FetchFailure? {
    do throws(FetchFailure) {
      _ = try await fetcher.pull(request)
      return nil
    } catch { return error }
  }
}
