/** Defines the options of openCluster(), and checks them. */

import { resolve } from "node:path";
import { invalid } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import type { OpenOptions } from "../engine.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import type { PostgresPool } from "./postgres/pool.ts";
import type { PostgresPlace } from "./postgres/schema.ts";

/**
 * The catalog of a cluster, which records what is published. Created by postgresCatalog().
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const catalog: ClusterCatalog = postgresCatalog(pool, { schema: "search" });
 */
export interface ClusterCatalog {
  /** The pool of connections. */
  readonly pool: PostgresPool;
  /** The place of the catalog's tables in the database. */
  readonly place: PostgresPlace;
  /** Whether machines are notified of changes immediately. */
  readonly listen: boolean;
}

/**
 * Returns a catalog that is stored in PostgreSQL. `migrateCluster()` creates the tables of the catalog.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const segments = postgresSegments(pool);
 * const engine = await openCluster({ catalog: postgresCatalog(pool), segments, directory: "./cluster" });
 */
export function postgresCatalog(
  pool: PostgresPool,
  options: PostgresPlace & {
    /**
     * Whether each machine keeps one connection of the pool to be notified of changes immediately (LISTEN). Otherwise,
     * the machine notices changes only by polling, every second. PgBouncer in transaction mode does not support LISTEN.
     * Behind such a PgBouncer, the machine reports a warning and only polls. Default: true.
     */
    listen?: boolean;
  } = {},
): ClusterCatalog {
  const { listen = true, ...place } = options;
  return { pool, place, listen };
}

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
  /** The catalog, which all machines share. */
  catalog: ClusterCatalog;
  /** The store of segment objects, which all machines share. */
  segments: SegmentStore;
  /**
   * A folder on a local disk for the data that this machine searches and writes. If the folder is lost, the machine
   * fetches the content again.
   */
  directory: string;
  /**
   * Makes this machine a node. A node holds the slices that it owns, and answers the requests of fronts at its URL.
   * Searches that start on this machine ask all nodes. Without this option, the machine holds the whole index, or no
   * slices if `secret` is given.
   */
  node?: ClusterNodeOptions;
  /**
   * Makes this machine a front, unless `node` makes it a node. A front holds no slices, and asks the nodes, which
   * must have the same secret.
   */
  secret?: string;
  /** The number of nodes that hold each slice. Must be the same on all machines. Default 2. */
  replicas?: number;
  /**
   * The size of a slice, in bytes of text. A shard that has this much text or more gets no new repositories. Only one
   * process at a time can write to a shard. Default 8 GiB.
   */
  shardBytes?: number;
}

/**
 * The options that make a machine a node of a cluster.
 *
 * @example
 * import { once } from "node:events";
 * import { createServer } from "node:http";
 * const node: ClusterNodeOptions = {
 *   name: "node-1",
 *   url: "http://10.0.0.1:7001",
 *   secret: process.env.QUERN_SECRET ?? "",
 *   diskBytes: 2e12,
 *   listen: (internal) =>
 *     once(createServer(toNodeListener(internal)).listen(7001, "10.0.0.1"), "listening"),
 * };
 */
export interface ClusterNodeOptions {
  /** The node's name. It must stay the same when the machine restarts. */
  name: string;
  /**
   * The URL at which other machines of the cluster reach `internal`. Nobody else should be able to reach this URL.
   */
  url: string;
  /**
   * The secret with which machines sign their calls. It must have at least 16 characters, and be the same on all
   * machines.
   */
  secret: string;
  /** The maximum number of bytes that the slices of the node may take on its disk. */
  diskBytes: number;
  /**
   * Starts a server that answers with `internal`. The node calls this function when it has fetched its slices. It
   * reports the slices as ready when the returned promise resolves. Without this function, fronts may ask the node
   * before its server listens. If that happens, they ask another replica.
   */
  listen?: (internal: (request: Request) => Promise<Response>) => Promise<unknown>;
}

const SHARD_BYTES = 8 * 2 ** 30;
/** The default of `replicas`. */
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
  warmUp: true,
  lockTimeoutMs: true,
  webUrl: true,
  contexts: true,
  onWarning: true,
};

/** The options with their defaults filled in. */
export interface CheckedOptions {
  readonly catalog: ClusterCatalog;
  readonly store: SegmentStore;
  readonly directory: string;
  readonly node: ClusterNodeOptions | undefined;
  /** The secret of a node or a front. Undefined if the machine holds the whole index. */
  readonly secret: string | undefined;
  readonly replicas: number;
  readonly shardBytes: number;
  readonly engine: OpenOptions;
}

export function checkOptions(options: ClusterOptions): CheckedOptions {
  checkKeys({ call: "openCluster", what: "option" }, options, OPTIONS);
  const {
    catalog,
    segments: store,
    shardBytes = SHARD_BYTES,
    replicas = REPLICAS,
    node,
    secret = node?.secret,
    directory,
    ...engine
  } = options;
  if (typeof directory !== "string" || directory === "")
    throw invalid("openCluster: directory must be a non-empty string");
  mustCount("shardBytes", shardBytes);
  mustCount("replicas", replicas);
  if (secret !== undefined) checkSecret(secret);
  if (node) checkNode(node, secret);
  return {
    catalog,
    store,
    directory: resolve(directory),
    node,
    secret,
    replicas,
    shardBytes,
    engine,
  };
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

const NODE: KeysOf<ClusterNodeOptions> = {
  name: true,
  url: true,
  secret: true,
  diskBytes: true,
  listen: true,
};

function checkNode(node: ClusterNodeOptions, secret: string | undefined): void {
  checkKeys({ call: "openCluster", what: "field" }, node, NODE);
  const { name, url, diskBytes, listen } = node;
  if (secret !== node.secret)
    throw invalid(
      "openCluster: secret differs from node.secret: give the same value, or only one of them",
    );
  if (typeof name !== "string" || name === "" || name.includes("\0"))
    throw invalid("openCluster: node.name must be a non-empty string");
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ""))
    throw invalid(`openCluster: node.url must be an http address, got ${JSON.stringify(url)}`);
  mustCount("node.diskBytes", diskBytes);
  if (listen !== undefined && typeof listen !== "function")
    throw invalid("openCluster: node.listen must be a function");
}
