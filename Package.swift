// swift-tools-version: 6.2
import PackageDescription

// The modules, top to bottom. Each names everything that it may import: the table below is the
// architecture, and `Tests/ArchitectureTests` checks that the sources keep to it.
let modules: [(name: String, imports: [String])] = [
  ("FaultOrigin", ["System", "Failure"]),
  (
    "FetchResKit",
    [
      "Download", "ReleaseLog", "Publishing", "Transport", "Storage", "Manifest", "SignedNote",
      "MerkleTree", "Crypto", "System", "Failure",
    ]
  ),
  (
    "Download",
    ["Transport", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto", "System", "Failure"]
  ),
  (
    "Publishing",
    [
      "ReleaseLog", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto", "System",
      "Failure",
    ]
  ),
  (
    "ReleaseLog",
    ["Transport", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto", "System", "Failure"]
  ),
  ("Transport", ["CLibcurl", "System", "Failure"]),
  ("Storage", ["Crypto", "System", "Failure"]),
  ("Manifest", ["SignedNote", "MerkleTree", "Crypto", "Failure"]),
  ("SignedNote", ["MerkleTree", "Crypto", "Failure"]),
  ("MerkleTree", ["Crypto", "Failure"]),
  ("Crypto", ["CLibcrypto", "Failure"]),
  ("System", ["CSystem", "Failure"]),
  ("Failure", []),
]

let swift: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
]

func target(_ name: String, _ imports: [String]) -> Target {
  .target(name: name, dependencies: imports.map { .byName(name: $0) }, swiftSettings: swift)
}

func tests(_ name: String, _ imports: [String]) -> Target {
  .testTarget(
    name: name, dependencies: (["TestSupport"] + imports).map { .byName(name: $0) },
    swiftSettings: swift)
}

let package = Package(
  name: "fetchres",
  products: [
    .executable(name: "fetchres", targets: ["fetchres-cli"]),
    .library(name: "FetchResKit", targets: ["FetchResKit"]),
    // For Tests/Fuzz, which is a package of its own.
    .library(name: "FaultOrigin", targets: ["FaultOrigin"]),
  ],
  targets: modules.map { target($0.name, $0.imports) } + [
    .executableTarget(
      name: "fetchres-cli",
      dependencies: [
        "FetchResKit", "FaultOrigin", "Download", "Publishing", "ReleaseLog", "Storage", "Manifest",
        "SignedNote", "MerkleTree", "Crypto", "System", "Failure",
      ],
      swiftSettings: swift),
    .target(name: "CSystem"),
    .systemLibrary(
      name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),

    .target(
      name: "TestSupport",
      dependencies: [
        "ReleaseLog", "Transport", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto",
        "System", "Failure",
      ],
      path: "Tests/TestSupport", swiftSettings: swift),
    tests("ArchitectureTests", []),
    tests("FormatTests", ["Manifest", "SignedNote", "MerkleTree", "Crypto", "Failure"]),
    tests("StorageTests", ["Storage", "System", "Crypto", "Failure"]),
    tests(
      "EndToEndTests",
      [
        "fetchres-cli", "FetchResKit", "Publishing", "ReleaseLog", "Transport", "Storage",
        "Manifest",
        "SignedNote", "MerkleTree", "Crypto", "System", "Failure",
      ]),
    tests(
      "CommandLineTests",
      ["fetchres-cli", "FetchResKit", "Download", "SignedNote", "Storage", "System", "Failure"]),
    tests("ServeTests", ["FaultOrigin", "System", "Failure"]),
    tests("TransportTests", ["Transport", "CLibcurl", "System", "Failure"]),
    tests(
      "FetchResKitTests",
      [
        "FaultOrigin", "FetchResKit", "Publishing", "Transport", "SignedNote", "Storage", "Crypto",
        "System", "Failure",
      ]),
    tests(
      "DownloadTests",
      [
        "Download", "Transport", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto",
        "System", "Failure",
      ]),
    tests(
      "ReleaseLogTests",
      [
        "ReleaseLog", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto", "System",
        "Failure",
      ]),
    tests(
      "CrashTests",
      [
        "FetchResKit", "Download", "Publishing", "ReleaseLog", "Transport", "Storage", "Manifest",
        "SignedNote", "MerkleTree", "Crypto", "System", "Failure",
      ]),
    tests(
      "PublishingTests",
      [
        "Publishing", "ReleaseLog", "Storage", "Manifest", "SignedNote", "MerkleTree", "Crypto",
        "System", "Failure",
      ]),
  ]
)
