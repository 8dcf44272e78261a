import CLibcurl
import Failure
import Testing

@testable import Transport

/// Results of a libcurl that is not the one here.
@Suite struct CurlOutcomeTests {
  @Test("a refused CONNECT is an answer of the proxy, whatever libcurl calls it")
  func refusedConnect() {
    #expect(CurlEasy.isAnswer(CURLE_COULDNT_CONNECT, status: 403))
    #expect(!CurlEasy.isAnswer(CURLE_COULDNT_CONNECT, status: 0))
    for code in [CURLE_OPERATION_TIMEDOUT, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY] {
      #expect(!CurlEasy.isAnswer(code, status: 403))
    }
  }

  @Test("an overlong header line is too large", arguments: [CURLE_OUT_OF_MEMORY.rawValue, 100])
  func longLine(_ code: UInt32) throws {
    let request = Request(try WebURL("http://127.0.0.1:9/"))
    #expect(CurlEasy().failure(CURLcode(rawValue: code), request)?.category == .tooLarge)
  }
}
