import Foundation
import TrailMap

func printStatistics(of path: String) throws {
    let track = try GPXParser.parse(Data(contentsOf: URL(fileURLWithPath: path)))
    let short = track.simplified(tolerance: 10)
    print("""
    \(track.name)
      length  \(String(format: "%.1f", track.length / 1000)) km
      climb   \(Int(track.climb())) m
      points  \(track.points.count), \(short.points.count) after simplifying
    """)
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.first == "stat", arguments.count > 1 else {
    FileHandle.standardError.write(Data("usage: trailctl stat FILE...\n".utf8))
    exit(2)
}
for path in arguments.dropFirst() {
    try printStatistics(of: path)
}
