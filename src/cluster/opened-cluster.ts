/** The engine of a machine of a cluster: searches where the index is held, and writes to the shards of all. */

import { setTimeout as sleep } from "node:timers/promises";
import { throwIfAborted } from "../base/abort.ts";
import { closedError, QuernError } from "../base/errors.ts";
import { checkKeys } from "../base/known-keys.ts";
import type { Engine, IndexOptions, OpenOptions } from "../engine.ts";
import { OPEN_HISTORY, type OpensHistory } from "../history/histories.ts";
import type { CompactReport } from "../ingest/writes.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import type { Source } from "../ingest/sources/source.ts";
import { KNOWN_REPOSITORIES, type KnowsRepositories } from "../repositories.ts";
import { OWN_METRICS, type HasOwnMetrics, type Metric } from "../metrics/metrics-text.ts";
import { OBSERVE, type Observable } from "../tracing.ts";
import {
  REACH_GENERATIONS,
  showGenerations,
  type Generations,
  type ReachesGenerations,
} from "../search/caller/generations.ts";
import { BEGIN_ANSWER, type BeginsAnswers } from "../search/caller/long-answer.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "../search/caller/not-indexed.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";
import type { Answering, Following } from "./front/answering.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Collection } from "./catalog/collection.ts";
import { Alarm } from "./follow/alarm.ts";
import type { EndedJob } from "./catalog/jobs.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import type { ShardSession, ShardWriter, WriteOptions } from "./shard-writer.ts";
import { collect, type CollectReport } from "./collect.ts";
import { clusterMetrics } from "./cluster-metrics.ts";
import { readStatus, type StatusRows } from "./status.ts";
import { encodePayload, workOn, type Job } from "./work.ts";
import type { ClusterNode } from "./node/node.ts";
import type {
  ClusterEngine,
  ClusterStatus,
  CollectOptions,
  EnqueueOptions,
  WorkOptions,
} from "./cluster-engine.ts";

/** How long a request waits for a generation that it asks for. */
const REACH_MS = 10_000;
const REACH_STEP_MS = 20;
/** How often work() deletes what is unused. */
const COLLECT_MS = 3_600_000;

export interface Parts extends StatusRows {
  readonly catalog: Catalog;
  readonly collection: Collection;
  readonly store: SegmentStore;
  readonly newWriter: () => ShardWriter;
  readonly answers: Answering & Partial<BeginsAnswers>;
  readonly following: Following;
  /** undefined: this machine is none. */
  readonly node: ClusterNode | undefined;
  /** What this process has published, the newest generation by shard. */
  readonly written: Generations;
  /** Ring when there may be a job. */
  readonly jobAlarms: Set<Alarm>;
  readonly stopListening: () => Promise<void>;
  readonly directory: string;
  readonly shardBytes: number;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

export class OpenedCluster
  implements
    ClusterEngine,
    KnowsRepositories,
    KnowsNotIndexed,
    OpensHistory,
    BeginsAnswers,
    Observable,
    HasOwnMetrics,
    ReachesGenerations
{
  readonly path: string;
  readonly #parts: Parts;
  readonly #engine: Parts["answers"];
  readonly #writer: ShardWriter;
  readonly #closing = new AbortController();
  readonly #working = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#writer = parts.newWriter();
    this.path = parts.directory;
    this.#parts = parts;
    this.#engine = parts.answers;
  }

  get generation(): number {
    return this.#engine.generation;
  }

  async index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexOptions = {},
  ): Promise<IndexReport[]> {
    const reports: IndexReport[] = [];
    for await (const one of isOne(source) ? [source] : source) {
      this.#mustBeOpen();
      reports.push(...(await this.#index(this.#writer, one, options)));
    }
    return reports;
  }

  async #index(
    writer: ShardWriter,
    source: Source,
    options: IndexOptions,
    writing: WriteOptions = options,
  ): Promise<IndexReport[]> {
    const { catalog, shardBytes, following } = this.#parts;
    const shard = await catalog.shardOf(source.name, shardBytes);
    const done = await writer.write(shard, writing, async ({ engine, expect }) => {
      await expect(source.name);
      return engine.index(source, options);
    });
    await following.refresh();
    return done;
  }

  async remove(repository: string): Promise<boolean> {
    this.#mustBeOpen();
    const shard = await this.#parts.catalog.knownShard(repository);
    if (shard === undefined) return false;
    return this.#write(shard, {}, ({ engine }) => engine.remove(repository));
  }

  async compact(options: Parameters<Engine["compact"]>[0] = {}): Promise<CompactReport> {
    this.#mustBeOpen();
    const sum = { segmentsBefore: 0, segmentsAfter: 0, bytesFreed: 0, durationMs: 0 };
    for (const shard of (await this.#parts.catalog.generations()).keys()) {
      const run = ({ engine }: ShardSession): Promise<CompactReport> => engine.compact(options);
      const report = await this.#write(shard, options, run);
      sum.segmentsBefore += report.segmentsBefore;
      sum.segmentsAfter += report.segmentsAfter;
      sum.bytesFreed += report.bytesFreed;
      sum.durationMs += report.durationMs;
    }
    return sum;
  }

  /** Resolves when this machine's searches see it. */
  async #write<T>(
    shard: number,
    options: WriteOptions,
    run: (session: ShardSession) => Promise<T>,
  ): Promise<T> {
    const done = await this.#writer.write(shard, options, run);
    await this.#parts.following.refresh();
    return done;
  }

  async enqueue(repository: string, payload: unknown, options: EnqueueOptions = {}): Promise<void> {
    this.#mustBeOpen();
    checkKeys({ call: "enqueue", what: "option" }, options, { runAfter: true });
    if (typeof repository !== "string" || repository === "" || repository.includes("\0"))
      throw invalid(
        `enqueue: repository must be a name without U+0000, got ${JSON.stringify(repository)}`,
      );
    const { runAfter } = options;
    if (runAfter !== undefined && !(runAfter instanceof Date && !Number.isNaN(runAfter.getTime())))
      throw invalid(`enqueue: runAfter must be a Date, got ${String(runAfter)}`);
    await this.#parts.jobs.add(repository, encodePayload(payload), runAfter);
  }

  async work(source: (job: Job) => Promise<Source>, options: WorkOptions): Promise<void> {
    this.#mustBeOpen();
    checkKeys({ call: "work", what: "option" }, options, { signal: true, concurrency: true });
    const { signal, concurrency = 1 } = options;
    if (typeof source !== "function") throw invalid("work: source must be a function");
    if (!(signal instanceof AbortSignal)) throw invalid("work: signal must be an AbortSignal");
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 64)
      throw invalid(`work: concurrency must be an integer from 1 to 64, got ${concurrency}`);
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    const slots = Array.from({ length: concurrency }, () => this.#workOne(source, stop));
    for (const slot of slots) {
      this.#working.add(slot);
      void slot.finally(() => this.#working.delete(slot)).catch(() => undefined);
    }
    const collecting = setInterval(() => {
      this.collect({ signal }).catch((error: unknown) => {
        const message = `what is unused cannot be deleted: ${String(error)}`;
        if (!stop.aborted) this.#parts.onWarning({ code: "INTERNAL", message });
      });
    }, COLLECT_MS).unref();
    await Promise.all(slots).finally(() => clearInterval(collecting));
  }

  async collect(options: CollectOptions = {}): Promise<CollectReport | undefined> {
    this.#mustBeOpen();
    checkKeys({ call: "collect", what: "option" }, options, { signal: true, now: true });
    const { signal, now = new Date() } = options;
    if (!(now instanceof Date) || Number.isNaN(now.getTime()))
      throw invalid(`collect: now must be a Date, got ${String(now)}`);
    const closing = this.#closing.signal;
    const stop = signal ? AbortSignal.any([signal, closing]) : closing;
    throwIfAborted(stop);
    const { collection, store } = this.#parts;
    return collect({ collection, store, now, signal: stop });
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
      // however long another writer has the shard: until the signal aborts
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

  async refresh(): Promise<void> {
    this.#mustBeOpen();
    await this.#parts.following.refresh();
  }

  readonly internal = (request: Request): Promise<Response> => {
    const { node } = this.#parts;
    if (!node) return Promise.reject(invalid("internal: this machine is no node"));
    return this.#closed ? Promise.reject(closedError()) : node.internal(request);
  };

  get written(): string {
    return showGenerations(this.#parts.written);
  }

  async [REACH_GENERATIONS](wanted: Generations, signal: AbortSignal): Promise<void> {
    this.#mustBeOpen();
    const { following } = this.#parts;
    const isThere = (): boolean => {
      const here = following.generations();
      return [...wanted].every(([shard, generation]) => (here.get(shard) ?? 0) >= generation);
    };
    if (isThere()) return;
    const stop = new AbortController();
    following.refresh(stop.signal).catch(() => undefined); // PostgreSQL is down: it may be back in time
    try {
      for (const start = performance.now(); !isThere(); await sleep(REACH_STEP_MS)) {
        throwIfAborted(signal);
        if (performance.now() - start > REACH_MS)
          throw new QuernError(
            "OVERLOADED",
            `${showGenerations(wanted)} is not searched here after ${REACH_MS / 1000} s: try again, or without X-Quern-Generation`,
          );
      }
    } finally {
      stop.abort();
    }
  }

  async drain(): Promise<void> {
    this.#mustBeOpen();
    const { node } = this.#parts;
    if (!node) throw invalid("drain: this machine is no node");
    await node.drain();
  }

  async status(): Promise<ClusterStatus> {
    this.#mustBeOpen();
    const { queue, nodes, shards } = await readStatus(this.#parts);
    const here = this.#parts.following.generations();
    return {
      queue,
      nodes: [...nodes],
      shards: shards.map((one) => ({ ...one, here: here.get(one.shard) ?? 0 })),
    };
  }

  trim(): void {
    this.#engine.trim();
  }

  workspace(): Promise<never> {
    return Promise.reject(
      invalid("workspace: a cluster follows no folder of one machine: give its files to index()"),
    );
  }

  search(...asked: Parameters<Engine["search"]>): ReturnType<Engine["search"]> {
    return this.#engine.search(...asked);
  }

  stream(...asked: Parameters<Engine["stream"]>): ReturnType<Engine["stream"]> {
    return this.#engine.stream(...asked);
  }

  explain(...asked: Parameters<Engine["explain"]>): ReturnType<Engine["explain"]> {
    return this.#engine.explain(...asked);
  }

  repository(...asked: Parameters<Engine["repository"]>): ReturnType<Engine["repository"]> {
    return this.#engine.repository(...asked);
  }

  repositories(...asked: Parameters<Engine["repositories"]>): ReturnType<Engine["repositories"]> {
    return this.#engine.repositories(...asked);
  }

  read(...asked: Parameters<Engine["read"]>): ReturnType<Engine["read"]> {
    return this.#engine.read(...asked);
  }

  list(...asked: Parameters<Engine["list"]>): ReturnType<Engine["list"]> {
    return this.#engine.list(...asked);
  }

  history(...asked: Parameters<Engine["history"]>): ReturnType<Engine["history"]> {
    return this.#engine.history(...asked);
  }

  check(...asked: Parameters<Engine["check"]>): ReturnType<Engine["check"]> {
    return this.#engine.check(...asked);
  }

  get [KNOWN_REPOSITORIES](): KnowsRepositories[typeof KNOWN_REPOSITORIES] {
    return this.#engine[KNOWN_REPOSITORIES];
  }

  [NOT_INDEXED](
    ...asked: Parameters<KnowsNotIndexed[typeof NOT_INDEXED]>
  ): ReturnType<KnowsNotIndexed[typeof NOT_INDEXED]> {
    return this.#engine[NOT_INDEXED](...asked);
  }

  [OPEN_HISTORY](
    ...asked: Parameters<OpensHistory[typeof OPEN_HISTORY]>
  ): ReturnType<OpensHistory[typeof OPEN_HISTORY]> {
    return this.#engine[OPEN_HISTORY](...asked);
  }

  get [BEGIN_ANSWER](): BeginsAnswers[typeof BEGIN_ANSWER] {
    const begin =
      this.#engine[BEGIN_ANSWER]?.begin ??
      ((request: SearchRequest, options: SearchOptions) => this.#engine.search(request, options));
    const insteadOf = Reflect.get(OpenedCluster.prototype, "search") as Engine["search"];
    return { begin, insteadOf };
  }

  get [OBSERVE](): Observable[typeof OBSERVE] {
    return this.#engine[OBSERVE];
  }

  async [OWN_METRICS](): Promise<Metric[]> {
    return clusterMetrics(await this.status().catch(() => undefined));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#parts.stopListening();
    await this.#writer.close();
    await Promise.allSettled(this.#working);
    await this.#parts.following.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closedError();
  }
}

function isOne(sources: Source | Iterable<Source> | AsyncIterable<Source>): sources is Source {
  if (typeof sources !== "object" || sources === null)
    throw invalid("index: give a source, or several in an iterable");
  return "name" in sources && !(Symbol.iterator in sources) && !(Symbol.asyncIterator in sources);
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);
