/**
 * One index for several machines. Each of them may index and each searches all of it on its own disk: an
 * ordinary engine answers, so an answer here is the answer of one machine. PostgreSQL says what is
 * published, the object store carries it.
 */

import { resolve } from "node:path";
import { closedError, QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import type { Engine, IndexOptions, OpenOptions } from "../engine.ts";
import type { CompactReport } from "../ingest/writes.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import type { Source } from "../ingest/sources/source.ts";
import { KNOWN_REPOSITORIES, type KnowsRepositories } from "../repositories.ts";
import { BEGIN_ANSWER, type BeginsAnswers } from "../search/caller/long-answer.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "../search/caller/not-indexed.ts";
import { Catalog } from "./catalog/catalog.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import type { PostgresPool } from "./postgres/pool.ts";
import type { PostgresPlace } from "./postgres/schema.ts";
import { Replica } from "./replica.ts";
import { ShardWriter, type ShardSession } from "./shard-writer.ts";

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
  /** Bytes of text from which on a shard takes no new repository. Only one process at a time writes to a shard. Default 8 GiB. */
  shardBytes?: number;
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
}

/**
 * An engine over the index of a cluster. It searches what this machine has fetched, which follows
 * each publication within some seconds; its own at once. Differences to open(): `workspace()` is refused, and
 * `index()` publishes each source by itself, when its symbols are found.
 *
 * @example
 * declare const engine: ClusterEngine;
 * await engine.index(git("./shop"));
 * const handler = createHandler(engine, { tokens });
 */
export interface ClusterEngine extends Engine {
  /**
   * Resolves when searches of this machine see all that was published before the call, by any machine.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.refresh();
   */
  refresh(): Promise<void>;
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

const SHARD_BYTES = 8 * 2 ** 30;

const OPTIONS: KeysOf<ClusterOptions> = {
  catalog: true,
  segments: true,
  directory: true,
  shardBytes: true,
  workers: true,
  memoryBudget: true,
  maxFileSize: true,
  textCache: true,
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
  const { catalog: given, segments: store, shardBytes = SHARD_BYTES, ...rest } = options;
  if (typeof rest.directory !== "string" || rest.directory === "")
    throw invalid("openCluster: directory must be a non-empty string");
  if (!Number.isSafeInteger(shardBytes) || shardBytes < 1)
    throw invalid(`openCluster: shardBytes must be an integer of 1 or more, got ${shardBytes}`);
  const { directory: path, ...engine } = rest;
  const directory = resolve(path);
  const catalog = new Catalog(given.pool, given.place);
  const { onWarning = () => {}, lockTimeoutMs = 0 } = engine;
  const replica = await Replica.open({ catalog, store, directory, engine, onWarning });
  try {
    await replica.bringToNewest();
  } catch (error) {
    await replica.close();
    throw error;
  }
  replica.follow();
  const writing = { ...engine, textCache: 0 }; // nobody searches what is written
  const writer = new ShardWriter({
    catalog,
    store,
    directory,
    lockTimeoutMs,
    shardBytes,
    engine: writing,
  });
  return new OpenedCluster({ catalog, replica, writer, directory, shardBytes });
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);

interface Parts {
  readonly catalog: Catalog;
  readonly replica: Replica;
  readonly writer: ShardWriter;
  readonly directory: string;
  readonly shardBytes: number;
}

type Inner = Engine & KnowsRepositories & KnowsNotIndexed & BeginsAnswers;

class OpenedCluster implements ClusterEngine, KnowsRepositories, KnowsNotIndexed, BeginsAnswers {
  readonly path: string;
  readonly #parts: Parts;
  readonly #engine: Inner;
  #closed: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.path = parts.directory;
    this.#parts = parts;
    this.#engine = parts.replica.engine as Inner; // what open() returns knows them all
  }

  get generation(): number {
    return this.#engine.generation;
  }

  async index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexOptions = {},
  ): Promise<IndexReport[]> {
    const { catalog, shardBytes } = this.#parts;
    const reports: IndexReport[] = [];
    for await (const one of isOne(source) ? [source] : source) {
      this.#mustBeOpen();
      const shard = await catalog.shardOf(one.name, shardBytes);
      const run = async ({ engine, expect }: ShardSession): Promise<IndexReport[]> => {
        await expect(one.name);
        return engine.index(one, options);
      };
      reports.push(...(await this.#write(shard, options.signal, run)));
    }
    return reports;
  }

  async remove(repository: string): Promise<boolean> {
    this.#mustBeOpen();
    const shard = await this.#parts.catalog.knownShard(repository);
    if (shard === undefined) return false;
    return this.#write(shard, undefined, ({ engine }) => engine.remove(repository));
  }

  async compact(options: Parameters<Engine["compact"]>[0] = {}): Promise<CompactReport> {
    this.#mustBeOpen();
    const sum = { segmentsBefore: 0, segmentsAfter: 0, bytesFreed: 0, durationMs: 0 };
    for (const shard of (await this.#parts.catalog.generations()).keys()) {
      const run = ({ engine }: ShardSession): Promise<CompactReport> => engine.compact(options);
      const report = await this.#write(shard, options.signal, run);
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
    signal: AbortSignal | undefined,
    run: (session: ShardSession) => Promise<T>,
  ): Promise<T> {
    const { writer, replica } = this.#parts;
    const done = await writer.write(shard, signal, run);
    await replica.bringToNewest();
    return done;
  }

  async refresh(): Promise<void> {
    this.#mustBeOpen();
    await this.#parts.replica.bringToNewest();
  }

  async status(): Promise<ClusterStatus> {
    this.#mustBeOpen();
    const { catalog, replica } = this.#parts;
    const published = await catalog.generations();
    const here = replica.generations();
    return {
      shards: Array.from(published, ([shard, generation]) => ({
        shard,
        published: generation,
        here: here.get(shard) ?? 0,
      })),
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

  get [BEGIN_ANSWER](): BeginsAnswers[typeof BEGIN_ANSWER] {
    const { begin } = this.#engine[BEGIN_ANSWER];
    const insteadOf = Reflect.get(OpenedCluster.prototype, "search") as Engine["search"];
    return { begin, insteadOf };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#parts.writer.close();
    await this.#parts.replica.close();
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
