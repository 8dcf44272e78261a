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
}
