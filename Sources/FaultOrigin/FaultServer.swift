import Failure
import System

/// A site behind one or several ports, each as slow and as wrong as a plan says.
package final class FaultServer: Sendable {
  package struct Settings: Sendable {
    package var plan = FaultPlan()
    package var seed: UInt64 = 0
    /// `ADDR:PORT` each. A plan may speak of more ports than there are: those are picked free.
    package var listen: [String]
    package var idleTimeout = 60.0
    /// Whether requests are reported even if nothing is to be done wrong.
    package var isWatched = false

    package init(listen: [String]) { self.listen = listen }
  }

  private let servers: [OriginServer]
  private let directors: [FaultDirector]

  package init(
    site: String, _ settings: Settings, report: @escaping @Sendable (OriginEvent) -> Void
  ) throws(FetchFailure) {
    if let rule = settings.plan.rules.first(where: \.lacksDirectory) {
      throw FetchFailure(
        .usage, "the rule '\(rule.text)' needs from=DIRECTORY",
        hint: "name a directory with the files that are served instead")
    }
    let isPlain = settings.plan == FaultPlan() && !settings.isWatched
    var servers: [OriginServer] = []
    let made = Monitor<[FaultDirector]>([])
    let first = settings.listen.first ?? "127.0.0.1:0"
    for number in 1...max(settings.listen.count, settings.plan.portCount) {
      let listen =
        number <= settings.listen.count
        ? settings.listen[number - 1] : SocketAddress(first)?.anyPort.text ?? first
      do throws(FetchFailure) {
        servers.append(
          try OriginServer(site: site, listen: listen, idleTimeout: settings.idleTimeout) { site in
            if isPlain { return nil }
            let director = FaultDirector(
              port: number, plan: settings.plan.port(number), seed: settings.seed, site: site,
              report: report)
            made.change { $0.append(director) }
            return director
          })
      } catch {
        for server in servers { server.stop() }
        throw error
      }
    }
    self.servers = servers
    directors = made.look { $0 }
  }

  /// One for each port, in their order.
  package var manifestURLs: [String] { servers.map(\.manifestURL) }

  /// From now on by another plan, on the same ports.
  package func change(_ plan: FaultPlan) {
    for (index, director) in directors.enumerated() { director.change(plan.port(index + 1)) }
  }

  /// The lowest rate of a connection, in bytes a second; nil if none is limited.
  var slowest: Int64? { directors.compactMap(\.rate).min() }

  /// Waits until ``stop()`` has done its work.
  package func run() { servers.forEach { $0.run() } }

  package func stop() { servers.forEach { $0.stop() } }
}
