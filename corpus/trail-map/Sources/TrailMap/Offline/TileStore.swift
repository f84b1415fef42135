import Foundation

public struct TileKey: Hashable, Sendable {
    public let zoom, x, y: Int
}

/// Tiles on disk. Holds at most `capacity` bytes; the tile that was not looked at for the longest
/// time goes first.
public actor TileStore {
    private struct Entry {
        let bytes: Int
        var lastUse: Int
    }

    private let folder: URL
    private let capacity: Int
    private var entries: [TileKey: Entry] = [:]
    private var clock = 0

    public init(folder: URL, capacity: Int = 200 << 20) {
        self.folder = folder
        self.capacity = capacity
    }

    public func tile(_ key: TileKey) -> Data? {
        guard entries[key] != nil else { return nil }
        clock += 1
        entries[key]?.lastUse = clock
        return try? Data(contentsOf: url(of: key))
    }

    public func store(_ data: Data, as key: TileKey) throws {
        try data.write(to: url(of: key), options: .atomic)
        clock += 1
        entries[key] = Entry(bytes: data.count, lastUse: clock)
        while entries.values.reduce(0, { $0 + $1.bytes }) > capacity { try evictOldest() }
    }

    private func evictOldest() throws {
        guard let (key, _) = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
        entries[key] = nil
        try FileManager.default.removeItem(at: url(of: key))
    }

    private func url(of key: TileKey) -> URL {
        folder.appendingPathComponent("\(key.zoom)-\(key.x)-\(key.y).png")
    }
}
