/**
 * Reads the file that describes a cluster. It says where PostgreSQL, the objects and this machine's folder are, and
 * whether the machine is a node, a front, or neither. The file is JSON with comments. It contains no secrets, only
 * the names of environment variables that contain secrets. A variable is read only when it is needed, so a command
 * that only creates a key does not need all variables.
 */

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { isGone } from "../base/folder-errors.ts";
import type { ClusterCatalog, ClusterOptions } from "../cluster/cluster-options.ts";
import type { SegmentStore } from "../cluster/objects/segment-store.ts";
import { secret as variable } from "../sync/config/config-schema.ts";
import { parseWithComments } from "../sync/config/parse.ts";
import { checkedFile } from "../validation/file-complaints.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const maybe = z.exactOptional;
const word = z.string().min(1, "must not be empty");
const ADDRESS =
  'must look like "postgres://user@host:5432/name" without a password, or { "env": "NAME" }';
type Variable = z.infer<typeof variable>;
/**
 * A value that may differ between machines. If machines share one file, as pods do, the value comes from an
 * environment variable.
 */
const perMachine = z.union([word, variable], 'must be a non-empty string or { "env": "NAME" }');
const count = z.int().min(1, "must be 1 or more");
const address = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, password } = new URL(text);
  return /^postgres(ql)?:$/.test(protocol) && password === "";
}, ADDRESS);

const FILE = z.strictObject({
  directory: word,
  postgres: z.strictObject({ url: z.union([address, variable], ADDRESS), schema: maybe(word) }),
  segments: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("postgres") }),
    z.strictObject({ type: z.literal("directory"), path: word }),
    z.strictObject({
      type: z.literal("s3"),
      bucket: word,
      prefix: maybe(z.string()),
      endpoint: maybe(z.url("must be an address")),
      region: maybe(word),
      pathStyle: maybe(z.boolean()),
    }),
  ]),
  node: maybe(
    z.strictObject({
      name: perMachine,
      url: perMachine,
      secret: variable,
      diskBytes: count,
      listen: maybe(perMachine),
    }),
  ),
  secret: maybe(variable),
  replicas: maybe(count),
  shardBytes: maybe(count),
});

type ClusterFile = z.infer<typeof FILE>;

/**
 * How long a call may wait for PostgreSQL before it fails. Without a limit, calls would wait forever for a server
 * that accepts connections but hangs.
 */
const SILENCE_MS = 60_000;

/** The address at which a server listens. */
export interface ListenAt {
  readonly host: string;
  readonly port: number;
}

/** The role of a machine in the cluster. */
export interface Machine {
  readonly options: ClusterOptions;
  /** The address at which the machine answers requests from fronts, or undefined if the machine is not a node. */
  readonly listen: ListenAt | undefined;
}

/**
 * The database and the store that a cluster file names, ready for use. Disposing of this object closes the
 * connections.
 */
export interface OpenedFile extends AsyncDisposable {
  readonly catalog: ClusterCatalog;
  readonly segments: SegmentStore;
  /** The number of nodes that hold each slice. */
  readonly replicas: number;
  /** Returns the role of this machine. Throws if an environment variable that the machine needs is not set. */
  machine(): Machine;
}

/**
 * Reads a cluster file, and creates the catalog and the store that the file names. A connection to PostgreSQL is
 * opened only for the first SQL statement.
 */
export async function openClusterFile(path: string, env: Environment): Promise<OpenedFile> {
  const file = resolve(path);
  const read = await readClusterFile(file);
  const { postgresCatalog, REPLICAS } = await import("../cluster/cluster-options.ts");
  const { Pool } = await loadPeer("pg", () => import("pg").then((pg) => pg.default));
  const valueOf = (name: string, given: string | Variable): string =>
    typeof given === "string" ? given : valueIn(env, { file, name, variable: given.env });
  const pool = new Pool({
    connectionString: valueOf("postgres.url", read.postgres.url),
    connectionTimeoutMillis: SILENCE_MS,
    query_timeout: SILENCE_MS,
    keepAlive: true,
  });
  pool.on("error", () => undefined); // if an idle connection fails, the next statement opens a new one
  const { schema } = read.postgres;
  const place = schema === undefined ? {} : { schema };
  const catalog = postgresCatalog(pool, place);
  const segments = await openSegments(read, catalog, dirname(file));
  const { shardBytes, replicas = REPLICAS } = read;
  const shared = {
    catalog,
    segments,
    directory: resolve(dirname(file), read.directory),
    ...(shardBytes !== undefined && { shardBytes }),
    replicas,
  };
  return {
    catalog,
    segments,
    replicas,
    machine: () => machineOf(read, shared, valueOf),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

async function readClusterFile(file: string): Promise<ClusterFile> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    const [code, why] = isGone(cause)
      ? (["SOURCE_NOT_FOUND", "there is no"] as const)
      : (["SOURCE_UNREADABLE", "cannot read the"] as const);
    throw new QuernError(code, `${why} file ${file}; give the path of the cluster's file`, {
      cause,
    });
  });
  const checked = checkedFile(FILE, await parseWithComments(file, text), "the file");
  if ("data" in checked) return checked.data;
  throw new QuernError("INVALID_REQUEST", `${file}: ${checked.complaint}`);
}

function machineOf(
  { node, secret }: ClusterFile,
  shared: ClusterOptions,
  valueOf: (name: string, given: string | Variable) => string,
): Machine {
  const front = secret === undefined ? {} : { secret: valueOf("secret", secret) };
  if (!node) return { options: { ...shared, ...front }, listen: undefined };
  const url = valueOf("node.url", node.url);
  const own = {
    name: valueOf("node.name", node.name),
    url,
    secret: valueOf("node.secret", node.secret),
    diskBytes: node.diskBytes,
  };
  const listen = node.listen === undefined ? url : `http://${valueOf("node.listen", node.listen)}`;
  return { options: { ...shared, ...front, node: own }, listen: listenAt(listen) };
}

/** Returns the host and port of an address. */
function listenAt(url: string): ListenAt {
  if (!URL.canParse(url))
    throw new QuernError(
      "INVALID_REQUEST",
      `node.listen or node.url: not an address such as 10.0.0.1:7001: ${url}`,
    );
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? usual : Number(port) };
}

function valueIn(
  env: Environment,
  { file, name, variable: from }: { file: string; name: string; variable: string },
): string {
  const value = env[from];
  if (value !== undefined && value !== "") return value;
  throw new QuernError(
    "INVALID_REQUEST",
    `${file}: ${name}: the environment variable ${from} is not set; set it to the value`,
  );
}

async function openSegments(
  { segments }: ClusterFile,
  { pool, place }: ClusterCatalog,
  folder: string,
): Promise<SegmentStore> {
  switch (segments.type) {
    case "postgres": {
      const { postgresSegments } = await import("../cluster/postgres/segments.ts");
      return postgresSegments(pool, place);
    }
    case "directory": {
      const { directorySegments } = await import("../cluster/objects/directory-segments.ts");
      return directorySegments(resolve(folder, segments.path));
    }
    case "s3": {
      const { s3Segments } = await import("../cluster/objects/s3-segments.ts");
      const { S3Client } = await loadPeer("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
      const { bucket, prefix, endpoint, region, pathStyle } = segments;
      // the client finds credentials in its usual places, such as AWS_ACCESS_KEY_ID
      const client = new S3Client({
        ...(endpoint !== undefined && { endpoint }),
        ...(region !== undefined && { region }),
        ...(pathStyle !== undefined && { forcePathStyle: pathStyle }),
      });
      return s3Segments(client, { bucket, ...(prefix !== undefined && { prefix }) });
    }
  }
}

/** Loads an optional peer dependency. */
async function loadPeer<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new QuernError(
      "INVALID_REQUEST",
      `the package ${name} cannot be loaded: install it next to quern`,
      { cause },
    );
  }
}
