import Crypto
import Failure
import Storage
import TestSupport
import Testing

@testable import FetchResKit

/// The record of an identity, and the store of records.
@Suite struct StoredIdentityTests {
  /// A certificate of an Ed25519 key that signs itself, valid for a century.
  static let certificate = """
    MIIBOjCB7aADAgECAhQXaTNa9orWO0BIZL0MLfPgl6MbzDAFBgMrZXAwEjEQMA4GA1UEAwwHZml4dHVyZTAgFw0yNj
    ExMzAxMTE5NTVaGA8yMTI2MTEwNjExMTk1NVowEjEQMA4GA1UEAwwHZml4dHVyZTAqMAUGAytlcAMhAEE2mxF1XasT
    G9VtmL3gnq28NcLTPSLqjbmwri7sOxW2o1MwUTAdBgNVHQ4EFgQU+8At6rtPVG88KHrjStBplU9/eCgwHwYDVR0jBB
    gwFoAU+8At6rtPVG88KHrjStBplU9/eCgwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQDmhLD+ydEtTj9c8L4/F2oe
    w3x3zpqEcSeNUBfjrUnIzcqYZOWaitn1knANVLOzN+X3u9kJWL/kqFIj3LNwHmcH
    """
  /// The seed of its key, which was made for this file alone.
  static let seed = "3c3cbae2350d752dd65c38c1092913427e753a278fe76507d02f89b8299f98f4"

  private func key() throws -> PrivateKey {
    var seed = try #require(Hex.decode(Self.seed))
    return try #require(PrivateKey(ed25519Seed: SecretBytes(taking: &seed)))
  }

  private func password(_ text: String = "s3cret") -> SecretBytes {
    var bytes = Array(text.utf8)
    return SecretBytes(taking: &bytes)
  }

  private func identity(
    _ name: String = "me", isEncrypted: Bool = false, hosts: [String] = ["a.example", "b:8443"]
  ) throws -> StoredIdentity {
    let text = Self.certificate.split(separator: "\n").joined()
    let certificate = try #require(Base64.decode(text).flatMap { Certificate(der: $0) })
    return StoredIdentity(
      name: name, hosts: hosts,
      key: isEncrypted ? .encrypted(try key().encryptedPEM(password())) : .plain(try key().pem),
      chain: [certificate])
  }

  private func bytes(_ secret: SecretBytes) -> [UInt8] { secret.withBytes { Array($0) } }

  private func secret(_ bytes: [UInt8]) -> SecretBytes {
    var bytes = bytes
    return SecretBytes(taking: &bytes)
  }

  @Test(arguments: [false, true])
  func `a record reads back as what was written`(_ isEncrypted: Bool) throws {
    let identity = try identity(isEncrypted: isEncrypted)
    let read = try #require(StoredIdentity(identity.record, name: "me"))
    #expect(read.hosts == identity.hosts && read.chain == identity.chain)
    #expect(read.isEncrypted == isEncrypted)
    #expect(read.chain.first?.subject == "CN = fixture")
    #expect(bytes(read.record) == bytes(identity.record))
  }

  @Test func `a record with any byte changed, cut off or added is no record`() throws {
    let whole = bytes(try identity().record)
    for index in whole.indices {
      var changed = whole
      changed[index] ^= 1
      #expect(StoredIdentity(secret(changed), name: "me") == nil, "at \(index)")
    }
    for count in stride(from: 0, to: whole.count, by: 17) {
      #expect(StoredIdentity(secret(Array(whole.prefix(count))), name: "me") == nil)
    }
    #expect(StoredIdentity(secret(whole + [10]), name: "me") == nil)
    #expect(StoredIdentity(secret(whole), name: "other") == nil)
  }

  @Test func `only the right password opens a key`() throws {
    guard case .encrypted(let sealed) = try identity(isEncrypted: true).key else { return }
    let identity = try identity()
    #expect(identity.open(sealed, password("nope")) == nil)
    #expect(identity.open(sealed, password("")) == nil)
    let opened = try #require(identity.open(sealed, password()))
    #expect(bytes(opened) == bytes(try key().pem))
  }

  @Test(arguments: [
    ("a.example", "a.example"), ("A.Example", "a.example"), ("a.example:8443", "a.example:8443"),
    ("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"), ("[::1]:8443", "[::1]:8443"),
  ])
  func `a host is kept in the form in which it is compared`(_ text: String, _ host: String) {
    #expect(StoredIdentity.host(text) == host)
  }

  @Test(arguments: ["", "a/b", "user@a", "a?b", "a b", "a:b", "a:99999999", "https://a"])
  func `what is no host is none`(_ text: String) { #expect(StoredIdentity.host(text) == nil) }

  // MARK: The store

  private func store(_ fileSystem: MemoryFileSystem) throws -> IdentityStore {
    try IdentityStore(stateDirectory: "/state", fileSystem)
  }

  @Test func `what is stored survives a power cut, whole, and so does its removal`() throws {
    let fileSystem = MemoryFileSystem()
    try store(fileSystem).write(try identity())
    let after = fileSystem.crash(survivors: .nothingUnsynced)
    #expect(try store(after).read("me")?.chain.count == 1)
    #expect(try store(after).remove("me"))
    let later = after.crash(survivors: .nothingUnsynced)
    #expect(try store(later).read("me") == nil)
    #expect(try store(later).names() == [])
  }

  @Test func `a replaced record has another stamp, and none has none`() throws {
    let store = try store(MemoryFileSystem())
    #expect(store.stamp("me") == nil)
    try store.write(try identity())
    let first = try #require(store.stamp("me"))
    #expect(store.stamp("me") == first)
    try store.write(try identity())
    #expect(store.stamp("me") != first)
    _ = try store.remove("me")
    #expect(store.stamp("me") == nil)
  }

  @Test func `an identity that could not be read again replaces none`() throws {
    let store = try store(MemoryFileSystem())
    try store.write(try identity())
    var large = try identity()
    large.chain = Array(repeating: large.chain[0], count: 600)
    let refusal = failure { () throws(FetchFailure) in try store.write(large) }
    #expect(refusal?.category == .usage)
    #expect(refusal?.message.contains("more than 256 KiB") == true)
    #expect(try store.read("me")?.chain.count == 1)
  }

  @Test func `names that lead elsewhere are none`() throws {
    let store = try store(MemoryFileSystem())
    for name in ["", ".", "..", "../me", "a/b", "-a", ".a"] {
      #expect(!StoredIdentity.isName(name))
      #expect(try store.read(name) == nil)
      #expect(try !store.remove(name))
    }
  }

  // MARK: Wrong passwords

  @Test func `an identity goes after as many wrong passwords as chosen, and only if chosen`() throws
  {
    let store = try store(MemoryFileSystem())
    try store.write(try identity())
    try store.wipe("me", ifDueAfter: 1_000)
    #expect(try store.read("me") != nil && store.wipeAfter == nil)
    try store.setWipeAfter(10)
    #expect(store.wipeAfter == 10)
    try store.wipe("me", ifDueAfter: 9)
    #expect(try store.read("me") != nil)
    #expect(
      category { () throws(FetchFailure) in try store.wipe("me", ifDueAfter: 10) } == .unavailable)
    #expect(try store.read("me") == nil)
    try store.setWipeAfter(nil)
    #expect(store.wipeAfter == nil)
  }

  @Test func `wrong passwords are counted until one is right or the identity is another`() throws {
    let store = try store(MemoryFileSystem())
    try store.write(try identity())
    let ladder = store.ladder(of: "me")
    #expect(try ladder.wait() == 0 && ladder.failures == 0)
    #expect(try ladder.fail() == 1 && ladder.fail() == 2)
    #expect(try ladder.wait() == 0)
    #expect(try ladder.fail() == 3)
    #expect(try (4...5).contains(ladder.wait()))
    #expect(store.ladder(of: "other").failures == 0)
    try store.write(try identity())
    #expect(ladder.failures == 0)
  }
}
