import Crypto
import Failure
import FetchResKit
import Manifest
import MerkleTree
import Publishing
import SignedNote
import Storage
import System

/// `fetchres inspect`.
enum InspectCommand {
  static let spec = CommandSpec(
    name: "inspect",
    example: "fetchres inspect https://maps.example.com/world/manifest",
    operands: "MANIFEST",
    summary: "Show what a manifest file or URL says, and whether its own key signed it.",
    options: [OptionSpec.certificates] + ProxyOptions.specs,
    notes: "The key it names is not trusted by this: compare it with the publisher's.",
    operandCount: 1...1, configuresItself: true, run: run)

  private static func run(_ typed: ParsedArguments) throws(FetchFailure) -> Int32 {
    let text = typed.operands[0]
    let bytes: [UInt8]
    if text.contains("://") {
      let arguments = try typed.configured(spec, forURL: text)
      bytes = try ManifestInspection.fetch(
        text, certificateFile: arguments.value("--cacert"),
        proxy: try ProxyOptions.spoken(arguments))
    } else {
      bytes = try FileArgument.bytes(
        text, of: "manifest", limit: Manifest.maximumByteCount, else: .manifestMalformed)
    }
    let manifest = try Manifest(selfSigned: bytes)
    Output.write(manifest.text)
    Talk.note(
      "signed by the key that it names, \(manifest.key); nobody has said that it is trusted")
    return 0
  }
}

/// `fetchres proof`.
enum ProofCommand {
  static let spec = CommandSpec(
    name: "proof",
    example: "fetchres proof make site 2026.11.30 7",
    operands: "make SITE VERSION INDEX | check --index N --count N --root HEX …",
    verbs: ["make", "check"],
    summary: "Make or check the inclusion proof of one block.",
    options: [
      OptionSpec("--index", "N", "the index of the block, from 0"),
      OptionSpec("--count", "N", "the number of blocks in the tree"),
      OptionSpec("--root", "HEX", "the root of the tree"),
      OptionSpec("--block", "FILE", "the bytes of the block: proves content"),
      OptionSpec("--leaf", "HEX", "the leaf hash: proves only that it stands in the tree"),
      OptionSpec("--sibling", "HEX", repeats: true, "the audit path, from the leaf to the root"),
    ],
    notes: """
      'make' prints the arguments that 'check' takes. 'check' exits 0 if the proof holds and 4 if
      not. Index and count have to come from whom you trust, never from who sends the proof.
      """,
    operandCount: 1...4, run: run)

  private static func run(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    let operands = arguments.operands
    switch (operands[0], operands.count) {
    case ("make", 4): return try make(operands[1], operands[2], operands[3])
    case ("check", 1): return try check(arguments)
    default: throw FetchFailure(.usage, "usage: fetchres proof \(spec.operands)")
    }
  }

  private static func make(
    _ site: String, _ version: String, _ index: String
  ) throws(FetchFailure) -> Int32 {
    guard let index = Decimal.decode(index) else {
      throw FetchFailure(.usage, "'\(index)' is no block index")
    }
    let proof = try SiteProof(site: site, version: version, index: index)
    let start =
      "--index \(index) --count \(proof.count) --root \(proof.root) --leaf \(proof.leaf)"
    Output.line(([start] + proof.siblings.map { "--sibling \($0)" }).joined(separator: " "))
    return 0
  }

  private static func check(_ arguments: ParsedArguments) throws(FetchFailure) -> Int32 {
    func required(_ option: String) throws(FetchFailure) -> String {
      guard let value = arguments.value(option) else {
        throw FetchFailure(.usage, "proof check needs \(option)")
      }
      return value
    }
    func hex(_ text: String, _ option: String) throws(FetchFailure) -> [UInt8] {
      guard let bytes = Hex.decode(text.lowercased()) else {
        throw FetchFailure(.usage, "'\(text.shortened(to: 80))' is no hex for \(option)")
      }
      return bytes
    }
    func number(_ option: String) throws(FetchFailure) -> Int64 {
      let text = try required(option)
      if let number = Decimal.decode(text) { return number }
      // Beyond what any tree has: no such proof, rather than no such number.
      guard let first = text.utf8.first, first != 0x30,
        text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
      else {
        throw FetchFailure(.usage, "'\(text.shortened(to: 80))' is no number for \(option)")
      }
      throw FetchFailure(
        .proofMalformed, "\(option) \(text.shortened(to: 80)) is beyond every tree")
    }
    let (index, count) = (try number("--index"), try number("--count"))
    let root = try hex(try required("--root"), "--root")
    var siblings: [[UInt8]] = []
    for sibling in arguments.all("--sibling") { siblings.append(try hex(sibling, "--sibling")) }
    switch (arguments.value("--block"), arguments.value("--leaf")) {
    case (let path?, nil):
      let bytes = try FileArgument.bytes(
        path, of: "block", limit: Int(BlockLayout.maximumBlockSize), else: .proofMalformed)
      try InclusionProof.verify(
        block: bytes, length: bytes.count, index: index, count: count, siblings: siblings,
        root: root)
    case (nil, let leaf?):
      try InclusionProof.verify(
        leaf: try hex(leaf, "--leaf"), index: index, count: count, siblings: siblings, root: root)
    case (nil, nil), (_?, _?):
      throw FetchFailure(.usage, "proof check needs either --block or --leaf")
    }
    Output.line("the proof holds")
    return 0
  }
}
