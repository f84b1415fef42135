using InvoicePress.Model;
using Xunit;

namespace InvoicePress.Tests;

public sealed class InvoiceTests
{
    private static readonly Customer Elan = new(1, "Café Élan", "office@elan.example", "Große Wallstraße 7", "Zürich");

    private static Invoice Of(params decimal[] prices) =>
        new(new InvoiceNumber(2024, 17), Elan, new DateOnly(2024, 3, 31),
            prices.Select(price => new InvoiceLine("Kaffee", 1, new Money(price, "EUR"))).ToList());

    [Fact]
    public void RoundsOncePerInvoice()
    {
        Assert.Equal(new Money(0.01m, "EUR"), Of(0.004m, 0.004m).Net.Rounded());
    }

    [Theory]
    [InlineData("2024-000017", true)]
    [InlineData("2024-17", false)]
    [InlineData("", false)]
    public void ReadsNumbers(string text, bool valid)
    {
        Assert.Equal(valid, InvoiceNumber.TryParse(text, null, out _));
    }

    [Fact]
    public void CurrenciesDoNotMix()
    {
        Assert.Throws<InvalidOperationException>(() => new Money(1, "EUR") + new Money(1, "CHF"));
    }
}
