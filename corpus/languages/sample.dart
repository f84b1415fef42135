library shop.core;

import 'dart:async' show Future;
part 'order.g.dart';

const version = '1.0';
final int limit = 10, other = 20;
var counter = 0;
late String name;
typedef Handler<T> = Future<void> Function(T value);
int get answer => 42;
set answer(int value) {}

sealed class Shape {}
abstract interface class Drawable { void draw(); double get area; }
base mixin Logger on Shape { void log(String m) => print(m); }
mixin class Both {}

class Point<T extends num> extends Shape with Logger implements Comparable<Point> {
  final T x, y;
  static const origin = Point(0, 0);
  String? _label;
  const Point(this.x, this.y, {required super.key, this._label = 'a'});
  Point.named(T v) : x = v, y = v;
  factory Point.fromJson(Map<String, dynamic> json) => Point(json['x'], json['y']);
  double get norm => 0.0;
  set label(String v) => _label = v;
  @override
  int compareTo(Point other) { var local = 1; void nested() {} return local; }
  Point operator +(Point o) => this;
  external void native();
  static Future<void> load() async { await for (final x in stream) {} }
}

enum Level { low(1), high(2); const Level(this.weight); final int weight; bool get isLow => this == low; }
enum Plain { a, b }
extension StringTools on String { String shout() => toUpperCase(); int get twice => length * 2; }
extension type Id(int value) { bool get valid => value > 0; }

(int, {String name}) record() => (1, name: 'a');
void main(List<String> args) async {
  final (a, b) = (1, 2);
  var text = switch (args) { [final first, ...] when first.isNotEmpty => '$first ${a + 1}', _ => 'none' };
  args..add('x')..sort();
}
