using System;
global using System.Linq;
using Alias = System.Collections.Generic.List<int>;

namespace Company.Product;

[Serializable]
public abstract partial class Service<T>(ILogger logger, int size = 1) : Base<T>, IDisposable where T : class, new()
{
    public const int Limit = 10, Other = 20;
    private readonly List<T> _items = [];
    public required string Name { get; init; } = "none";
    public int Count => _items.Count;
    public string this[int index] => "x";
    public event EventHandler<int>? Changed;
    public event Action Custom { add { } remove { } }
    static Service() { }
    public Service(string name) : this(null!, 1) { Name = name; }
    ~Service() { }
    public async Task<int> RunAsync<U>(ref readonly U input, params ReadOnlySpan<int> rest) where U : notnull
    {
        int local = 1;
        void LocalFunction() { }
        var text = """
            raw "string" {local}
            """;
        var message = $$"""{{local}}""";
        return input switch { int and > 3 => 1, string { Length: > 2 } s => 2, [1, .., 3] => 3, _ => 0 };
    }
    public abstract void Stop();
    public static Service<T> operator +(Service<T> a, Service<T> b) => a;
    public static implicit operator string(Service<T> s) => s.Name;
    void IDisposable.Dispose() { }
    public delegate void Callback(int code);
    private protected enum Inner : byte { A, B = 2 }
}

public record Person(string First, string Last) { public string Full => $"{First} {Last}"; }
public readonly record struct Point(double X, double Y);
public ref struct Buffer { public Span<byte> Data; }
public interface IShape { double Area { get; } void Draw(); static abstract IShape Create(); }
public enum Level { Low, High }
public static class Extensions { public static int Twice(this int value) => value * 2; }
file class Hidden { }
public static class Sequences
{
    extension<T>(IEnumerable<T> source) where T : notnull
    {
        public bool IsEmpty => !source.Any();
        public IEnumerable<T> Skipped(int count) => source.Skip(count);
    }
    extension(string text) { public static string Blank => ""; }
}
public class Account
{
    public string Name { get; set => field = value.Trim(); }
    public void operator +=(int amount) { }
    public void Rename(Account? other) { other?.Name = "x"; other?.Owner.Name += "y"; }
    public static T Make<T>(scoped ref readonly Span<T> span) where T : allows ref struct => default!;
}
