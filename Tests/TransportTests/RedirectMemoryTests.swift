import Testing

@testable import Transport

@Suite struct RedirectMemoryTests {
  private let origin: WebURL
  private let (first, second): (WebURL, WebURL)

  init() throws {
    origin = try WebURL("https://origin.example/file")
    first = try WebURL("https://store.example/file?signature=1")
    second = try WebURL("https://store.example/file?signature=2")
  }

  /// Expectations cannot change a value in place.
  private final class Subject {
    private var memory = RedirectMemory()

    func target(of origin: WebURL) -> WebURL? { memory.target(of: origin) }
    func learn(_ target: WebURL, of origin: WebURL) { memory.learn(target, of: origin) }
    func forget(_ target: WebURL, of origin: WebURL) { memory.forget(target, of: origin) }
    func waits(for origin: WebURL, _ id: TransferID) -> Bool { memory.waits(for: origin, id) }
    func settle(_ origin: WebURL, by id: TransferID) -> [TransferID] {
      memory.settle(origin, by: id)
    }
    func expired(
      _ target: WebURL, of origin: WebURL, for id: TransferID
    ) -> RedirectMemory.Answer { memory.expired(target, of: origin, for: id) }
  }

  private func id(_ number: UInt64) -> TransferID { TransferID(number: number) }

  @Test func `what was learnt is known for its origin alone, query included`() throws {
    let memory = Subject()
    #expect(memory.target(of: origin) == nil)
    memory.learn(first, of: origin)
    #expect(memory.target(of: origin) == first)
    #expect(memory.target(of: try WebURL("https://origin.example/file?x")) == nil)
    #expect(memory.target(of: try WebURL("https://origin.example:444/file")) == nil)
    memory.learn(second, of: origin)
    #expect(memory.target(of: origin) == second)
  }

  @Test func `a target that failed is forgotten, and a newer one is not`() {
    let memory = Subject()
    memory.learn(second, of: origin)
    memory.forget(first, of: origin)
    #expect(memory.target(of: origin) == second)
    memory.forget(second, of: origin)
    #expect(memory.target(of: origin) == nil)
  }

  @Test func `the origin is asked again once, and all others wait for that`() {
    let memory = Subject()
    memory.learn(first, of: origin)
    #expect(memory.expired(first, of: origin, for: id(1)) == .askOrigin)
    #expect(memory.target(of: origin) == nil)
    #expect(memory.expired(first, of: origin, for: id(2)) == .wait)
    // Who comes new waits as well.
    #expect(memory.waits(for: origin, id(3)))
    memory.learn(second, of: origin)
    #expect(memory.settle(origin, by: id(2)).isEmpty)
    #expect(memory.settle(origin, by: id(1)) == [id(2), id(3)])
    #expect(memory.settle(origin, by: id(1)).isEmpty)
    // Who comes later finds the new one.
    #expect(!memory.waits(for: origin, id(4)))
    #expect(memory.expired(first, of: origin, for: id(4)) == .ask(second))
    #expect(memory.target(of: origin) == second)
  }

  @Test func `whatever becomes of the one that asks, those that wait are let go`() {
    let memory = Subject()
    memory.learn(first, of: origin)
    #expect(memory.expired(first, of: origin, for: id(1)) == .askOrigin)
    #expect(memory.expired(first, of: origin, for: id(2)) == .wait)
    #expect(memory.settle(origin, by: id(1)) == [id(2)])
    #expect(memory.target(of: origin) == nil)
    // Afterwards all begins anew.
    memory.learn(first, of: origin)
    #expect(memory.expired(first, of: origin, for: id(3)) == .askOrigin)
  }
}
