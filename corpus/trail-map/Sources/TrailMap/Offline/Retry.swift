import Foundation

/// Tries again while the network is gone, and stops at once for any other error.
public func retryWithBackoffIfOffline<T: Sendable>(
    attempts: Int = 4,
    base: Duration = .milliseconds(300),
    operation: @Sendable () async throws -> T
) async throws -> T {
    for attempt in 0..<(attempts - 1) {
        do {
            return try await operation()
        } catch let error as URLError where error.code == .notConnectedToInternet {
            try await Task.sleep(for: base * (1 << attempt))
        }
    }
    return try await operation()
}
