import Foundation

public struct Point: Equatable, Sendable {
    public let latitude: Double
    public let longitude: Double
    /// Metres above the sea.
    public let height: Double

    public init(latitude: Double, longitude: Double, height: Double = 0) {
        self.latitude = latitude
        self.longitude = longitude
        self.height = height
    }

    /// Metres along the great circle; heights do not count.
    public func distance(to other: Point) -> Double {
        let earthRadius = 6_371_000.0
        let φ1 = latitude * .pi / 180, φ2 = other.latitude * .pi / 180
        let Δφ = φ2 - φ1, Δλ = (other.longitude - longitude) * .pi / 180
        let a = pow(sin(Δφ / 2), 2) + cos(φ1) * cos(φ2) * pow(sin(Δλ / 2), 2)
        return 2 * earthRadius * atan2(sqrt(a), sqrt(1 - a))
    }
}

public struct Track: Sendable {
    public var name: String
    public var points: [Point]

    public init(name: String, points: [Point]) {
        self.name = name
        self.points = points
    }

    public var length: Double {
        zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) }
    }

    /// Metres upwards in total. Steps of less than `noise` metres are the receiver's, not the trail's.
    public func climb(noise: Double = 3) -> Double {
        guard var reference = points.first?.height else { return 0 }
        var total = 0.0
        for point in points where abs(point.height - reference) >= noise {
            total += max(0, point.height - reference)
            reference = point.height
        }
        return total
    }
}
