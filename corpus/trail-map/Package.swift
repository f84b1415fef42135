// swift-tools-version: 5.9
import PackageDescription

let package = Package(
    name: "trail-map",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [.library(name: "TrailMap", targets: ["TrailMap"])],
    targets: [
        .target(name: "TrailMap"),
        .executableTarget(name: "trailctl", dependencies: ["TrailMap"]),
        .testTarget(name: "TrailMapTests", dependencies: ["TrailMap"]),
    ]
)
