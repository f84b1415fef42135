using System.Net.Mail;
using InvoicePress.Model;

namespace InvoicePress.Jobs;

public sealed class Mailer(SmtpClient smtp, ILogger<Mailer> log)
{
    public async Task SendAsync(Invoice invoice, CancellationToken cancellation)
    {
        using var message = new MailMessage("rechnung@example.org", invoice.Customer.Email)
        {
            Subject = $"Rechnung {invoice.Number}",
            Body = $"Sehr geehrte Damen und Herren,\n\nanbei die Rechnung über {invoice.Gross}.\n",
        };
        await smtp.SendMailAsync(message, cancellation);
        log.LogInformation("sent {Number} to {Email}", invoice.Number, invoice.Customer.Email);
    }
}
