using System.Diagnostics.CodeAnalysis;

namespace InvoicePress.Model;

/// <summary>Year and a counter without gaps: <c>2024-000017</c>.</summary>
public readonly record struct InvoiceNumber(int Year, int Counter) : IParsable<InvoiceNumber>
{
    public InvoiceNumber Next() => this with { Counter = Counter + 1 };

    public override string ToString() => $"{Year:0000}-{Counter:000000}";

    public static InvoiceNumber Parse(string text, IFormatProvider? provider = null) =>
        TryParse(text, provider, out var number) ? number : throw new FormatException(text);

    public static bool TryParse(
        [NotNullWhen(true)] string? text, IFormatProvider? provider, out InvoiceNumber number)
    {
        number = default;
        var parts = text?.Split('-');
        if (parts is not [{ Length: 4 } year, { Length: 6 } counter]) return false;
        if (!int.TryParse(year, out var y) || !int.TryParse(counter, out var c)) return false;
        number = new InvoiceNumber(y, c);
        return true;
    }
}
