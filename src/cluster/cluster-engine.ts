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
  /** All shards, sorted by number. A shard is a set of repositories with one writer at a time. */
  shards: {
    /** The shard's number in PostgreSQL's tables. */
    shard: number;
    /** The newest published generation, a number that each publication in the shard increases. */
    published: number;
    /** The generation that this machine uses for its searches, or 0 if it has none yet. */
    here: number;
  }[];
  /** All nodes that have ever sent a heartbeat, sorted by name. */
  nodes: {
    /** The node's name. */
    name: string;
    /** Whether the node has sent a heartbeat within the last 10 s. Fronts ask only live nodes. */
    isLive: boolean;
    /**
     * Whether the node owns slices. It does if its last heartbeat is less than 10 minutes old and it is not being
     * drained.
     */
    isPlaced: boolean;
    /** The number of slices (parts of shards) that the node has ready at the newest generation of their shard. */
    ready: number;
    /**
     * The size in bytes of the slices that the node owns but does not have ready at the newest generation of their
     * shard.
     */
    missingBytes: number;
  }[];
  /**
   * The damaged or missing objects that the newest generations need. An entry disappears when a machine that has the
   * content stores the object again, or when all of its repositories are indexed again or removed.
   */
  damaged: {
    /** The number in PostgreSQL's tables of the shard that needs the object. */
    shard: number;
    /** The key of the object in the object store. */
    object: string;
    /** The names of the repositories with files in the object, sorted by code unit. Index them again. */
    repositories: string[];
  }[];
  /** The queue of jobs that enqueue() fills. */
  queue: {
    /** The number of jobs that no machine is working on, whether they are due or not. */
    waiting: number;
    /** The number of jobs that a machine is working on. */
    running: number;
    /**
     * The number of jobs whose last run failed. Each of them is tried again, and also counts as waiting or running.
     */
    failed: number;
    /** The time in milliseconds since the oldest waiting job became due, or 0 if no waiting job is due. */
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
  /** The earliest time at which the job may run. Default: now. */
  runAfter?: Date;
}

/**
 * Options of collect().
 *
 * @example
 * const options: CollectOptions = { signal: AbortSignal.timeout(60_000) };
 */
export interface CollectOptions {
  /** When this signal is aborted, the collection stops. Data that was already deleted stays deleted. */
  signal?: AbortSignal;
  /** The time from which the ages of generations and objects are computed. Default: the current time. */
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
  /** When this signal is aborted, work() stops. */
  signal: AbortSignal;
  /**
   * The number of jobs that run at once, from 1 to 64. Each job that runs has worker threads of its own. Default 1.
   */
  concurrency?: number;
}

/**
 * An engine for the index of a cluster. Its searches immediately see the changes that this machine publishes. They
 * see the changes of other machines within a few seconds.
 *
 * The engine differs from the one that open() returns in four ways. `workspace()` is not supported. `index()`
 * publishes the sources one after another. For each source, it first publishes the content, then the symbols, then
 * the merged segments. The call resolves when searches on this machine see all of them. `history()` works only for
 * repositories whose clone is on this machine. If nodes hold the index, searches do not support `overlay`.
 *
 * @example
 * declare const engine: ClusterEngine;
 * await engine.index(git("./shop"));
 * const handler = createHandler(engine, { tokens });
 */
export interface ClusterEngine extends Engine {
  /**
   * Answers requests from fronts, the machines that ask nodes. Serve this handler on a separate port that only machines
   * of the cluster can reach. Rejects if this machine is not a node.
   *
   * @example
   * import { createServer } from "node:http";
   * declare const engine: ClusterEngine;
   * createServer(toNodeListener(engine.internal)).listen(7001, "10.0.0.1");
   */
  readonly internal: (request: Request) => Promise<Response>;
  /**
   * Moves the slices of this node to other nodes. Resolves when the other nodes have the slices ready. Call drain()
   * and then close() before the machine is removed for good. A machine that will come back need not be drained.
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
   * The generations that this process has published, as a value for the request header `X-Quern-Generation`. A
   * machine that receives the header answers from these generations or newer ones. The string is empty before the
   * first publication.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.index(git("./shop"));
   * const headers = { "X-Quern-Generation": engine.written };
   */
  readonly written: string;
  /**
   * Adds a job to index a repository. Any machine that runs work() may take the job. Several requests for the same
   * repository become one job, with the payload of the last request and the earliest `runAfter`. If a request arrives
   * while its repository is being indexed, the repository is indexed again afterwards.
   *
   * @example
   * declare const engine: ClusterEngine;
   * await engine.enqueue("shop", { url: "https://git.example/shop.git" });
   */
  enqueue(repository: string, payload: unknown, options?: EnqueueOptions): Promise<void>;
  /**
   * Runs jobs from the queue that enqueue() fills, until the signal aborts. Then it resolves. For each job, `source`
   * returns the source to index. A job is done when the content and the symbols of its repository are published. A
   * job that fails is tried again after 5 s. The delay doubles with each further failure, up to an hour.
   *
   * @example
   * declare const engine: ClusterEngine;
   * const stop = new AbortController();
   * const source = async ({ repository }: Job) => git(`/clones/${repository}`, { name: repository });
   * await engine.work(source, { signal: stop.signal, concurrency: 2 });
   */
  work(source: (job: Job) => Promise<Source>, options: WorkOptions): Promise<void>;
  /**
   * Deletes unused data: generations that were replaced over an hour ago, and objects older than a day to which no
   * row in PostgreSQL refers. Each machine that has changed the index also does this automatically every hour.
   * Resolves to `undefined` if another process is already collecting.
   *
   * @example
   * declare const engine: ClusterEngine;
   * const report = await engine.collect();
   * if (report) console.log(`${report.objects} objects were deleted`);
   */
  collect(options?: CollectOptions): Promise<CollectReport | undefined>;
  /**
   * Reads the state of the cluster, and compares the published generations with those that this machine searches.
   * Rejects if PostgreSQL cannot be reached.
   *
   * @example
   * declare const engine: ClusterEngine;
   * for (const { shard, published, here } of (await engine.status()).shards)
   *   if (here < published) console.log(`shard ${shard} is ${published - here} generations behind`);
   */
  status(): Promise<ClusterStatus>;
}
