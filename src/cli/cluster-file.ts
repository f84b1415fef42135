/**
 * Reads the file that tells the command of a cluster: where PostgreSQL, the objects and this machine's folder are.
 * JSON with comments. Secrets never stand in it; it names the environment variables that hold them.
 */

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { isGone } from "../base/folder-errors.ts";
import type { ClusterCatalog, ClusterOptions } from "../cluster/cluster.ts";
import type { SegmentStore } from "../cluster/objects/segment-store.ts";
import { secret } from "../sync/config/config-schema.ts";
import { parseWithComments } from "../sync/config/parse.ts";
import { checkedFile } from "../validation/file-complaints.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const maybe = z.exactOptional;
const word = z.string().min(1, "must not be empty");
const ADDRESS =
  'must be as "postgres://user@host:5432/name" without a password, or { "env": "NAME" }';
const address = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, password } = new URL(text);
  return /^postgres(ql)?:$/.test(protocol) && password === "";
}, ADDRESS);

const FILE = z.strictObject({
  directory: word,
  postgres: z.strictObject({ url: z.union([address, secret], ADDRESS), schema: maybe(word) }),
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
  shardBytes: maybe(z.int().min(1, "must be 1 or more")),
});

type ClusterFile = z.infer<typeof FILE>;

/** What a file tells of, opened. Its end closes the connections. */
export interface OpenedFile extends AsyncDisposable {
  readonly catalog: ClusterCatalog;
  readonly segments: SegmentStore;
  readonly options: ClusterOptions;
}

/** Opens no connection yet: the first statement does. */
export async function openClusterFile(path: string, env: Environment): Promise<OpenedFile> {
  const file = resolve(path);
  const read = await readClusterFile(file);
  const { postgresCatalog } = await import("../cluster/cluster.ts");
  const { Pool } = await loadPeer("pg", () => import("pg").then((pg) => pg.default));
  const pool = new Pool({ connectionString: connectionOf(read, file, env) });
  pool.on("error", () => undefined); // of an idle connection: the next statement makes a new one
  const { schema } = read.postgres;
  const place = schema === undefined ? {} : { schema };
  const catalog = postgresCatalog(pool, place);
  const segments = await openSegments(read, catalog, dirname(file));
  const directory = resolve(dirname(file), read.directory);
  const size = read.shardBytes === undefined ? {} : { shardBytes: read.shardBytes };
  return {
    catalog,
    segments,
    options: { catalog, segments, directory, ...size },
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

function connectionOf({ postgres: { url } }: ClusterFile, file: string, env: Environment): string {
  if (typeof url === "string") return url;
  const value = env[url.env];
  if (value !== undefined && value !== "") return value;
  throw new QuernError(
    "INVALID_REQUEST",
    `${file}: postgres.url: the environment variable ${url.env} is not set; it holds the address, with the password`,
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
      // credentials come from where this client looks for them: AWS_ACCESS_KEY_ID and so on
      const client = new S3Client({
        ...(endpoint !== undefined && { endpoint }),
        ...(region !== undefined && { region }),
        ...(pathStyle !== undefined && { forcePathStyle: pathStyle }),
      });
      return s3Segments(client, { bucket, ...(prefix !== undefined && { prefix }) });
    }
  }
}

/** Loads an optional peer. */
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
