/// Bytes that stay where they are for as long as their owner lives.
package protocol LentBytes: AnyObject, Sendable {
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

/// What this side shows in a TLS handshake: PEM texts, in memory alone.
package struct ClientCertificate: Sendable {
  /// The certificate of the key first, then its issuers, which are sent with it.
  package var chain: any LentBytes
  /// A plain PKCS#8 key.
  package var key: any LentBytes

  package init(chain: any LentBytes, key: any LentBytes) { (self.chain, self.key) = (chain, key) }
}
