/** Defines what openCluster() returns. */

import type { Engine } from "../engine.ts";
import type { Source } from "../ingest/sources/source.ts";
import type { CollectReport } from "./collect.ts";
import type { Job } from "./work.ts";

/**
 * The state of a cluster as one machine sees it.
 *
 * @example
 * declare const engine: ClusterEngine;
 * const status: ClusterStatus = await engine.status();
 * const isBehind = status.shards.some(({ here, published }) => here < published);
 */
export interface ClusterStatus {
  /** All shards, by number. */
  shards: {
    /** The shard's number in PostgreSQL's tables. */
    shard: number;
    /** The newest published generation. */
    published: number;
    /** The generation that this machine uses for its searches, or 0 if it has none yet. */
    here: number;
  }[];
  /** All nodes that have ever reported, by name. */
  nodes: {
    /** The node's name. */
    name: string;
    /** Whether the node has reported within the last 10 s, so that fronts ask it. */
    isLive: boolean;
    /** Whether the node has reported within the last 10 minutes and is not leaving, so that it owns slices. */
    isPlaced: boolean;
    /** The number of slices that the node has ready at the newest generation of their shard. */
    ready: number;
    /** Bytes of the slices that the node owns but does not have ready at the newest generation of their shard. */
    missingBytes: number;
  }[];
  /** The jobs of enqueue(). */
  queue: {
    /** Jobs that no machine works on, whether they are due or not. */
    waiting: number;
    /** Jobs that a machine works on. */
    running: number;
    /** Jobs that have failed and will be tried again. They also count as waiting. */
    failed: number;
    /** Milliseconds since the oldest due job became due; 0 if none is due. */
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
  /** Stops the collection. What it has already deleted stays deleted. */
  signal?: AbortSignal;
  /** The time from which ages are counted. Default: now. */
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
  /** Stops work() when it aborts. */
  signal: AbortSignal;
  /** The number of jobs that run at once, from 1 to 64, each with its own threads and folders. Default 1. */
  concurrency?: number;
}

/**
 * An engine over the index of a cluster. Its searches immediately see what this machine publishes, and within a few
 * seconds what other machines publish. The engine differs from that of open() in four ways. `workspace()` is not
 * supported. `index()` publishes each source separately: its content, then its symbols, then merged segments. The call
 * resolves when searches on this machine see all of these. `history()` needs the clone on this machine. If nodes hold
 * the index, `overlay` is not supported.
 *
 * @example
 * declare const engine: ClusterEngine;
 * await engine.index(git("./shop"));
 * const handler = createHandler(engine, { tokens });
 */
export interface ClusterEngine extends Engine {
  /**
   * Answers requests from fronts. Serve it on a separate port that only machines of the cluster can reach. Rejects
   * unless this machine is a node.
   *
   * @example
   * import { createServer } from "node:http";
   * declare const engine: ClusterEngine;
   * createServer(toNodeListener(engine.internal)).listen(7001, "10.0.0.1");
   */
  readonly internal: (request: Request) => Promise<Response>;
  /**
   * Moves the slices of this node to other nodes, for a machine that is removed for good. Resolves when those nodes
   * have the slices ready. Then call close(). A machine that will come back need not be drained.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.drain();
   * await engine.close();
   */
  drain(): Promise<void>;
  /**
   * Resolves when searches on this machine see everything that any machine published before the call.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.refresh();
   */
  refresh(): Promise<void>;
  /**
   * The generations that this process has published, as a value for the request header `X-Quern-Generation`. A machine
   * that receives the header answers from that state or a newer one. Empty before the first publication.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.index(git("./shop"));
   * const headers = { "X-Quern-Generation": engine.written };
   */
  readonly written: string;
  /**
   * Asks for a repository to be indexed by any machine that runs work(). Requests for the same repository become one
   * job, with the last payload and the earliest date. A request that arrives while the repository is being indexed runs
   * afterwards.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.enqueue("shop", { url: "https://git.example/shop.git" });
   */
  enqueue(repository: string, payload: unknown, options?: EnqueueOptions): Promise<void>;
  /**
   * Runs the jobs of enqueue() until the signal aborts, and then resolves. `source` returns what to index. A job is
   * done when its content and symbols are published. A job that fails is tried again after 5 s, then 10 s, and so on
   * up to an hour.
   *
   * @example
   * declare const engine: ClusterEngine;
   * const stop = new AbortController();
   * const source = async ({ repository }: Job) => git(`/clones/${repository}`, { name: repository });
   * await engine.work(source, { signal: stop.signal, concurrency: 2 });
   */
  work(source: (job: Job) => Promise<Source>, options: WorkOptions): Promise<void>;
  /**
   * Deletes what is no longer used: generations that were replaced over an hour ago, and objects older than a day
   * that no row refers to. Machines that have written do this every hour. Resolves to `undefined` if another process
   * is collecting.
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
