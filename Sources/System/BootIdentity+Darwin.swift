#if canImport(Darwin)
  import Darwin

  extension BootIdentity {
    /// This boot, by the instant at which it began.
    package static func current() -> BootIdentity? {
      var time = timeval()
      var size = MemoryLayout<timeval>.size
      guard sysctlbyname("kern.boottime", &time, &size, nil, 0) == 0 else { return nil }
      return BootIdentity(instant: Double(time.tv_sec) + Double(time.tv_usec) / 1e6)
    }
  }
#endif
