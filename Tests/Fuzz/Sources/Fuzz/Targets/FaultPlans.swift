import Failure
@testable import FaultOrigin

extension FuzzTarget {
  /// A plan that is read has rules that mean the same when they are read alone.
  static let faultPlan = FuzzTarget("fault-plan") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    guard let plan = try? FaultPlan(text, name: "plan") else { return }
    expect((1...FaultPlan.maximumPorts).contains(plan.portCount), "\(plan.portCount) ports")
    for rule in plan.rules {
      expect((try? FaultRule(rule.text)) == rule, "another rule: \(rule.text)")
      expect((0...1).contains(rule.chance ?? 0) && (rule.every ?? 1) > 0, "\(rule.text)")
      expect(rule.afterRequests >= 0 && rule.afterBytes >= 0, "\(rule.text)")
    }
    expect(plan.honest.rules.isEmpty, "an honest plan with rules")
    for number in 1...plan.portCount {
      let port = plan.port(number)
      expect((port.latency ?? 0) >= 0 && (port.rate ?? 1) > 0, "port \(number)")
    }
    var twice = plan
    twice.append(plan)
    expect(twice.rules.count == 2 * plan.rules.count, "a plan behind itself")
  }

  /// A request that is read is what its bytes say, and ranges stay within the file.
  static let requestHead = FuzzTarget("request-head") { bytes in
    var reader = InputReader(bytes)
    let size = Int64(reader.choice(60_000))
    guard let head = try? RequestHead(reader.rest) else { return }
    expect(!head.target.isEmpty && !head.method.isEmpty && head.contentLength >= 0, "\(head)")
    let isText = head.target.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    expect(isText, "the target \(head.target)")
    expect(reader.rest.starts(with: Array("\(head.method) \(head.target) HTTP/1.".utf8)), "line")
    switch ByteRange(head.fields.values("range"), size: size) {
    case .part(let range):
      expect(range.lowerBound >= 0 && range.upperBound <= size && !range.isEmpty, "\(range)")
    case .whole, .unsatisfiable: break
    }
  }
}
