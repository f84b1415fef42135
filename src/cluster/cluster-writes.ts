/**
 * Changes the index of a cluster, either for a call of the host or for a job from the queue. A machine that has
 * changed the index also tries to delete unused data every hour. A lease ensures that only one machine at a time does
 * so.
 */

import { JoinedSignal } from "../base/joined-signal.ts";
import { throwIfAborted } from "../base/abort.ts";
import { closedError, invalid } from "../base/errors.ts";
import type { EngineCore } from "../engine-core.ts";
import type { OpenOptions } from "../engine.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import type { Source } from "../ingest/sources/source.ts";
import { withOutcome } from "../ingest/outcome.ts";
import { isOne, type CompactReport, type IndexWriteOptions } from "../ingest/writes.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Collection } from "./catalog/collection.ts";
import type { EndedJob, Jobs } from "./catalog/jobs.ts";
import type { CollectOptions, EnqueueOptions, WorkOptions } from "./cluster-engine.ts";
import { collect, type CollectReport } from "./collect.ts";
import { Alarm } from "./follow/alarm.ts";
import { ObjectsDamaged } from "./local/damaged-objects.ts";
import type { Following } from "./follow/following.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import type { ShardSession, ShardWriter, WriteOptions } from "./shard-writer.ts";
import { encodePayload, workOn, type Job } from "./work.ts";

const COLLECT_MS = 3_600_000;

export interface WriteParts {
  readonly catalog: Catalog;
  readonly collection: Collection;
  readonly jobs: Jobs;
  readonly store: SegmentStore;
  readonly newWriter: () => ShardWriter;
  readonly following: Pick<Following, "refresh">;
  /** Alarms that ring when there may be a job. */
  readonly jobAlarms: Set<Alarm>;
  readonly shardBytes: number;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

export class ClusterWrites {
  readonly #parts: WriteParts;
  readonly #writer: ShardWriter;
  readonly #closing = new AbortController();
  readonly #working = new Set<Promise<void>>();
  #collecting: NodeJS.Timeout | undefined;

  constructor(parts: WriteParts) {
    this.#parts = parts;
    this.#writer = parts.newWriter();
  }

  async index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexWriteOptions,
  ): Promise<IndexReport[]> {
    const reports: IndexReport[] = [];
    try {
      for await (const one of isOne(source) ? [source] : source)
        reports.push(...(await this.#index(this.#writer, one, options)));
    } catch (error) {
      const published = reports.map(({ repository }) => repository);
      throw withOutcome(error, "content", published);
    }
    return reports;
  }

  async #index(
    writer: ShardWriter,
    source: Source,
    options: IndexWriteOptions,
    writing: WriteOptions = options,
  ): Promise<IndexReport[]> {
    this.#mustBeOpen();
    if (source.history)
      throw invalid(
        `index: a cluster does not index histories; index ${source.name} without history`,
      );
    const { catalog, shardBytes } = this.#parts;
    const shard = await catalog.shardOf(source.name, shardBytes);
    const run = async ({ core, steps, expect }: ShardSession): Promise<IndexReport[]> => {
      await expect(source.name);
      // a front does not support find(), and the objects of a cluster have no word lists
      return core.index(source, { ...options, words: "skip", ...steps });
    };
    return this.#write(writer, shard, writing, run, [source.name]);
  }

  async remove(repository: string): Promise<boolean> {
    const shard = await this.#parts.catalog.knownShard(repository);
    if (shard === undefined) return false;
    const run = ({ core, steps }: ShardSession): Promise<boolean> => core.remove(repository, steps);
    return this.#write(this.#writer, shard, {}, run, [repository]);
  }

  async compact(options: Parameters<EngineCore["compact"]>[0]): Promise<CompactReport> {
    const sum = { segmentsBefore: 0, segmentsAfter: 0, bytesFreed: 0, durationMs: 0 };
    for (const shard of (await this.#parts.catalog.generations()).keys()) {
      const run = ({ core, damaged }: ShardSession): Promise<CompactReport> => {
        if (damaged.length > 0) throw new ObjectsDamaged(damaged);
        return core.compact(options);
      };
      const report = await this.#write(this.#writer, shard, options, run);
      sum.segmentsBefore += report.segmentsBefore;
      sum.segmentsAfter += report.segmentsAfter;
      sum.bytesFreed += report.bytesFreed;
      sum.durationMs += report.durationMs;
    }
    return sum;
  }

  /**
   * Runs `run` on a shard, which changes the repositories `changed`. Resolves when searches on this machine see these
   * changes.
   */
  async #write<T>(
    writer: ShardWriter,
    shard: number,
    options: WriteOptions,
    run: (session: ShardSession) => Promise<T>,
    changed: readonly string[] = [],
  ): Promise<T> {
    this.#keepCollecting();
    const done = await writer.write(shard, options, run);
    const { following } = this.#parts;
    await following
      .refresh()
      .catch(async (error: unknown) => {
        if (!(error instanceof ObjectsDamaged)) throw error;
        await writer.write(shard, options, () => Promise.resolve()); // repairs objects from the writer's directory
        await following.refresh();
      })
      .catch((error: unknown) => {
        throw withOutcome(error, "refresh", changed);
      });
    return done;
  }

  async enqueue(repository: string, payload: unknown, { runAfter }: EnqueueOptions): Promise<void> {
    if (typeof repository !== "string" || repository === "" || repository.includes("\0"))
      throw invalid(
        `enqueue: repository must be a name without U+0000, got ${JSON.stringify(repository)}`,
      );
    if (runAfter !== undefined && !(runAfter instanceof Date && !Number.isNaN(runAfter.getTime())))
      throw invalid(`enqueue: runAfter must be a Date, got ${String(runAfter)}`);
    await this.#parts.jobs.add(repository, encodePayload(payload), runAfter);
  }

  async work(
    source: (job: Job) => Promise<Source>,
    { signal, concurrency = 1 }: WorkOptions,
  ): Promise<void> {
    if (typeof source !== "function") throw invalid("work: source must be a function");
    if (!(signal instanceof AbortSignal)) throw invalid("work: signal must be an AbortSignal");
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 64)
      throw invalid(`work: concurrency must be an integer from 1 to 64, got ${concurrency}`);
    using stop = new JoinedSignal([signal, this.#closing.signal]);
    const slots = Array.from({ length: concurrency }, () => this.#workOne(source, stop.signal));
    for (const slot of slots) {
      this.#working.add(slot);
      void slot.finally(() => this.#working.delete(slot)).catch(() => undefined);
    }
    this.#keepCollecting();
    await Promise.all(slots);
  }

  async #workOne(source: (job: Job) => Promise<Source>, signal: AbortSignal): Promise<void> {
    const { jobs, jobAlarms, newWriter, onWarning } = this.#parts;
    const writer = newWriter();
    const alarm = new Alarm();
    jobAlarms.add(alarm);
    let trouble = "";
    const onTrouble = (error: unknown): void => {
      const message = `the queue of jobs cannot be reached: ${String(error)}`;
      if (message !== trouble) onWarning({ code: "INTERNAL", message });
      trouble = message;
    };
    const index = async (given: Source, job: EndedJob, stop: AbortSignal): Promise<void> => {
      // waits for the shard without a limit, until the signal aborts
      const lockTimeoutMs = Number.POSITIVE_INFINITY;
      const writing = { signal: stop, job, lockTimeoutMs };
      await this.#index(writer, given, { signal: stop }, writing);
    };
    try {
      await workOn({ jobs, index, alarm, onTrouble }, source, signal);
    } finally {
      jobAlarms.delete(alarm);
      await writer.close();
    }
  }

  /** Starts the timer that deletes unused data every hour, unless the timer is already running. */
  #keepCollecting(): void {
    this.#collecting ??= setInterval(() => {
      this.collect({}).catch((error: unknown) => {
        const message = `unused objects cannot be deleted: ${String(error)}`;
        if (!this.#closing.signal.aborted) this.#parts.onWarning({ code: "INTERNAL", message });
      });
    }, COLLECT_MS).unref();
  }

  async collect({ signal, now = new Date() }: CollectOptions): Promise<CollectReport | undefined> {
    if (!(now instanceof Date) || Number.isNaN(now.getTime()))
      throw invalid(`collect: now must be a Date, got ${String(now)}`);
    using stop = new JoinedSignal([signal, this.#closing.signal]);
    throwIfAborted(stop.signal);
    const { collection, store } = this.#parts;
    return await collect({ collection, store, now, signal: stop.signal });
  }

  /** Aborts all running writes and jobs, and waits until they have ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#collecting);
    await this.#writer.close();
    await Promise.allSettled(this.#working);
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw closedError();
  }
}
