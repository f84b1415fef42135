import XCTest
@testable import TrailMap

final class TrackTests: XCTestCase {
    private let rigi = Track(name: "Rigi", points: [
        Point(latitude: 47.0567, longitude: 8.4853, height: 1797),
        Point(latitude: 47.0500, longitude: 8.4800, height: 1600),
        Point(latitude: 47.0437, longitude: 8.4747, height: 1453),
    ])

    func testLength() {
        XCTAssertEqual(rigi.length, 1_657, accuracy: 20)
    }

    func testClimbIgnoresNoise() {
        let flat = Track(name: "", points: [0, 2, 0, 2, 0].map { Point(latitude: 0, longitude: 0, height: $0) })
        XCTAssertEqual(flat.climb(), 0)
    }

    func testSimplifiedKeepsTheEnds() {
        let short = rigi.simplified(tolerance: 1_000)
        XCTAssertEqual(short.points, [rigi.points[0], rigi.points[2]])
    }
}
