import Crypto
import Failure
import System
import Testing

/// A control port of tor that says what a test wants, as long as it is asked as tor wants to be asked.
final class ControlPort: Sendable {
  enum Authentication: Sendable {
    case none
    case password(String)
    /// The file that is named, and what it is held to contain.
    case cookie(file: String, bytes: [UInt8])
  }

  enum Answer: Sendable, Equatable {
    case percent(Int)
    /// Sent as it is; then the connection stays open, and nothing more is said.
    case raw(String)
    case close
  }

  private struct State: Sendable {
    var heard: [String] = []
    var answered = 0
  }

  private let listener: LoopbackListener
  private let state: Monitor<State>

  /// - Parameters:
  ///   - greeting: instead of the right answer to the first question; nil for that.
  ///   - answers: one for each time that it is asked how far it is, the last again and again.
  init(
    _ authentication: Authentication, greeting: Answer? = nil, _ answers: [Answer]
  ) throws {
    let state = Monitor(State())
    self.state = state
    listener = try LoopbackListener { socket in
      Link(
        socket: socket, state: state, authentication: authentication, greeting: greeting,
        answers: answers
      ).serve()
    }
  }

  /// `127.0.0.1:PORT`
  var address: String { listener.address }

  convenience init(_ authentication: Authentication, _ answers: Answer...) throws {
    try self.init(authentication, answers)
  }

  convenience init(greeting: Answer? = nil, _ answers: Answer...) throws {
    try self.init(.none, greeting: greeting, answers)
  }

  /// The lines that were heard, without their ends.
  var heard: [String] { state.look { $0.heard } }

  /// Waits until it was asked so often how far it is.
  func waitForQuestions(_ count: Int) -> Bool {
    state.wait(until: Clocks.monotonic() + Fetchres.patience) {
      $0.answered >= count ? true : nil
    } ?? false
  }

  private struct Link: Sendable {
    let socket: Socket
    let state: Monitor<State>
    let authentication: Authentication
    let greeting: Answer?
    let answers: [Answer]

    func serve() {
      defer { socket.shutdown() }
      var pending: [UInt8] = []
      var (own, theirs) = ([UInt8](), [UInt8]())
      var isIn = false
      while let line = next(&pending) {
        state.change { $0.heard.append(line) }
        let words = line.split(separator: " ")
        switch words.first {
        case "PROTOCOLINFO":
          if let greeting { if say(greeting) { continue } else { return } }
          send("250-PROTOCOLINFO 1\r\n250-AUTH \(methods)\r\n250-VERSION Tor=\"0\"\r\n250 OK\r\n")
        case "AUTHCHALLENGE":
          guard case .cookie(_, let bytes) = authentication, words.count == 3,
            let nonce = Hex.decode(words[2])
          else { return send("513 no\r\n") }
          (theirs, own) = (nonce, randomBytes(32))
          let proof = Self.proof("server-to-controller", bytes, theirs, own)
          send("250 AUTHCHALLENGE SERVERHASH=\(proof) SERVERNONCE=\(Hex.encode(own))\r\n")
        case "AUTHENTICATE":
          let told = words.dropFirst().first.map(String.init)
          let wanted: String? =
            switch authentication {
            case .none: nil
            case .password(let password): Hex.encode(Array(password.utf8))
            case .cookie(_, let bytes):
              Self.proof("controller-to-server", bytes, theirs, own)
            }
          isIn = told == wanted
          guard isIn else { return send("515 Authentication failed: \(line)\r\n") }
          send("250 OK\r\n")
        case "GETINFO" where isIn && words.last == "status/bootstrap-phase":
          let answer = state.change { state in
            defer { state.answered += 1 }
            return answers[min(state.answered, answers.count - 1)]
          }
          guard say(answer) else { return }
        default: return send("510 what?\r\n")
        }
      }
    }

    private var methods: String {
      switch authentication {
      case .none: "METHODS=NULL"
      case .password: "METHODS=HASHEDPASSWORD"
      case .cookie(let file, _): "METHODS=COOKIE,SAFECOOKIE COOKIEFILE=\"\(file)\""
      }
    }

    private static func proof(
      _ direction: String, _ cookie: [UInt8], _ theirs: [UInt8], _ own: [UInt8]
    ) -> String {
      let key = Array("Tor safe cookie authentication \(direction) hash".utf8)
      return "\(HMAC.digest(key: key) { $0.update(cookie + theirs + own) })"
    }

    /// False if the connection is to end.
    private func say(_ answer: Answer) -> Bool {
      switch answer {
      case .percent(let percent):
        send(
          "250-status/bootstrap-phase=NOTICE BOOTSTRAP PROGRESS=\(percent) TAG=x SUMMARY=\"y\"\r\n"
            + "250 OK\r\n")
        return true
      case .raw(let text):
        send(text)
        return true
      case .close: return false
      }
    }

    private func send(_ text: String) { try? socket.send(all: Array(text.utf8)) }

    private func next(_ pending: inout [UInt8]) -> String? {
      while true {
        if let end = pending.firstIndex(of: 0x0A) {
          defer { pending.removeSubrange(...end) }
          return String(decoding: pending[..<end].filter { $0 != 0x0D }, as: UTF8.self)
        }
        guard let count = try? socket.receive(appendingTo: &pending), count > 0 else { return nil }
      }
    }
  }
}
