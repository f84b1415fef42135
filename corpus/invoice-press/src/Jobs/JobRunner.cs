namespace InvoicePress.Jobs;

public sealed class JobRunner(BackgroundTaskQueue queue, IServiceProvider services, ILogger<JobRunner> log)
    : BackgroundService
{
    private const int Attempts = 3;

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await foreach (var job in queue.DequeueAllAsync(stoppingToken))
        {
            await RunWithRetryAsync(job, stoppingToken);
        }
    }

    private async Task RunWithRetryAsync(Job job, CancellationToken cancellation)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                await job(services, cancellation);
                return;
            }
            catch (Exception error) when (error is not OperationCanceledException)
            {
                log.LogWarning(error, "attempt {Attempt} of {Attempts}", attempt, Attempts);
                if (attempt == Attempts) return;
                await Task.Delay(TimeSpan.FromSeconds(Math.Pow(2, attempt)), cancellation);
            }
        }
    }
}
