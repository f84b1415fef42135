namespace InvoicePress.Model;

/// <summary>An exact amount in one currency. Sums of two currencies throw.</summary>
public readonly record struct Money(decimal Amount, string Currency)
{
    public static Money Zero(string currency) => new(0, currency);

    public static Money operator +(Money left, Money right)
    {
        if (left.Currency != right.Currency)
        {
            throw new InvalidOperationException($"{left.Currency} + {right.Currency}");
        }
        return left with { Amount = left.Amount + right.Amount };
    }

    public static Money operator *(Money money, decimal factor) => money with { Amount = money.Amount * factor };

    /// <summary>To two digits, half away from zero.</summary>
    public Money Rounded() => this with { Amount = Math.Round(Amount, 2, MidpointRounding.AwayFromZero) };

    public override string ToString() => $"{Rounded().Amount:0.00} {Currency}";
}
