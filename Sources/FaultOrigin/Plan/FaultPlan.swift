import Failure
import System

/// What an origin does wrong, and how slow it is: settings and rules, for all its ports or for one of
/// them.
///
///     # a comment
///     latency 20ms            before every answer
///     rate 512K               bytes a second on every connection
///     F05:bit chance 5%       a rule for all ports
///     port 2                  what follows is for the second port alone
///     F04 on data every 5
package struct FaultPlan: Sendable, Equatable {
  package struct Port: Sendable, Equatable {
    /// Seconds.
    package var latency: Double?
    /// Bytes a second.
    package var rate: Int64?
    package var rules: [FaultRule] = []
  }

  package private(set) var common = Port()
  package private(set) var ports: [Int: Port] = [:]

  package static let maximumPorts = 8

  package init() {}

  /// Reads the lines of a plan.
  ///
  /// - Parameters:
  ///   - name: what it is called in an error.
  ///   - directory: what `from=` is relative to; empty for the working directory.
  /// - Throws: `usage`, naming the line.
  package init(
    _ text: String, name: String, directory: String = ""
  ) throws(FetchFailure) {
    var port: Int?
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let content = String(line.prefix { $0 != "#" }).trimmingBlanks()
      // Blanks of every kind part words, so a line of nothing else has none.
      if content.allSatisfy(\.isWhitespace) { continue }
      do throws(FaultRule.Malformed) {
        try add(content, directory, &port)
      } catch {
        throw FetchFailure(
          .usage, "\(name), line \(index + 1): \(error.message)", hint: error.hint)
      }
    }
  }

  /// Reads the file of a plan.
  ///
  /// - Throws: `usage`.
  package init(file path: String) throws(FetchFailure) {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try PlainDisk.read(path, limit: 1 << 20) } catch {
      throw FetchFailure(.usage, "cannot read the plan \(path): \(error.reason)")
    }
    try self.init(
      String(decoding: bytes, as: UTF8.self), name: path, directory: Path.parent(path))
  }

  /// How many ports it speaks of.
  package var portCount: Int { max(1, ports.keys.max() ?? 1) }

  /// What holds for the port of this number, from 1 on. Rules for all come first.
  package func port(_ number: Int) -> Port {
    let own = ports[number] ?? Port()
    return Port(
      latency: own.latency ?? common.latency, rate: own.rate ?? common.rate,
      rules: common.rules + own.rules)
  }

  /// Puts another plan behind this one.
  package mutating func append(_ other: FaultPlan) {
    common.append(other.common)
    for (number, port) in other.ports { ports[number, default: Port()].append(port) }
  }

  /// Adds a rule for all ports.
  package mutating func append(_ rule: FaultRule) { common.rules.append(rule) }

  /// Without its rules: as slow, but right.
  package var honest: FaultPlan {
    var plan = self
    plan.common.rules = []
    for number in ports.keys { plan.ports[number]?.rules = [] }
    return plan
  }

  /// Whether it does not do the same from beginning to end.
  var tellsAStory: Bool {
    rules.contains { $0.first != nil || $0.afterRequests > 0 || $0.afterBytes > 0 }
  }

  /// Whether one of several mirrors does everything right.
  var hasHonestMirror: Bool {
    portCount > 1 && (1...portCount).contains { port($0).rules.isEmpty }
  }

  /// With a directory for every rule that lacks one.
  func completed(with directories: [Fault: String]) -> FaultPlan {
    var plan = self
    plan.changeRules { rule in
      if rule.lacksDirectory { rule.arguments[.from] = directories[rule.fault] }
    }
    return plan
  }

  private mutating func changeRules(_ body: (inout FaultRule) -> Void) {
    for index in common.rules.indices { body(&common.rules[index]) }
    ports = ports.mapValues { port in
      var port = port
      for index in port.rules.indices { body(&port.rules[index]) }
      return port
    }
  }

  /// Every rule, of all ports.
  package var rules: [FaultRule] {
    common.rules + ports.sorted { $0.key < $1.key }.flatMap { $0.value.rules }
  }

  private mutating func add(
    _ line: String, _ directory: String, _ port: inout Int?
  ) throws(FaultRule.Malformed) {
    let words = line.split(whereSeparator: \.isWhitespace)
    func value<Value>(_ parse: (Substring) -> Value?) throws(FaultRule.Malformed) -> Value {
      guard words.count == 2, let value = parse(words[1]) else {
        throw FaultRule.Malformed(message: "'\(words[0])' needs a quantity behind it")
      }
      return value
    }
    switch words[0] {
    case "port":
      let number = try value { PlanText.number($0) }
      guard 1...Int64(Self.maximumPorts) ~= number else {
        throw FaultRule.Malformed(message: "there are ports 1 to \(Self.maximumPorts)")
      }
      port = Int(number)
      ports[Int(number), default: Port()].rules += []
    case "latency":
      let latency = try value { PlanText.time($0) }
      change(port) { $0.latency = latency }
    case "rate":
      let rate = try value { PlanText.size($0).flatMap { $0 > 0 ? $0 : nil } }
      change(port) { $0.rate = rate }
    default:
      var rule = try FaultRule(line)
      if let from = rule.arguments[.from], !from.hasPrefix("/"), !directory.isEmpty {
        rule.arguments[.from] = directory + "/" + from
      }
      change(port) { $0.rules.append(rule) }
    }
  }

  private mutating func change(_ port: Int?, _ body: (inout Port) -> Void) {
    if let port { body(&ports[port, default: Port()]) } else { body(&common) }
  }
}

extension FaultPlan.Port {
  fileprivate mutating func append(_ other: FaultPlan.Port) {
    latency = other.latency ?? latency
    rate = other.rate ?? rate
    rules += other.rules
  }
}
