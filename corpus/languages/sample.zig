const std = @import("std");
const Allocator = std.mem.Allocator;

pub const version = "1.0";
var counter: u32 = 0;
threadlocal var tls: i32 = 1;
extern "c" fn printf(format: [*:0]const u8, ...) c_int;

pub const Point = struct {
    x: f64 = 0,
    y: f64,
    const origin = Point{ .x = 0, .y = 0 };

    pub fn init(x: f64, y: f64) Point {
        const local = x;
        return .{ .x = local, .y = y };
    }
    fn norm(self: *const Point) callconv(.C) f64 {
        return @sqrt(self.x * self.x);
    }
};

const Shape = union(enum) { circle: f64, square: struct { side: f64 }, none };
const Color = enum(u8) { red, green = 2, _ };
const Errors = error{ OutOfMemory, NotFound };
const Handle = opaque {};
const Packed = packed struct(u32) { a: u16, b: u16 };

pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        const Self = @This();
        pub fn append(self: *Self, item: T) !void {
            _ = item;
            for (self.items, 0..) |it, i| { _ = it; _ = i; }
        }
    };
}

export fn add(a: i32, b: i32) i32 { return a +% b; }
inline fn fast() void {}

test "points" {
    const p = Point.init(1, 2);
    const x = if (p.x > 0) blk: { break :blk 1; } else 2;
    _ = switch (x) { 0...9 => 1, inline else => |v| v };
    defer std.debug.print("{s}\n", .{"x"});
    const text =
        \\multi
        \\line
    ;
    _ = text;
    while (true) : (counter += 1) { errdefer unreachable; }
}
comptime { _ = Point; }

pub const Empty = struct {};
const Token = opaque {};
const Tag = enum {
};
const after_empty = 1;
