import Foundation
@testable import Shop

let version = "1.0"
var counter: Int = 0, other = 1
typealias Handler<T> = (T) async throws -> Void
precedencegroup Arrow { associativity: left }
infix operator ==> : Arrow
func ==> (lhs: Int, rhs: Int) -> Int { lhs }

public protocol Shape: AnyObject where Self: Sendable {
    associatedtype Unit
    var area: Double { get }
    static func make() -> Self
    init(side: Double)
    subscript(index: Int) -> Double { get }
}

@MainActor
public final class Circle<T: Numeric>: Shape, @unchecked Sendable {
    static let shared = Circle(side: 1)
    @Published private(set) var radius: Double = 0 { didSet { let local = 1; print(local) } }
    lazy var computed: Double = { 1.0 }()
    var area: Double { get { radius } set { radius = newValue } }
    required init(side: Double) { self.radius = side }
    convenience init?(text: String) { return nil }
    deinit {}
    func draw(in context: borrowing Context, at point: (Int, Int) = (0, 0)) async throws -> some View {
        func nested() {}
        return context
    }
    class func create() -> Circle { Circle(side: 1) }
    subscript(index: Int) -> Double { radius }
    struct Inner { let depth: Int }
}
struct Point: Hashable {
    var x = 0, y = 0
    static func + (a: Point, b: Point) -> Point { a }
    mutating func move() {}
}
enum Level: Int, CaseIterable {
    case low = 1, high
    case special
    indirect enum Tree { case leaf(Int), node(left: Tree, right: Tree) }
    func next() {}
}
actor Store {
    private var items: [String: any Shape] = [:]
    nonisolated func load() async {}
}
extension Point: CustomStringConvertible {
    var description: String { "\(x) \(y)" }
    init(both: Int) { self.init() }
}
extension Array where Element == Int { func total() -> Int { reduce(0, +) } }
@resultBuilder enum Builder { static func buildBlock(_ parts: String...) -> String { "" } }
func generic<each T>(_ value: repeat each T) where T: Equatable {
    guard let local = Optional(1), case .some = Optional(2) else { return }
    let text = """
        multi \(local)
        """
    if #available(iOS 17, *) { let x = if local > 1 { 1 } else { 2 } }
    defer { print(text) }
}
#if DEBUG
func debugOnly() {}
#endif
@freestanding(expression) public macro stringify<T>(_ value: T) -> (T, String) = #externalMacro(module: "Macros", type: "Stringify")
macro plain() = #externalMacro(module: "Macros", type: "Plain")
public struct FileHandle: ~Copyable {
    nonisolated(unsafe) static var opened = 0
    package let raw: [3 of UInt8]
    consuming func close() throws(IOError) {}
    func send(
        _ bytes: consuming sending [UInt8],
        to other: borrowing FileHandle,
    ) async throws(IOError) -> Int { unsafe write(bytes) }
}
extension Pool where Element: ~Copyable {
    mutating func drain() { #expect(isEmpty) }
}
struct Vector<let count: Int>: ~Copyable, ~Escapable {}
#Preview("Empty") { Text("none") }
