import Failure
import System

/// A file that gets one line of JSON for every fault that was done.
package final class FaultLog: Sendable {
  private let file: Descriptor
  private let start = Clocks.monotonic()
  private let lock = Monitor(())

  /// - Throws: what cannot be written there.
  package init(_ path: String) throws(FetchFailure) {
    file = try doing("cannot write the log of faults \(path)") { () throws(SystemError) in
      try Descriptor.open(
        path, Descriptor.writeOnly | Descriptor.create | Descriptor.truncating,
        permissions: 0o666)
    }
  }

  package func add(_ record: FaultRecord) {
    let line = record.line(elapsed: Clocks.monotonic() - start) + "\n"
    // A log that cannot be written any more is no reason to answer otherwise.
    lock.look { _ in try? file.write(line) }
  }
}
