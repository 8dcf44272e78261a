import Failure
import Manifest
import MerkleTree
import Testing

@Suite struct SitePathsTests {
  @Test func `every byte outside of the plain ones is percent-encoded`() {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/".utf8)
    for byte in UInt8.min..<128 {
      let encoded = SitePaths.urlPath(String(UnicodeScalar(byte)))
      if plain.contains(byte) {
        #expect(encoded == String(UnicodeScalar(byte)))
      } else {
        #expect(encoded == "%" + Hex.encode([byte]).uppercased())
      }
    }
    #expect(SitePaths.urlPath("é") == "%C3%A9")
  }

  @Test func `the parts of a release stand below its version`() {
    #expect(SitePaths.releaseManifest("1.0+2") == "releases/1.0+2/manifest")
    #expect(SitePaths.urlPath(SitePaths.file("1.0+2", "a+b")) == "releases/1.0%2B2/a%2Bb")
    let tile = TileAddress(level: 0, index: 273, width: 112)
    #expect(SitePaths.tile("1", tile) == "releases/1/tile/0/273.p/112")
  }
}
