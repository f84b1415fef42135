using InvoicePress.Jobs;
using System.Net.Mail;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddSingleton<BackgroundTaskQueue>();
builder.Services.AddSingleton(_ => new SmtpClient(builder.Configuration["Smtp:Host"]));
builder.Services.AddTransient<Mailer>();
builder.Services.AddTransient<MonthlyRun>();
builder.Services.AddHostedService<JobRunner>();

var app = builder.Build();

app.MapGet("/healthz", () => "ok");

app.MapPost("/runs/{year:int}/{month:int}", async (int year, int month, MonthlyRun run) =>
{
    var lastDay = new DateOnly(year, month, DateTime.DaysInMonth(year, month));
    return Results.Ok(new { invoices = await run.RunAsync(lastDay) });
});

app.Run();
