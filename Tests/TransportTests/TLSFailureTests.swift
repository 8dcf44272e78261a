import CLibcurl
import Failure
import Testing

@testable import Transport

@Suite struct TLSFailureTests {
  private func failure(
    _ code: CURLcode, verdict: Int = 0, _ detail: String = "", shows: Bool = false
  ) -> FetchFailure? {
    TLSFailure(
      host: "a.example:8443", hasClientCertificate: shows, now: UTCDate(seconds: 1_800_000_000)
    ).failure(code, verdict: verdict, detail: detail)
  }

  @Test(
    "each verdict about a server's certificate has its own words, with the host in it",
    arguments: [
      (10, "has expired; the local clock says 2027-01-15T08:00:00Z"),
      (9, "is not valid yet; the local clock says 2027-01-15T08:00:00Z"),
      (2, "the issuer of"), (18, "the issuer of"), (19, "the issuer of"), (20, "the issuer of"),
      (21, "the issuer of"), (23, "is revoked"), (62, "is for another name"),
      (64, "is for another name"), (26, "does not verify"),
    ])
  func verdicts(_ verdict: Int, _ words: String) throws {
    let found = try #require(failure(CURLE_PEER_FAILED_VERIFICATION, verdict: verdict, "why"))
    #expect(found.category == .tls)
    #expect(found.message.contains(words) && found.message.contains("a.example:8443"))
  }

  @Test("a name that libcurl itself does not find is another name")
  func name() {
    let detail = "SSL: no alternative certificate subject name matches target host name 'a.example'"
    for verdict in [0, 1] {
      let found = failure(CURLE_PEER_FAILED_VERIFICATION, verdict: verdict, detail)
      #expect(found?.message.contains("for another name") == true)
    }
  }

  @Test(
    "an alert about the client certificate is told apart by whether there was one",
    arguments: [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SSL_CONNECT_ERROR])
  func alerts(_ code: CURLcode) {
    let required = "SSL routines::tlsv13 alert certificate required"
    let without = failure(code, required)
    #expect(without?.message.contains("asks for a client certificate") == true)
    #expect(without?.hint?.contains("--identity") == true)
    let refused = failure(code, "SSL routines::sslv3 alert certificate expired", shows: true)
    #expect(refused?.message.contains("refuses the client certificate: it has expired") == true)
  }

  @Test("what is not about TLS is left to others")
  func others() {
    #expect(failure(CURLE_OK) == nil)
    #expect(failure(CURLE_RECV_ERROR, "Connection reset by peer") == nil)
    #expect(failure(CURLE_COULDNT_CONNECT, "refused") == nil)
    #expect(failure(CURLE_SSL_CONNECT_ERROR, "Connection reset by peer")?.category == .tls)
  }
}
