/**
 * Implements the engine that one machine of a cluster opens. The engine passes each call to the part that searches or
 * to the part that writes. A third part follows the publications of all machines, so that searches see them.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { throwIfAborted } from "../base/abort.ts";
import { fetchHandler } from "../base/direct-handlers.ts";
import { closedError, QuernError } from "../base/errors.ts";
import { checkKeys } from "../base/known-keys.ts";
import type { Engine, IndexOptions } from "../engine.ts";
import { OPEN_HISTORY, type OpensHistory } from "../history/histories.ts";
import type { CompactReport } from "../ingest/writes.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import type { Source } from "../ingest/sources/source.ts";
import { KNOWN_REPOSITORIES, type KnowsRepositories } from "../repositories.ts";
import { ALL_PATHS, type KnowsPaths } from "../repository.ts";
import { OWN_METRICS, type HasOwnMetrics, type Metric } from "../metrics/metrics-text.ts";
import { OBSERVE, type Observable } from "../tracing.ts";
import {
  REACH_GENERATIONS,
  formatGenerations,
  type Generations,
  type ReachesGenerations,
} from "../search/caller/generations.ts";
import { BEGIN_ANSWER, type BeginsAnswers } from "../search/caller/long-answer.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "../search/caller/not-indexed.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";
import type { Answering, Following } from "./front/answering.ts";
import { ClusterWrites, type WriteParts } from "./cluster-writes.ts";
import type { CollectReport } from "./collect.ts";
import { clusterMetrics } from "./cluster-metrics.ts";
import { readStatus, type StatusRows } from "./status.ts";
import type { Job } from "./work.ts";
import type { ClusterNode } from "./node/node.ts";
import type {
  ClusterEngine,
  ClusterStatus,
  CollectOptions,
  EnqueueOptions,
  WorkOptions,
} from "./cluster-engine.ts";

/** How long a request waits for the generations that its header asks for. */
const REACH_MS = 10_000;
const REACH_STEP_MS = 20;

export interface Parts extends StatusRows, WriteParts {
  readonly answers: Answering & Partial<BeginsAnswers>;
  readonly following: Following;
  /** The node, or undefined if the machine is not a node. */
  readonly node: ClusterNode | undefined;
  /** For each shard, the newest generation that this process has published. */
  readonly written: Generations;
  readonly stopListening: () => Promise<void>;
  readonly directory: string;
}

export class OpenedCluster
  implements
    ClusterEngine,
    KnowsRepositories,
    KnowsNotIndexed,
    OpensHistory,
    KnowsPaths,
    BeginsAnswers,
    Observable,
    HasOwnMetrics,
    ReachesGenerations
{
  readonly path: string;
  readonly #parts: Parts;
  readonly #engine: Parts["answers"];
  readonly #writes: ClusterWrites;
  #closed: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.path = parts.directory;
    this.#parts = parts;
    this.#engine = parts.answers;
    this.#writes = new ClusterWrites(parts);
  }

  get generation(): number {
    return this.#engine.generation;
  }

  // ── writes ──

  async index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexOptions = {},
  ): Promise<IndexReport[]> {
    this.#mustBeOpen();
    return this.#writes.index(source, options);
  }

  async remove(repository: string): Promise<boolean> {
    this.#mustBeOpen();
    return this.#writes.remove(repository);
  }

  async compact(options?: Parameters<Engine["compact"]>[0]): Promise<CompactReport> {
    this.#mustBeOpen();
    return this.#writes.compact(options);
  }

  async enqueue(repository: string, payload: unknown, options: EnqueueOptions = {}): Promise<void> {
    this.#mustBeOpen();
    checkKeys({ call: "enqueue", what: "option" }, options, { runAfter: true });
    return this.#writes.enqueue(repository, payload, options);
  }

  async work(source: (job: Job) => Promise<Source>, options: WorkOptions): Promise<void> {
    this.#mustBeOpen();
    checkKeys({ call: "work", what: "option" }, options, { signal: true, concurrency: true });
    return this.#writes.work(source, options);
  }

  async collect(options: CollectOptions = {}): Promise<CollectReport | undefined> {
    this.#mustBeOpen();
    checkKeys({ call: "collect", what: "option" }, options, { signal: true, now: true });
    return this.#writes.collect(options);
  }

  // ── the cluster ──

  async refresh(): Promise<void> {
    this.#mustBeOpen();
    await this.#parts.following.refresh();
  }

  readonly internal = fetchHandler((call) => {
    const { node } = this.#parts;
    if (!node) return Promise.reject(invalid("internal: this machine is not a node"));
    return this.#closed ? Promise.reject(closedError()) : node.answer(call);
  });

  get written(): string {
    return formatGenerations(this.#parts.written);
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
    following.refresh(stop.signal).catch(() => undefined); // ignores errors, because PostgreSQL may be back in time
    try {
      for (const start = performance.now(); !isThere(); await sleep(REACH_STEP_MS)) {
        throwIfAborted(signal);
        if (performance.now() - start > REACH_MS)
          throw new QuernError(
            "OVERLOADED",
            `${formatGenerations(wanted)} was not reached within ${REACH_MS / 1000} s: try again, or omit X-Quern-Generation`,
          );
      }
    } finally {
      stop.abort();
    }
  }

  async drain(): Promise<void> {
    this.#mustBeOpen();
    const { node } = this.#parts;
    if (!node) throw invalid("drain: this machine is not a node");
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

  // ── searches ──

  trim(): void {
    this.#engine.trim();
  }

  workspace(): Promise<never> {
    return Promise.reject(
      invalid(
        "workspace: a cluster cannot follow a folder of one machine: give its files to index()",
      ),
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

  [ALL_PATHS](
    ...asked: Parameters<KnowsPaths[typeof ALL_PATHS]>
  ): ReturnType<KnowsPaths[typeof ALL_PATHS]> {
    return this.#engine[ALL_PATHS](...asked);
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
    await this.#parts.stopListening();
    await this.#writes.close();
    await this.#parts.following.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closedError();
  }
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);
