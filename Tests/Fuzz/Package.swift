// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets stand in a package of their own, so that the product needs no unsafe flags. Built
// and run by `Tests/fuzz.sh`, which instruments everything, the product's modules included.
let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "fetchres", path: "../..")],
  targets: [
    .systemLibrary(name: "LibFuzzer"),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "LibFuzzer",
        .product(name: "FetchResKit", package: "fetchres"),
        .product(name: "FaultOrigin", package: "fetchres"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        // The entry point is ours: libFuzzer's own `main` does not link under the name that the
        // package manager gives it.
        .unsafeFlags(["-parse-as-library"]),
      ]),
  ]
)
