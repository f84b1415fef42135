/** What openCluster() returns. */

import type { Engine } from "../engine.ts";
import type { Source } from "../ingest/sources/source.ts";
import type { CollectReport } from "./collect.ts";
import type { Job } from "./work.ts";

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
   * What this process has published, as a request's header `X-Quern-Generation` takes it: a machine that gets it answers
   * from that state or a newer one. Empty before the first publication.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.index(git("./shop"));
   * const headers = { "X-Quern-Generation": engine.written };
   */
  readonly written: string;
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
