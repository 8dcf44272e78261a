import Testing
import Transport

@Suite struct PrivateHostTests {
  @Test(
    "hosts of this machine and of private networks are told apart from others",
    arguments: [
      ("127.0.0.1", true), ("127.255.1.2", true), ("0.0.0.0", true), ("10.0.0.1", true),
      ("172.16.0.1", true), ("172.31.9.9", true), ("192.168.1.1", true), ("169.254.1.1", true),
      ("100.64.0.1", true), ("100.127.255.255", true), ("[::1]", true), ("[::]", true),
      ("[fe80::1]", true), ("[fc00::1]", true), ("[fdff::1]", true), ("[::ffff:10.0.0.1]", true),
      ("[64:ff9b::7f00:1]", true), ("localhost", true), ("LOCALHOST.", true),
      ("a.localhost", true), ("0x7f.1", true), ("2130706433", true),
      ("128.0.0.1", false), ("9.255.255.255", false), ("11.0.0.1", false), ("172.15.0.1", false),
      ("172.32.0.1", false), ("192.167.1.1", false), ("192.169.1.1", false), ("100.63.0.1", false),
      ("100.128.0.1", false), ("169.253.1.1", false), ("[2001:db8::1]", false),
      ("[::ffff:8.8.8.8]", false), ("[64:ff9b::808:808]", false), ("example.org", false),
      ("10.example.org", false), ("notlocalhost", false),
    ])
  func hosts(_ host: String, _ isPrivate: Bool) throws {
    #expect(try WebURL("http://\(host)/x").isPrivate == isPrivate)
  }
}
