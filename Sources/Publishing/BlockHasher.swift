import Crypto
import Failure
import MerkleTree
import Storage
import System

/// Hashes the blocks of a file on all cores, and copies them in the same pass if asked. Memory does
/// not grow with the file.
struct BlockHasher {
  let layout: BlockLayout
  let source: any File
  /// Where the bytes go; nil to hash only. Chunks of zeros are left out, as holes.
  var copy: (any File)?
  var threads = max(1, WorkThread.processorCount)

  private static let chunkBytes: Int64 = 1 << 20

  private struct State: Sendable {
    var next: Int64 = 0
    var consumed: Int64 = 0
    var results: [Int64: [Digest]] = [:]
    var failure: FetchFailure?
  }

  /// Calls `body` with each leaf hash, in order.
  func run(_ body: (Digest) throws(FetchFailure) -> Void) throws(FetchFailure) {
    let blocksPerChunk = max(1, Self.chunkBytes / layout.blockSize)
    let chunks = (layout.count + blocksPerChunk - 1) / blocksPerChunk
    let state = Monitor(State())
    let window = Int64(threads * 4)
    let workers = (0..<min(threads, Int(max(1, chunks)))).map { _ in
      WorkThread("hash") { [layout, source, copy] in
        var hasher = TreeHasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(
          byteCount: Int(blocksPerChunk * layout.blockSize), alignment: 4_096)
        defer { buffer.deallocate() }
        while let chunk = state.wait({ state -> Int64?? in
          if state.failure != nil || state.next == chunks { return .some(nil) }
          guard state.next < state.consumed + window else { return nil }
          defer { state.next += 1 }
          return state.next
        }) ?? nil {
          let first = chunk * blocksPerChunk
          let blocks = first..<min(layout.count, first + blocksPerChunk)
          do throws(FetchFailure) {
            let leaves = try Self.hash(blocks, layout, source, copy, buffer, &hasher)
            state.change { $0.results[chunk] = leaves }
          } catch {
            state.change { $0.failure = $0.failure ?? error }
          }
        }
      }
    }
    defer { for worker in workers { worker.join() } }
    for chunk in 0..<chunks {
      let result = state.wait { state -> Result<[Digest], FetchFailure>? in
        if let failure = state.failure { return .failure(failure) }
        return state.results.removeValue(forKey: chunk).map { .success($0) }
      }
      state.change { $0.consumed = chunk + 1 }
      guard let result else { preconditionFailure("Publishing: a wait without a deadline ended") }
      do throws(FetchFailure) {
        for leaf in try result.get() { try body(leaf) }
      } catch {
        state.change { $0.failure = $0.failure ?? error }
        throw error
      }
    }
  }

  private static func hash(
    _ blocks: Range<Int64>, _ layout: BlockLayout, _ source: any File, _ copy: (any File)?,
    _ buffer: UnsafeMutableRawBufferPointer, _ hasher: inout TreeHasher
  ) throws(FetchFailure) -> [Digest] {
    let bytes = layout.bytes(of: blocks)
    let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[..<bytes.count])
    do throws(SystemError) {
      guard try source.read(into: chunk, at: bytes.lowerBound) == bytes.count else {
        throw SystemError(SystemError.inputOutput, "the file became shorter")
      }
    } catch {
      throw error.failure("cannot read the input file")
    }
    if let copy, !isZero(UnsafeRawBufferPointer(chunk)) {
      do throws(SystemError) {
        try copy.write(UnsafeRawBufferPointer(chunk), at: bytes.lowerBound)
      } catch { throw error.failure("cannot copy the file into the site") }
    }
    var leaves: [Digest] = []
    for block in blocks {
      let inside = layout.bytes(of: block..<block + 1)
      let start = Int(inside.lowerBound - bytes.lowerBound)
      leaves.append(
        hasher.leaf(UnsafeRawBufferPointer(rebasing: chunk[start..<start + inside.count])))
    }
    return leaves
  }

  private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.first == 0 else { return bytes.isEmpty }
    let words = bytes.count / 8
    for word in 0..<words where bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self) != 0
    {
      return false
    }
    return bytes[(words * 8)...].allSatisfy { $0 == 0 }
  }
}
