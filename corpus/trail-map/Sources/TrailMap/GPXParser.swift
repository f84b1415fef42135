import Foundation

public enum GPXError: Error, Equatable {
    case notXML(line: Int)
    case noTrack
    case badCoordinate(String)
}

/// Reads `trkpt` elements; routes and waypoints are left out.
public final class GPXParser: NSObject, XMLParserDelegate {
    private var name = ""
    private var points: [Point] = []
    private var text = ""
    private var position: (Double, Double)?
    private var height = 0.0

    public static func parse(_ data: Data) throws -> Track {
        let delegate = GPXParser()
        let parser = XMLParser(data: data)
        parser.delegate = delegate
        guard parser.parse() else { throw GPXError.notXML(line: parser.lineNumber) }
        guard !delegate.points.isEmpty else { throw GPXError.noTrack }
        return Track(name: delegate.name, points: delegate.points)
    }

    public func parser(
        _ parser: XMLParser, didStartElement element: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        text = ""
        guard element == "trkpt" else { return }
        position = attributes["lat"].flatMap(Double.init).flatMap { latitude in
            attributes["lon"].flatMap(Double.init).map { (latitude, $0) }
        }
        height = 0
    }

    public func parser(_ parser: XMLParser, foundCharacters characters: String) {
        text += characters
    }

    public func parser(
        _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
    ) {
        switch element {
        case "name" where name.isEmpty: name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        case "ele": height = Double(text) ?? 0
        case "trkpt":
            guard let (latitude, longitude) = position else { return }
            points.append(Point(latitude: latitude, longitude: longitude, height: height))
        default: break
        }
    }
}
