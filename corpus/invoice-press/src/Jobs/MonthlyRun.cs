using InvoicePress.Model;

namespace InvoicePress.Jobs;

public interface IInvoiceStore
{
    Task<InvoiceNumber> LastNumberAsync(int year);
    Task<IReadOnlyList<(Customer Customer, IReadOnlyList<InvoiceLine> Lines)>> OpenOrdersAsync(DateOnly until);
    Task SaveAsync(Invoice invoice);
}

public sealed class MonthlyRun(IInvoiceStore store, BackgroundTaskQueue queue)
{
    /// <summary>Writes all invoices of a month; sending them is left to the queue.</summary>
    public async Task<int> RunAsync(DateOnly lastDay)
    {
        var number = await store.LastNumberAsync(lastDay.Year);
        var count = 0;
        foreach (var (customer, lines) in await store.OpenOrdersAsync(lastDay))
        {
            number = number.Next();
            var invoice = new Invoice(number, customer, lastDay, lines);
            await store.SaveAsync(invoice);
            await queue.EnqueueAsync((services, stop) => services.GetRequiredService<Mailer>().SendAsync(invoice, stop));
            count++;
        }
        return count;
    }
}
