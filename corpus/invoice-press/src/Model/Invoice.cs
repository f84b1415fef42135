namespace InvoicePress.Model;

public sealed record Customer(int Id, string Name, string Email, string Street, string City);

public sealed record InvoiceLine(string Text, decimal Quantity, Money Price)
{
    public Money Total => Price * Quantity;
}

public sealed record Invoice(InvoiceNumber Number, Customer Customer, DateOnly Day, IReadOnlyList<InvoiceLine> Lines)
{
    public const decimal TaxRate = 0.19m;

    public Money Net => Lines.Aggregate(Money.Zero("EUR"), (sum, line) => sum + line.Total);

    public Money Tax => (Net * TaxRate).Rounded();

    public Money Gross => Net.Rounded() + Tax;

    public DateOnly DueDay => Day.AddDays(14);
}
