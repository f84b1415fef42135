/**
 * Keeps the queue of repositories to index. A repository has at most one row in the queue, so several requests for it
 * become one job. A process that works on a job holds a lease in the job's row. The transaction that publishes the
 * result also ends the job, unless the job was requested again. `asked` is the time of the last request, as text in
 * PostgreSQL's format, because a Date has no microseconds.
 */

import type { PostgresPool, PostgresQueries } from "../postgres/pool.ts";
import { openTables, type PostgresPlace, type Tables } from "../postgres/schema.ts";

/** A job that this process holds. */
export interface TakenJob {
  readonly repository: string;
  readonly payload: unknown;
  readonly asked: string;
  /** How many times the job has failed since it was requested. */
  readonly failures: number;
}

/** A job that ends with a publication. */
export type EndedJob = Pick<TakenJob, "repository" | "asked">;

export interface QueueState {
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
  /** The time in milliseconds since the oldest waiting job became due, or 0 if no waiting job is due. */
  readonly oldestDueMs: number;
}

export class Jobs {
  readonly #tables: Tables;
  readonly #job: string;

  constructor(pool: PostgresPool, place: PostgresPlace) {
    this.#tables = openTables(pool, place);
    this.#job = this.#tables.name("quern_job");
  }

  /**
   * Adds a request to index a repository. If the repository already has a job, the job keeps the earlier of the two
   * dates. If that job has failed, however, it gets the new date. REQUIRES: `payload` is JSON.
   */
  async add(repository: string, payload: string, runAfter: Date | undefined): Promise<void> {
    await this.#tables.query(
      `insert into ${this.#job} as old (repository, payload, requested_at, run_after)
       values ($1, $2, clock_timestamp(), coalesce($3, now()))
       on conflict (repository) do update set
         payload = excluded.payload,
         requested_at = greatest(excluded.requested_at, old.requested_at + interval '1 microsecond'),
         run_after = case when old.attempts > 0 then excluded.run_after
                     else least(old.run_after, excluded.run_after) end,
         attempts = 0, error = null`,
      [repository, payload, runAfter?.toISOString() ?? null],
    );
    if (runAfter === undefined || runAfter.getTime() <= Date.now())
      await this.#tables.notify("jobs");
  }

  /**
   * Takes the job that has been due longest. Prefers jobs of repositories whose shard no writer is using. Resolves to
   * undefined if no job is due.
   */
  async take(worker: string, leaseMs: number): Promise<TakenJob | undefined> {
    const { rows } = await this.#tables.query(
      `with due as (
         select job.repository from ${this.#job} job
         left join ${this.#tables.name("quern_repository")} known on known.name = job.repository
         left join ${this.#tables.name("quern_shard")} shard on shard.shard = known.shard
         where run_after <= now() and (worker is null or worker_until < now())
         order by coalesce(shard.writer_until > now(), false), run_after
         limit 1 for update of job skip locked)
       update ${this.#job} as job
       set worker = $1, worker_until = now() + $2 * interval '1 millisecond'
       from due where job.repository = due.repository
       returning job.repository, payload::text as payload, requested_at::text as asked, attempts`,
      [worker, leaseMs],
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    return {
      repository: String(row.repository),
      payload: JSON.parse(String(row.payload)) as unknown,
      asked: String(row.asked),
      failures: Number(row.attempts),
    };
  }

  /** Renews the lease of a job. Resolves to false if another worker has taken the job over. */
  async renew({ repository }: TakenJob, worker: string, leaseMs: number): Promise<boolean> {
    const { changed } = await this.#tables.query(
      `update ${this.#job} set worker_until = now() + $3 * interval '1 millisecond'
       where repository = $1 and worker = $2`,
      [repository, worker, leaseMs],
    );
    return changed === 1;
  }

  /**
   * Ends a job. If its run changed nothing, no publication has ended it. If the job was requested again, the job is
   * only released.
   */
  async end(job: TakenJob, worker: string): Promise<void> {
    await this.#tables.transaction(async (client) => {
      await endJob(client, this.#job, job);
      await this.#release(client, job, worker);
    });
  }

  /** Releases a job without changing it, so that any worker can take it. */
  async release(job: TakenJob, worker: string): Promise<void> {
    await this.#tables.transaction((client) => this.#release(client, job, worker));
  }

  async #release(client: PostgresQueries, { repository }: TakenJob, worker: string): Promise<void> {
    await client.query(
      `update ${this.#job} set worker = null, worker_until = null where repository = $1 and worker = $2`,
      [repository, worker],
    );
  }

  /**
   * Releases a job that has failed. Stores the error and delays the job by `delayMs`, unless the job was requested
   * again.
   */
  async fail(
    { repository, asked }: TakenJob,
    worker: string,
    { error, delayMs }: { readonly error: string; readonly delayMs: number },
  ): Promise<void> {
    await this.#tables.query(
      `update ${this.#job} set worker = null, worker_until = null,
         attempts = case when requested_at = $3::timestamptz then attempts + 1 else 0 end,
         error = case when requested_at = $3::timestamptz then $4 end,
         run_after = case when requested_at = $3::timestamptz
           then now() + $5 * interval '1 millisecond' else run_after end
       where repository = $1 and worker = $2`,
      [repository, worker, asked, error.replaceAll("\0", "\u{fffd}"), delayMs],
    );
  }

  async state(): Promise<QueueState> {
    const { rows } = await this.#tables.query(
      `select count(*) filter (where not running) as waiting, count(*) filter (where running) as running,
         count(*) filter (where error is not null) as failed,
         coalesce(extract(epoch from now() - min(run_after) filter (where not running)) * 1000, 0) as oldest
       from (select error, run_after, coalesce(worker_until > now(), false) as running
             from ${this.#job}) as jobs`,
    );
    const { waiting, running, failed, oldest } = rows[0] ?? {};
    return {
      waiting: Number(waiting),
      running: Number(running),
      failed: Number(failed),
      oldestDueMs: Math.max(0, Math.round(Number(oldest))),
    };
  }
}

/** Ends a job within the caller's transaction, unless the job was requested again. */
export async function endJob(
  client: PostgresQueries,
  table: string,
  { repository, asked }: EndedJob,
): Promise<void> {
  await client.query(
    `delete from ${table} where repository = $1 and requested_at = $2::timestamptz`,
    [repository, asked],
  );
}
