package com.example.shop;

import module java.base;
import java.util.*;
import static java.lang.Math.PI;

/** Öffentliche Klasse. */
public sealed abstract class Order<T extends Comparable<? super T>> implements Runnable permits Order.Paid, Order.Open {
    public static final int LIMIT = 10, OTHER = 20;
    private final List<@NonNull T> items = new ArrayList<>();
    static { System.out.println("static"); }

    protected Order(List<T> items) throws IllegalStateException { int local = 1; }

    @Override
    public void run() {
        var text = """
            A "text" block
            """;
        Runnable r = () -> { int hidden = 1; };
        Object o = text;
        String result = switch (o) {
            case String s when s.length() > 3 -> s;
            case Point(int x, var y) -> "point";
            case null, default -> { yield "none"; }
        };
        if (o instanceof Point(int x, int y) && x > 0) {}
        class LocalClass { void inLocal() {} }
    }

    abstract <R> R visit(Visitor<R> visitor);

    private final Runnable later = new Runnable() {
        int tries;
        @Override public void run() { new Thread() { int deeper; @Override public void start() {} }; }
    };
    { Runnable r = new Runnable() { @Override public void run() {} }; }
    Runnable inMethod() { return new Runnable() { int hidden2; @Override public void run() {} class Inside {} }; }

    public static final class Paid extends Order<String> { Paid() { super(null); } }
    static non-sealed class Open extends Order<String> { Open() { super(null); } }

    public interface Visitor<R> { int DEPTH = 1; R visit(Order<?> order); default void end() {} }
}

record Point(int x, int y) implements Comparable<Point> {
    static int created;
    Point { if (x < 0) throw new IllegalArgumentException(); }
    public int compareTo(Point other) { return 0; }
}

enum Level { LOW(1), HIGH(2) { @Override int weight() { return 3; } }; private final int value; Level(int v) { value = v; } int weight() { return value; } }

@interface Marker { String value() default "x"; int[] codes() default {}; }

class Strict extends Base {
    final int checked;
    Strict(int value) {
        if (value < 0) throw new IllegalArgumentException();
        super(value);
        checked = value;
    }
}
