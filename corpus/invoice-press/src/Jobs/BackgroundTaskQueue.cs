using System.Threading.Channels;

namespace InvoicePress.Jobs;

public delegate Task Job(IServiceProvider services, CancellationToken cancellation);

/// <summary>
/// Work that a request starts and does not wait for. Bounded: when a hundred jobs wait, whoever
/// enqueues the next one waits too, which is how the office notices that the printer is off.
/// </summary>
public sealed class BackgroundTaskQueue
{
    private readonly Channel<Job> jobs = Channel.CreateBounded<Job>(100);

    public ValueTask EnqueueAsync(Job job, CancellationToken cancellation = default) =>
        jobs.Writer.WriteAsync(job, cancellation);

    public IAsyncEnumerable<Job> DequeueAllAsync(CancellationToken cancellation) =>
        jobs.Reader.ReadAllAsync(cancellation);
}
