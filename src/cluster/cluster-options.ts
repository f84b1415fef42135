/** Options of openCluster(), and what is checked of them. */

import { resolve } from "node:path";
import { QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import type { OpenOptions } from "../engine.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import type { PostgresPool } from "./postgres/pool.ts";
import type { PostgresPlace } from "./postgres/schema.ts";

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
  /** Whether machines hear of changes at once. */
  readonly listen: boolean;
}

/**
 * Returns a catalog in PostgreSQL. `migrateCluster()` makes its tables.
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
     * Whether a machine takes a connection of the pool to hear of changes at once (LISTEN). Otherwise it looks each
     * second, as it does through PgBouncer in transaction mode, with a warning. Default: true.
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

/** Options with their defaults. */
export interface CheckedOptions {
  readonly catalog: ClusterCatalog;
  readonly store: SegmentStore;
  readonly directory: string;
  readonly node: ClusterNodeOptions | undefined;
  /** undefined: the machine holds the whole index. */
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

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);

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
