/**
 * Stores the state that sync keeps between runs. The state has its own folder:
 *
 *     connections.json          ids of connections, and the names of their repositories
 *     lock                      held by the process that syncs
 *     1/                        a connection, by its id
 *       42/                     a repository, by its host's id
 *         repository.json       its record
 *         clone.git/            the bare clone
 *
 * A file is written under a temporary name and then renamed. An unreadable file counts as missing. The next run then
 * asks the host about the repository again. It fetches nothing twice, because the clone itself shows what it
 * contains.
 */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";

const repository = z.object({
  version: z.literal(1),
  /** The host's id of the repository. */
  id: z.string(),
  /** The name of the repository in the index. */
  name: z.string(),
  /** The name on the host, such as `acme/shop`. */
  path: z.string(),
  /** The folder of the indexed clone. */
  folder: z.string(),
  /** A digest of the indexed state: references, revisions and options. Absent if nothing was indexed. */
  indexed: z.exactOptional(z.string()),
  /** When a run first found that the host no longer lists the repository, in milliseconds since 1970. */
  goneSince: z.exactOptional(z.number()),
  /** Why the last sync of the repository failed. */
  failure: z.exactOptional(z.string()),
});
export type RepositoryState = z.infer<typeof repository>;

const connections = z.object({
  version: z.literal(1),
  nextId: z.int(),
  connections: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      type: z.string(),
      /** The names of the connection's repositories in the index. */
      repositories: z.array(z.string()),
    }),
  ),
});
export type ConnectionStates = z.infer<typeof connections>;

const NO_CONNECTIONS: ConnectionStates = { version: 1, nextId: 1, connections: [] };
const RECORD = "repository.json";

export const connectionsFile = (folder: string): string => join(folder, "connections.json");

export const readConnections = async (folder: string): Promise<ConnectionStates> =>
  (await readRecord(connectionsFile(folder), connections)) ?? NO_CONNECTIONS;

/** Parses the text of connections.json. Returns undefined if the text is invalid. */
export function parseConnections(text: string): ConnectionStates | undefined {
  return parseRecord(text, connections);
}

export const writeConnections = (folder: string, states: ConnectionStates): Promise<void> =>
  writeRecord(connectionsFile(folder), states);

/** Returns the folder with the record and the clone of a repository. `id` is the host's id of the repository. */
export const repositoryFolder = (folder: string, connection: number, id: string): string =>
  join(folder, String(connection), folderName(id));

export const cloneFolder = (repositoryFolder: string): string =>
  join(repositoryFolder, "clone.git");

/**
 * Returns a name for the folder of a repository. Every file system accepts this name. A simple id is used unchanged.
 * Any other id is replaced by its hash.
 */
const folderName = (id: string): string =>
  /^[0-9a-f-]{1,40}$/.test(id) && !id.startsWith("-")
    ? id
    : `h${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;

export const readState = (folder: string): Promise<RepositoryState | undefined> =>
  readRecord(join(folder, RECORD), repository);

export const writeState = (folder: string, state: RepositoryState): Promise<void> =>
  writeRecord(join(folder, RECORD), state);

export const removeState = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Reads the records of all repositories of a connection. Resolves to a map from their folders to the records. */
export async function statesOf(
  folder: string,
  connection: number,
): Promise<ReadonlyMap<string, RepositoryState>> {
  const own = join(folder, String(connection));
  const names = await readdir(own).catch(() => []);
  const found = new Map<string, RepositoryState>();
  for (const name of names) {
    const state = await readState(join(own, name));
    if (state !== undefined) found.set(join(own, name), state);
  }
  return found;
}

async function readRecord<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : parseRecord(text, schema);
}

function parseRecord<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function writeRecord(file: string, value: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const newFile = `${file}.new`;
  await writeFile(newFile, JSON.stringify(value), { mode: 0o600 });
  await rename(newFile, file);
}
