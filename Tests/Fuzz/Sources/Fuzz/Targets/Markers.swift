import Crypto
import Failure
import Manifest
import MerkleTree
@testable import System
@testable import Download
@testable import SignedNote
@testable import Storage

extension FuzzTarget {
  /// A marker counts exactly if it is that of the manifest beside it, and the manifest if it is whole.
  static let marker = FuzzTarget("marker") { bytes in
    do throws(SystemError) {
      var reader = InputReader(bytes)
      let kind = reader.byte()
      let content = Array(reader.rest)
      let version = try FuzzDirectory.shared.openOrMakeDirectory("1.0", permissions: 0o700)
      try version.put("world.map", Array("world".utf8))
      var (note, marker) = (good.note, good.marker)
      switch kind % 4 {
      case 0: marker = content
      case 1: note = content
      case 2:
        for change in stride(from: 0, to: content.count - 1, by: 2) {
          marker[Int(content[change]) % marker.count] ^= content[change + 1]
        }
      default:
        // Any manifest that we signed, with the marker that belongs to it.
        let text = String(decoding: content, as: UTF8.self) + "\n"
        note = SignedNote.sign(text: text, keys: [FuzzKeys.manifest])
        if let manifest = try? Manifest(selfSigned: note) {
          marker = CompletedVersion.marker(manifest, note: note)
        }
      }
      try version.put("manifest", note)
      try version.put("complete", marker)
      let found = CompletedVersion("1.0", in: FuzzDirectory.shared)
      if kind % 4 < 3 {
        let isGood = note == good.note && marker == good.marker
        expect((found != nil) == isGood, "taken or refused")
      } else if let found {
        let manifest = found.manifest
        expect(manifest.version == "1.0" && manifest.file == "world.map", "other names")
        expect(manifest.layout.size == 5 && found.note == note, "another size")
      }
    } catch { fatalError("Fuzz: \(error)") }
  }

  private static let good: (note: [UInt8], marker: [UInt8]) = {
    guard let origin = Origin(FuzzKeys.origin), let layout = BlockLayout(size: 5, blockSize: 16)
    else { fatalError("Fuzz: no manifest can be made") }
    let manifest = Manifest(
      origin: origin, version: "1.0", release: 0, layout: layout,
      root: SHA256.digest(Array("\0world".utf8)), file: "world.map",
      published: UTCDate(seconds: 1_800_000_000), key: FuzzKeys.manifest.key, since: 0)
    let note = SignedNote.sign(text: manifest.text, keys: [FuzzKeys.manifest])
    return (note, CompletedVersion.marker(manifest, note: note))
  }()
}
