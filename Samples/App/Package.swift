// swift-tools-version: 6.2
import PackageDescription

// An app that uses the library: a package of its own, as yours would be.
let package = Package(
  name: "App",
  dependencies: [.package(name: "fetchres", path: "../..")],
  targets: [
    .executableTarget(
      name: "App", dependencies: [.product(name: "FetchResKit", package: "fetchres")])
  ]
)
