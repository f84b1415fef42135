/**
 * One index for several machines, each of which may index. Either each machine holds all of it, and an ordinary
 * engine answers; or nodes hold slices, and a front puts their answers together. An answer is the one of a
 * single machine either way. PostgreSQL says what is published, the object store carries it.
 */

import { resolve } from "node:path";
import { throwIfAborted } from "../base/abort.ts";
import { closedError, QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import type { Engine, IndexOptions, OpenOptions } from "../engine.ts";
import { OPEN_HISTORY, type OpensHistory } from "../history/histories.ts";
import type { CompactReport } from "../ingest/writes.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import type { Source } from "../ingest/sources/source.ts";
import { KNOWN_REPOSITORIES, type KnowsRepositories } from "../repositories.ts";
import { OWN_METRICS, type HasOwnMetrics, type Metric } from "../metrics/metrics-text.ts";
import { OBSERVE, type Observable } from "../tracing.ts";
import { BEGIN_ANSWER, type BeginsAnswers } from "../search/caller/long-answer.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "../search/caller/not-indexed.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";
import type { Answering, Following } from "./front/answering.ts";
import type { Catalog } from "./catalog/catalog.ts";
import { Collection } from "./catalog/collection.ts";
import type { EndedJob } from "./catalog/jobs.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import type { PostgresPool } from "./postgres/pool.ts";
import type { PostgresPlace } from "./postgres/schema.ts";
import { openLocal, Replica } from "./replica.ts";
import { ShardWriter, type ShardSession, type WriteOptions } from "./shard-writer.ts";
import { collect, type CollectReport } from "./collect.ts";
import { clusterMetrics } from "./cluster-metrics.ts";
import { readStatus, statusRows, type StatusRows } from "./status.ts";
import { encodePayload, workOn, type Job } from "./work.ts";
import type { Nodes } from "./catalog/nodes.ts";
import { Front } from "./front/front.ts";
import { ClusterNode, type NodeSettings } from "./node/node.ts";

/**
 * Where a cluster keeps what is published. Made by postgresCatalog().
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const catalog: ClusterCatalog = postgresCatalog(pool, { schema: "search" });
 */
export interface ClusterCatalog {
  /** The pool of connections. */
  readonly pool: PostgresPool;
  /** Where in the database its tables lie. */
  readonly place: PostgresPlace;
}

/**
 * Returns a catalog in PostgreSQL. `migrateCluster()` makes its tables.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const segments = postgresSegments(pool);
 * const engine = await openCluster({ catalog: postgresCatalog(pool), segments, directory: "./cluster" });
 */
export const postgresCatalog = (pool: PostgresPool, place: PostgresPlace = {}): ClusterCatalog => ({
  pool,
  place,
});

/**
 * Options of openCluster().
 *
 * @example
 * declare const pool: PostgresPool;
 * const options: ClusterOptions = {
 *   catalog: postgresCatalog(pool),
 *   segments: directorySegments("/mnt/shared/quern"),
 *   directory: "/var/lib/quern",
 *   lockTimeoutMs: 600_000,
 * };
 */
export interface ClusterOptions extends Omit<OpenOptions, "readOnly"> {
  /** What is published, the same for all machines. */
  catalog: ClusterCatalog;
  /** The objects, the same for all machines. */
  segments: SegmentStore;
  /** A folder on a disk of this machine, for what it searches and writes. Can be fetched again if it is lost. */
  directory: string;
  /**
   * Makes this machine a node: it holds the slices that it owns, and answers fronts at its address. Searches here ask
   * the nodes. Default: the machine holds the whole index, or with `secret` nothing.
   */
  node?: ClusterNodeOptions;
  /** Makes a machine without `node` a front: it holds nothing, and asks the nodes that have this secret. */
  secret?: string;
  /** Nodes that hold each slice. The same on all machines. Default 2. */
  replicas?: number;
  /**
   * Bytes of text from which on a shard takes no new repository, and of a slice. Only one process at a time writes to
   * a shard. Default 8 GiB.
   */
  shardBytes?: number;
}

/**
 * What makes a machine a node of a cluster.
 *
 * @example
 * const node: ClusterNodeOptions = {
 *   name: "node-1",
 *   url: "http://10.0.0.1:7001",
 *   secret: process.env.QUERN_SECRET ?? "",
 *   diskBytes: 2e12,
 * };
 */
export interface ClusterNodeOptions {
  /** A name that the machine keeps when it starts again. */
  name: string;
  /** Where `internal` is served, as other machines reach it. Only they should: it is no public address. */
  url: string;
  /** What the machines sign their calls with. At least 16 characters, the same on all of them. */
  secret: string;
  /** Bytes of objects that its directory may hold. */
  diskBytes: number;
}

/**
 * The state of a cluster, as one machine sees it.
 *
 * @example
 * declare const engine: ClusterEngine;
 * const status: ClusterStatus = await engine.status();
 * const isBehind = status.shards.some(({ here, published }) => here < published);
 */
export interface ClusterStatus {
  /** All shards, by number. */
  shards: {
    /** The number of the shard, by which PostgreSQL's tables name it. */
    shard: number;
    /** The newest generation that is published. */
    published: number;
    /** The generation that searches of this machine see; 0 if none yet. */
    here: number;
  }[];
  /** All nodes that were ever heard of, by name. */
  nodes: {
    /** Its name. */
    name: string;
    /** Whether it was heard of within 10 s, so that fronts ask it. */
    isLive: boolean;
    /** Whether it was heard of within 10 minutes and does not leave, so that it owns slices. */
    isPlaced: boolean;
    /** Slices that it has ready at their newest generation. */
    ready: number;
    /** Bytes of the slices that it owns and has not ready at their newest generation. */
    missingBytes: number;
  }[];
  /** The jobs of enqueue(). */
  queue: {
    /** Jobs that nobody works on, due or not. */
    waiting: number;
    /** Jobs that some machine works on. */
    running: number;
    /** Jobs that have failed and will be tried again; they count as waiting, too. */
    failed: number;
    /** Milliseconds since the job that has waited longest was due; 0 if none is. */
    oldestDueMs: number;
  };
}

/**
 * Options of enqueue().
 *
 * @example
 * const options: EnqueueOptions = { runAfter: new Date(Date.now() + 60_000) };
 */
export interface EnqueueOptions {
  /** When the job is due. Default: now. */
  runAfter?: Date;
}

/**
 * Options of collect().
 *
 * @example
 * const options: CollectOptions = { signal: AbortSignal.timeout(60_000) };
 */
export interface CollectOptions {
  /** Ends the collection. What it has deleted until then stays deleted. */
  signal?: AbortSignal;
  /** The time that ages are reckoned from. Default: now. */
  now?: Date;
}

/**
 * Options of work().
 *
 * @example
 * const stop = new AbortController();
 * const options: WorkOptions = { signal: stop.signal, concurrency: 2 };
 */
export interface WorkOptions {
  /** Ends the work. */
  signal: AbortSignal;
  /** Jobs at once, from 1 to 64, each with threads and folders of its own. Default 1. */
  concurrency?: number;
}

/**
 * An engine over the index of a cluster. Searches follow each publication within some seconds; those of this
 * machine at once. Differences to open(): `workspace()` is refused, `index()` publishes each source by itself, when
 * its symbols are found, `history()` needs the clone on this machine, and over nodes `overlay` is refused.
 *
 * @example
 * declare const engine: ClusterEngine;
 * await engine.index(git("./shop"));
 * const handler = createHandler(engine, { tokens });
 */
export interface ClusterEngine extends Engine {
  /**
   * Answers fronts, on a port of its own that only machines of the cluster reach. Rejects unless this machine is a node.
   *
   * @example
   * import { createServer } from "node:http";
   * declare const engine: ClusterEngine;
   * createServer(toNodeListener(engine.internal)).listen(7001, "10.0.0.1");
   */
  readonly internal: (request: Request) => Promise<Response>;
  /**
   * Gives the slices of this node to others, for a machine that leaves for good. Resolves when they have them ready; then
   * close(). A machine that comes back needs none of this.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.drain();
   * await engine.close();
   */
  drain(): Promise<void>;
  /**
   * Resolves when searches of this machine see all that was published before the call, by any machine.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.refresh();
   */
  refresh(): Promise<void>;
  /**
   * Asks for a repository to be indexed, by any machine that runs work(). Requests for one repository come together: the
   * last payload and the earliest date count. What is asked for while the repository is being indexed runs afterwards.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.enqueue("shop", { url: "https://git.example/shop.git" });
   */
  enqueue(repository: string, payload: unknown, options?: EnqueueOptions): Promise<void>;
  /**
   * Works on what enqueue() has asked for, until the signal aborts, and then resolves. `source` returns what to index; the
   * job ends with its publication. If it fails, it is tried again after 5 s, 10 s, and so on up to an hour.
   *
   * @example
   * declare const engine: ClusterEngine;
   * const stop = new AbortController();
   * const source = async ({ repository }: Job) => git(`/clones/${repository}`, { name: repository });
   * await engine.work(source, { signal: stop.signal, concurrency: 2 });
   */
  work(source: (job: Job) => Promise<Source>, options: WorkOptions): Promise<void>;
  /**
   * Deletes what nothing uses any more: generations that were replaced over an hour ago, and objects older than a day that
   * nothing names. work() does it each hour. Resolves to `undefined` if another process is at it.
   *
   * @example
   * declare const engine: ClusterEngine;
   * const report = await engine.collect();
   * if (report) console.log(`${report.objects} objects were deleted`);
   */
  collect(options?: CollectOptions): Promise<CollectReport | undefined>;
  /**
   * Compares what is published with what this machine searches. Rejects if PostgreSQL cannot be reached.
   *
   * @example
   * declare const engine: ClusterEngine;
   * for (const { shard, published, here } of (await engine.status()).shards)
   *   if (here < published) console.log(`shard ${shard} is ${published - here} generations behind`);
   */
  status(): Promise<ClusterStatus>;
}

/** How often work() deletes what is unused. */
const COLLECT_MS = 3_600_000;
const SHARD_BYTES = 8 * 2 ** 30;
/** Nodes that hold each slice, unless `replicas` says otherwise. */
export const REPLICAS = 2;

const OPTIONS: KeysOf<ClusterOptions> = {
  catalog: true,
  segments: true,
  directory: true,
  node: true,
  secret: true,
  replicas: true,
  shardBytes: true,
  workers: true,
  memoryBudget: true,
  maxFileSize: true,
  textCache: true,
  warmUp: true,
  lockTimeoutMs: true,
  webUrl: true,
  contexts: true,
  onWarning: true,
};

/**
 * Opens the index of a cluster on this machine, and fetches what is published. `migrateCluster()` must have made the
 * tables, or it rejects with INDEX_NOT_FOUND. Several processes of a machine may share a directory.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const engine = await openCluster({
 *   catalog: postgresCatalog(pool),
 *   segments: postgresSegments(pool),
 *   directory: "./cluster",
 * });
 */
export async function openCluster(options: ClusterOptions): Promise<ClusterEngine> {
  checkKeys({ call: "openCluster", what: "option" }, options, OPTIONS);
  const {
    catalog: given,
    segments: store,
    shardBytes = SHARD_BYTES,
    replicas = REPLICAS,
    node,
    secret = node?.secret,
    directory: path,
    ...engine
  } = options;
  if (typeof path !== "string" || path === "")
    throw invalid("openCluster: directory must be a non-empty string");
  mustCount("shardBytes", shardBytes);
  mustCount("replicas", replicas);
  if (secret !== undefined) checkSecret(secret);
  if (node) checkNode(node, secret);
  const directory = resolve(path);
  const collection = new Collection(given.pool, given.place);
  const rows = { ...statusRows(given, replicas), collection };
  const { catalog, nodes } = rows;
  const { onWarning = () => {}, lockTimeoutMs = 0 } = engine;
  const settings = node && { ...node, replicas };
  const opening = { catalog, nodes, store, directory, engine, onWarning };
  const answers =
    secret === undefined
      ? await openWhole(opening)
      : await openOverNodes({ ...opening, secret, settings });
  const writing = { ...engine, textCache: 0, warmUp: false }; // nobody searches what is written
  const forWriter = { catalog, store, directory, lockTimeoutMs, shardBytes, engine: writing };
  const newWriter = (): ShardWriter => new ShardWriter(forWriter);
  return new OpenedCluster({
    ...rows,
    ...answers,
    store,
    newWriter,
    directory,
    shardBytes,
    onWarning,
  });
}

function mustCount(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1)
    throw invalid(`openCluster: ${name} must be an integer of 1 or more, got ${value}`);
}

const LEAST_SECRET = 16;

function checkSecret(secret: unknown): void {
  if (typeof secret !== "string" || secret.length < LEAST_SECRET)
    throw invalid(`openCluster: secret must be a string of at least ${LEAST_SECRET} characters`);
}

const NODE: KeysOf<ClusterNodeOptions> = { name: true, url: true, secret: true, diskBytes: true };

function checkNode(node: ClusterNodeOptions, secret: string | undefined): void {
  checkKeys({ call: "openCluster", what: "field" }, node, NODE);
  const { name, url, diskBytes } = node;
  if (secret !== node.secret) throw invalid("openCluster: secret is not that of node: give one");
  if (typeof name !== "string" || name === "" || name.includes("\0"))
    throw invalid("openCluster: node.name must be a non-empty string");
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ""))
    throw invalid(`openCluster: node.url must be an http address, got ${JSON.stringify(url)}`);
  mustCount("node.diskBytes", diskBytes);
}

interface Opening {
  readonly catalog: Catalog;
  readonly nodes: Nodes;
  readonly store: SegmentStore;
  readonly directory: string;
  readonly engine: OpenOptions;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

type Answers = Pick<Parts, "answers" | "following" | "node">;

async function openWhole(opening: Opening): Promise<Answers> {
  const replica = await Replica.open(opening);
  try {
    await replica.bringToNewest();
  } catch (error) {
    await replica.close();
    throw error;
  }
  replica.follow();
  const following: Following = {
    refresh: () => replica.bringToNewest(),
    generations: () => replica.generations(),
    close: () => replica.close(),
  };
  // what open() returns knows them all
  return { answers: replica.engine as Engine & Answering, following, node: undefined };
}

async function openOverNodes(
  opening: Opening & {
    readonly secret: string;
    readonly settings: NodeSettings | undefined;
  },
): Promise<Answers> {
  const { catalog, nodes, store, secret, settings, onWarning } = opening;
  const local = await openLocal(opening);
  const parts = { catalog, nodes, engine: local.engine, onWarning };
  const closing: (() => Promise<void>)[] = [() => local.close()];
  const close = async (): Promise<void> => {
    for (const each of closing) await each();
  };
  try {
    const { environment } = local;
    const node = settings && (await ClusterNode.open({ ...parts, environment, store, settings }));
    if (node) closing.unshift(() => node.close());
    const front = await Front.open({ ...parts, secret, holdsSlices: node !== undefined });
    closing.unshift(() => front.close());
    const following: Following = {
      refresh: () => front.refresh(),
      generations: () => front.generations(),
      close,
    };
    return { answers: front, following, node };
  } catch (error) {
    await close();
    throw error;
  }
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);

interface Parts extends StatusRows {
  readonly catalog: Catalog;
  readonly collection: Collection;
  readonly store: SegmentStore;
  readonly newWriter: () => ShardWriter;
  readonly answers: Answering & Partial<BeginsAnswers>;
  readonly following: Following;
  /** undefined: this machine is none. */
  readonly node: ClusterNode | undefined;
  readonly directory: string;
  readonly shardBytes: number;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

class OpenedCluster
  implements
    ClusterEngine,
    KnowsRepositories,
    KnowsNotIndexed,
    OpensHistory,
    BeginsAnswers,
    Observable,
    HasOwnMetrics
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
    const { jobs, newWriter, onWarning } = this.#parts;
    const writer = newWriter();
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
      await workOn({ jobs, index, onTrouble }, source, signal);
    } finally {
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
