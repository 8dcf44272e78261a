import Crypto
import Download
import Failure
import Manifest
import ReleaseLog
import SignedNote
import Storage
import System
import Transport

/// One pull from beginning to end: expected origin, manifest, snapshot, blocks, marker, copy. Blocks
/// the thread it runs on.
package struct PullSession {
  let request: PullRequest
  let fileSystem: any FileSystem
  let interruption: Interruption
  let passwords: PasswordSource
  let report: (FetchEvent) -> Void
  let now: () -> UTCDate
  private let ownTransport: (any Transport)?
  /// Whether events of progress should have a map of the blocks.
  package var mapIsWanted: () -> Bool = { false }

  /// - Parameter transport: the way to the network, which the run stops at its end; nil for one of its
  ///   own.
  package init(
    _ request: PullRequest, fileSystem: any FileSystem = RealFileSystem(),
    transport: (any Transport)? = nil,
    interruption: Interruption, passwords: PasswordSource = .none,
    now: @escaping () -> UTCDate = { UTCDate(seconds: Clocks.wall()) },
    report: @escaping (FetchEvent) -> Void
  ) {
    self.request = request
    self.fileSystem = fileSystem
    ownTransport = transport
    self.interruption = interruption
    self.passwords = passwords
    self.now = now
    self.report = report
  }

  /// - Throws: what ended the run. Everything verified is kept.
  package func run() throws(FetchFailure) -> PullResult {
    try request.check()
    let site = try SiteURL(request.url)
    if let pinned = site.pinnedVersion, !Manifest.isVersion(pinned) {
      throw FetchFailure(.usage, "'\(pinned)' in the URL is no version")
    }
    let state = try StateDirectory(request.stateDirectory, fileSystem)
    let (given, named) = try ExpectedOrigin.parse(keys: request.keys, origin: request.origin)
    let trust = try state.trust.load()
    if let output = request.output, output != "-" { try OutputFile.check(output, fileSystem) }
    guard request.directory != "" else { throw FetchFailure(.usage, "-d needs a directory") }

    let pins = try checkedPins(site)
    let identities = IdentityStore(state, fileSystem)
    let identity = request.offline ? nil : try openIdentity(site, identities)
    let transport: (any Transport)?
    if request.offline {
      transport = nil
    } else if let ownTransport {
      transport = ownTransport
    } else {
      transport = makeTransport(try policy(site, pins: pins), identity, identities)
    }
    defer { transport?.stop() }
    let expectedOrigin = try ExpectedOrigin.find(
      named: named, site, directory: request.directory, state)
    guard let origin = expectedOrigin else { throw unknownKey(site, transport, nil) }
    let path = request.directory ?? origin.directoryName
    try ResourceDirectory(path, fileSystem)?.check(origin)
    let keys = given + trust.keys(of: origin).filter { !given.contains($0) }
    let expected = ExpectedOrigin(origin: origin, keys: keys)
    guard !keys.isEmpty else { throw unknownKey(site, transport, origin) }

    return try watching(origin, state) { () throws(FetchFailure) in
      guard let transport else { return try runOffline(path, expected, site, state) }
      do throws(FetchFailure) { return try run(site, path, expected, state, transport) } catch {
        throw hintingAtIdentity(error, site, identity)
      }
    }
  }

  private func policy(_ site: SiteURL, pins: [String]) throws(FetchFailure) -> RequestPolicy {
    OpenSSL.prepare()
    var policy = RequestPolicy(userAgent: "fetchres/\(fetchresVersion)")
    let decision = try ProxyDecision(request.proxy, for: site.base, request.proxyGrounds)
    policy.proxy = decision.choice
    report(.route(decision.reason))
    if let warning = decision.warning { report(.note(warning, hint: nil)) }
    policy.headers = request.headers
    policy.credentialsOrigin = site.base
    policy.certificateFile = request.certificateFile
    policy.pins = pins
    policy.connectTimeout = request.connectTimeout
    policy.firstByteTimeout = request.firstByteTimeout
    policy.rateLimit = request.rateLimit
    policy.stall = StallLimit(bytesPerSecond: request.stallRate, window: request.stallWindow)
    return policy
  }

  var limits: DownloadLimits {
    var limits = DownloadLimits()
    limits.connections = request.connections
    limits.memory = request.memory
    limits.retry.giveUpAfter = request.giveUpAfter
    #if FETCHRES_MUTANTS
      if Mutant.neverGiveUp.isChosen {
        limits.retry.giveUpAfter = .infinity
        limits.retry.attemptsPerBlock = .max
      }
    #endif
    return limits
  }

  // MARK: Online

  /// The base, the user's mirrors, and those that the newest verified manifest names: one that is
  /// kept, so that a base that is gone does not lose everyone.
  private func sources(
    _ site: SiteURL, _ expected: ExpectedOrigin, _ state: StateDirectory
  ) throws(FetchFailure) -> SourceList {
    let sources = SourceList(site, records: state.sources, asksAtOnce: request.asksAtOnce)
    for mirror in request.mirrors { sources.add(try WebURL.mirror(mirror)) }
    try sources.add(MirrorList(state), of: expected.origin)
    if let kept = try state.log(of: expected.origin).load().newest {
      sources.add(mirrorsOf: kept.manifest)
    }
    return sources
  }

  private func run(
    _ site: SiteURL, _ path: String, _ expected: ExpectedOrigin, _ state: StateDirectory,
    _ transport: any Transport
  ) throws(FetchFailure) -> PullResult {
    // A directory that is there is locked before the network is used.
    let existing = try ResourceDirectory(path, fileSystem)
    let early = try existing?.origin() == nil ? nil : existing?.lock()

    let sources = try sources(site, expected, state)
    try awaitTor(transport, sources)
    let monitor = try monitor(expected, site, state, sources: sources, transport)
    var expected = expected
    let ask: () throws(FetchFailure) -> AcceptedManifest = { () throws(FetchFailure) in
      report(.phase(.checkingLog))
      let verdict = try monitor.run()
      sources.succeeded(verdict.sources)
      // A key that was announced and followed counts from here on.
      expected.keys = verdict.keys
      return AcceptedManifest(verdict, wall: now())
    }
    let newest = try ask()
    try newest.checkExpiry(now: now())
    sources.add(mirrorsOf: newest.manifest)
    let manifest = newest.manifest
    report(
      .manifest(
        origin: manifest.origin.name, version: manifest.version, release: manifest.release,
        size: manifest.layout.size, blocks: manifest.layout.count))

    let directory: ResourceDirectory
    if let existing {
      directory = existing
    } else {
      directory = try ResourceDirectory.make(path, fileSystem)
    }
    let lock: DirectoryLock
    if let early { lock = early } else { lock = try directory.lock() }
    if early == nil, let other = elsewhere(than: path, site, expected, state) {
      report(
        .note(
          "\(expected.origin) was pulled from here into \(other) before, and begins again in \(path)",
          hint: "with '-d \(other)' it goes on there"))
    }
    try directory.claim(expected.origin, lock)
    state.remember(
      StateDirectory.Site(origin: expected.origin, directory: absolute(path)), of: site.base)

    if let result = try resultIfComplete(
      newest, in: directory, lock, pinned: site.pinnedVersion != nil)
    {
      return result
    }
    let chosen = try choose(newest, in: directory, expected, pinned: site.pinnedVersion != nil)
    let isOlder = chosen.manifest.version != manifest.version
    do throws(FetchFailure) {
      return try complete(
        chosen, newest: newest, in: directory, lock, site, sources, state, transport, ask: ask)
    } catch {
      guard isOlder, error.category == .httpStatus, [404, 410].contains(error.httpStatus) else {
        throw error
      }
      throw FetchFailure(
        .newVersion,
        "version \(chosen.manifest.version) is gone from the server; \(manifest.version) is there",
        hint: "run again with --on-new-version switch")
    }
  }

  /// Fetches what is missing of `chosen` and makes it available.
  private func complete(
    _ chosen: AcceptedManifest, newest: AcceptedManifest, in directory: ResourceDirectory,
    _ lock: DirectoryLock, _ site: SiteURL, _ sources: SourceList,
    _ state: StateDirectory, _ transport: any Transport,
    ask: () throws(FetchFailure) -> AcceptedManifest
  ) throws(FetchFailure) -> PullResult {
    let manifest = chosen.manifest
    try directory.takeBack(manifest, lock)
    let resource = try directory.openUnfinished(manifest, note: chosen.note, lock)
    let work = try download(resource, in: directory, sources, state, transport)

    // Expiry is judged again before the marker, never in between.
    var final = chosen
    do throws(FetchFailure) { try final.checkExpiry(now: now()) } catch {
      let again = try ask()
      guard again.manifest.hasSameContent(as: manifest) else { throw error }
      try again.checkExpiry(now: now())
      final = again
    }
    try interruption.check()
    try resource.publish(
      note: final.note, marker: CompletedVersion.marker(final.manifest, note: final.note),
      into: directory.directory)
    guard let complete = CompletedVersion(manifest.version, in: directory.directory) else {
      throw FetchFailure(.ioError, "the finished version cannot be read back")
    }
    if site.pinnedVersion == nil { try directory.setCurrent(manifest.version) }
    try directory.removeUnfinished(PartialResource.name(of: manifest), lock)
    try prune(directory, lock, keeping: complete)
    let isNewest = manifest.version == newest.manifest.version
    return try deliver(
      complete, in: directory, work,
      newer: isNewest ? newest.newerVersion : newest.manifest.version)
  }

  // MARK: Offline

  private func runOffline(
    _ path: String, _ expected: ExpectedOrigin, _ site: SiteURL, _ state: StateDirectory
  ) throws(FetchFailure) -> PullResult {
    let nothing = FetchFailure(
      .unreachable, "offline, and no complete version is in \(path)",
      hint: elsewhere(than: path, site, expected, state).map { "'-d \($0)' takes what is there" }
        ?? "run again without --offline")
    guard let directory = try ResourceDirectory(path, fileSystem) else { throw nothing }
    let complete = site.pinnedVersion.map { CompletedVersion($0, in: directory.directory) }
    guard let complete = complete ?? directory.available else { throw nothing }
    var expected = expected
    expected.keys =
      KeyRing(trusted: expected.keys, try state.log(of: expected.origin).load()).keys
    _ = try AcceptedManifest(complete.note, expected)
    // Whoever finished it may have been killed before it was current. What another pull works on, or
    // nobody may write to, is left as it is.
    if site.pinnedVersion == nil, directory.current == nil, let lock = try? directory.lock() {
      withExtendedLifetime(lock) { try? directory.setCurrent(complete.manifest.version) }
    }
    return try deliver(complete, in: directory, Work(), newer: nil)
  }

  // MARK: Words

  /// No key, no pull. For the hint alone the manifest is looked at, under all limits.
  private func unknownKey(
    _ site: SiteURL, _ transport: (any Transport)?, _ origin: Origin?
  ) -> FetchFailure {
    var failure = FetchFailure(
      .unknownKey,
      origin.map { "no key is trusted for \($0)" } ?? "no key is trusted for this URL",
      hint: "get the public key from the publisher, then: fetchres trust add VKEY")
    guard let transport else { return failure }
    let response = try? transport.fetch(
      Request(site.manifestURL), limit: Manifest.maximumByteCount, interruption)
    let shown = response.flatMap { try? SignedNote($0.body) }?.unverifiedKeys.first
    if let shown, shown.origin != nil {
      failure.hint =
        "the server shows the key \(shown), which nothing has verified; "
        + "compare it with the publisher's, then add: --key \(shown), or for good: "
        + "fetchres trust add \(shown)"
    }
    return failure
  }

  /// Where the same was pulled to before, and still is, while nobody says where to and nothing of it is
  /// in the usual place.
  private func elsewhere(
    than path: String, _ site: SiteURL, _ expected: ExpectedOrigin, _ state: StateDirectory
  ) -> String? {
    guard request.directory == nil, let known = state.site(of: site.base),
      known.origin == expected.origin, known.directory != absolute(path),
      (try? ResourceDirectory(known.directory, fileSystem)?.origin()) == expected.origin
    else { return nil }
    return known.directory
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : Path.join(ThisProcess.workingDirectory ?? ".", path)
  }
}

extension SiteURL {
  /// Host and path without the last component: the origin that a publisher of this URL would choose.
  var plainName: String {
    let path = base.path.utf8.drop { $0 == UInt8(ascii: "/") }
    let name = "\(base.host)/\(Substring(path))"
    return name.hasSuffix("/") ? String(name.dropLast()) : name
  }

  /// The URL of the manifest to ask for.
  var manifestURL: WebURL {
    guard let pinnedVersion else { return base.appending(manifestName) }
    return base.appending(SitePaths.urlPath(SitePaths.releaseManifest(pinnedVersion)))
  }
}
