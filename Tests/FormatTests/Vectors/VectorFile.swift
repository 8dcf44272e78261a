import Crypto
import Failure
import Foundation
import Testing

/// One case of the test vectors: what it shows, the expected verdict, and the fields of its folder.
struct VectorFile<Fields: Decodable & Sendable>: Decodable, Sendable, CustomTestStringConvertible {
  var name = ""
  let about: String
  let verdict: String
  let fields: Fields

  private enum Key: String, CodingKey { case about, verdict }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    about = try container.decode(String.self, forKey: .about)
    verdict = try container.decode(String.self, forKey: .verdict)
    fields = try Fields(from: decoder)
  }

  var testDescription: String { name }

  /// Nil where the case has to be accepted.
  func refusal() throws -> FailureCategory? {
    guard verdict != "accept" else { return nil }
    // Which of the two is wrong, proof or log, cannot be told: the product's word for it is `fork`.
    let word = verdict == "root-mismatch" ? "fork" : verdict
    let category: FailureCategory = try #require(
      FailureCategory(rawValue: word), "no such verdict: \(verdict)")
    return category
  }

  /// The cases of a folder.
  static func all(in folder: String) throws -> [VectorFile] {
    try VectorFolder.names(folder).map { name in
      let data = try Data(contentsOf: VectorFolder.root.appending(path: "\(folder)/\(name)"))
      var file = try JSONDecoder().decode(VectorFile.self, from: data)
      file.name = name
      return file
    }
  }
}

/// A number of a vector; a text where no signed 64-bit number can hold it.
enum VectorNumber: Decodable, Sendable {
  case number(Int64)
  case beyond(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int64.self) {
      self = .number(number)
    } else {
      self = .beyond(try container.decode(String.self))
    }
  }

  /// The number, read as the product reads one; `proof-malformed` where it cannot be.
  func value() throws(FetchFailure) -> Int64 {
    switch self {
    case .number(let number): return number
    case .beyond(let text):
      guard let number = Decimal.decode(text) else {
        throw FetchFailure(.proofMalformed, "\(text) is no number")
      }
      return number
    }
  }
}

/// Bytes that a vector gives in hex.
struct VectorBytes: Decodable, Sendable, Hashable {
  let bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let bytes = Hex.decode(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no hex: \(text)")
    }
    self.bytes = bytes
  }

  func digest() throws -> Digest { try #require(Digest(bytes)) }
}
