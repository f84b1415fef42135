extension Track {
    /// The Douglas–Peucker line: no point of the original is further than `tolerance` metres away.
    /// Takes quadratic time in the worst case, which a hike of 20 000 points does not reach.
    public func simplified(tolerance: Double) -> Track {
        guard points.count > 2 else { return self }
        var keep = [Bool](repeating: false, count: points.count)
        keep[0] = true
        keep[points.count - 1] = true
        var spans = [(0, points.count - 1)]
        while let (first, last) = spans.popLast() {
            guard let (index, offset) = farthest(between: first, and: last), offset > tolerance else { continue }
            keep[index] = true
            spans.append((first, index))
            spans.append((index, last))
        }
        return Track(name: name, points: zip(points, keep).filter(\.1).map(\.0))
    }

    private func farthest(between first: Int, and last: Int) -> (Int, Double)? {
        ((first + 1)..<max(first + 1, last))
            .map { ($0, deviation(of: points[$0], from: points[first], to: points[last])) }
            .max { $0.1 < $1.1 }
    }
}

/// Distance of a point from a line, by the area of the triangle (Heron's formula).
func deviation(of point: Point, from start: Point, to end: Point) -> Double {
    let a = start.distance(to: end), b = start.distance(to: point), c = end.distance(to: point)
    guard a > 0 else { return b }
    let s = (a + b + c) / 2
    return 2 * (s * (s - a) * (s - b) * (s - c)).magnitude.squareRoot() / a
}
