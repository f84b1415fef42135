/**
 * Stores a few ordered tables of small records in one LMDB environment, for tokens, users and audit records. The index
 * has its own format and environment.
 *
 * The format version is 2. A directory holds one environment. Each table is a named database in this environment.
 *
 *     key   := bytes, compared as bytes, at most 1 900
 *     value := record crc         sealed as in the index (sealed.ts); the CRC also covers the table's name
 *     record := MessagePack       plain data: strings, numbers, booleans, null, lists, maps
 *
 * The table "format" has one key, "version", whose record is 2. In version 1, the checksum was big-endian and came
 * before the record.
 *
 * Any number of processes may read and write at the same time. A read sees every write that resolved before the read
 * began, whichever process made the write. So a revoked token stops working immediately. If a checksum is wrong, the
 * read throws INDEX_CORRUPT. It never returns a wrong record, or the record of another key.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { pack, unpack } from "msgpackr";
import { QuernError } from "../../base/errors.ts";
import { isSealed, seal, SEAL_BYTES } from "../format/sealed.ts";
import { Commits } from "./commits.ts";
import { probe, LEAST_ROOM_BYTES, makeFolder } from "./data-file.ts";
import { translate } from "./failures.ts";
import { allocateLockFile } from "./lock-file.ts";
import { withDirectoryLock, withDirectoryLockSync } from "./directory-lock.ts";

const FORMAT_VERSION = 2;
const DATA_FILE = "data.mdb";
const MOST_KEY_BYTES = 1900; // LMDB allows 1 978 with the page size that lmdb uses
const MOST_TABLES = 16;

export interface Table<Value> {
  get(key: Uint8Array): Value | undefined;
  /**
   * Returns the entries whose keys begin with `prefix` and come after the key `after`, in key order. Returns at most
   * `limit` entries.
   */
  range(prefix: Uint8Array, after: Uint8Array | undefined, limit: number): Entry<Value>[];
  /**
   * Returns the entries from `from` (included) to `to` (excluded), in descending order of their keys. Skips the first
   * `skip` entries, and returns at most `limit`.
   */
  latest(page: KeySpan & { readonly skip: number; readonly limit: number }): Entry<Value>[];
  /** Counts the keys from `from` (included) to `to` (excluded). Takes 0.1 µs per key. */
  count(from: Uint8Array | undefined, to: Uint8Array | undefined): number;
  /** Stores a record. REQUIRES: the call is within write(). */
  put(key: Uint8Array, value: Value): void;
  /** Removes a record, if it exists. REQUIRES: the call is within write(). */
  remove(key: Uint8Array): void;
}

export interface KeySpan {
  readonly from?: Uint8Array | undefined;
  readonly to?: Uint8Array | undefined;
}

export interface Entry<Value> {
  key: Uint8Array;
  value: Value;
}

export interface KeyValueStore extends AsyncDisposable {
  table<Value>(name: string): Table<Value>;
  /**
   * Runs `change` in one write transaction, during which no other process writes. Resolves to the result of `change`
   * once the transaction is on the disk. REQUIRES: `change` is synchronous, and writes nothing if it throws.
   */
  write<Result>(change: () => Result): Promise<Result>;
  /** Copies LMDB's file, without its free pages, to a folder. The copy has every write that has resolved. */
  copyTo(folder: string): Promise<void>;
}

/** Returns true if a directory has a store. */
export const isStore = (path: string): boolean => existsSync(join(path, DATA_FILE));

/**
 * Opens the store in a directory, which is created if it does not exist. Disposing of the store waits for pending
 * writes.
 *
 * All stores of one directory share an environment, because two environments could wait for each other forever. Opening
 * the second one would block this thread until LMDB's lock is free. But a pending write of the first one may hold that
 * lock until this thread has run the `change` of the write.
 */
export function openKeyValue(path: string): KeyValueStore {
  const shared = share(path);
  const { commits } = shared;
  const life = { ends: false, ended: false };
  const writes = new Set<Promise<unknown>>();
  const refuseIf = (closed: boolean): void => {
    if (closed) throw new QuernError("ENGINE_CLOSED", "this store is closed");
  };
  return {
    table: <Value>(name: string) => openTable<Value>(shared, name, () => refuseIf(life.ended)),
    async write(change) {
      refuseIf(life.ends);
      const write = commit(commits, change);
      writes.add(write);
      return write.finally(() => writes.delete(write));
    },
    async copyTo(folder) {
      refuseIf(life.ends);
      await shared.root.backup(folder, true); // as DATA_FILE
    },
    async [Symbol.asyncDispose]() {
      if (life.ends) return;
      life.ends = true;
      await Promise.allSettled(writes);
      life.ended = true;
      if (--shared.stores > 0) return;
      opened.delete(resolve(path));
      await commits.trim();
      await withDirectoryLock(path, () => commits.close());
    },
  };
}

type Root = RootDatabase<Uint8Array, Uint8Array>;

interface Shared {
  readonly root: Root;
  readonly commits: Commits;
  readonly tables: Map<string, Database<Uint8Array, Uint8Array>>;
  /** The number of stores that use the environment. */
  stores: number;
}

/** The open environments, by the absolute paths of their directories. */
const opened = new Map<string, Shared>();

function share(path: string): Shared {
  const known = opened.get(resolve(path));
  if (known) {
    known.stores++;
    return known;
  }
  const shared = { ...openEnvironment(path), tables: new Map(), stores: 1 };
  checkVersion(shared);
  opened.set(resolve(path), shared);
  return shared;
}

function openEnvironment(path: string): Pick<Shared, "root" | "commits"> {
  const file = join(path, DATA_FILE);
  try {
    makeFolder(path);
    return withDirectoryLockSync(path, () => {
      allocateLockFile(join(path, "lock.mdb"));
      const isNew = !existsSync(file);
      probe(file);
      const root = open<Uint8Array, Uint8Array>({
        path,
        noSubdir: false, // otherwise lmdb takes a path with a dot for a file
        maxDbs: MOST_TABLES,
        encoding: "binary",
        keyEncoding: "binary",
        // otherwise a failing commit also rejects a promise that nobody handles, which ends the process
        eventTurnBatching: false,
      });
      const commits = new Commits(root, file);
      // lmdb creates the tables in transactions of its own, which also need space
      if (isNew) commits.runSync(() => commits.room.ensure(2 * LEAST_ROOM_BYTES));
      return { root, commits };
    });
  } catch (cause) {
    throw storageError(cause);
  }
}

function checkVersion(shared: Shared): void {
  const { commits } = shared;
  const format = openTable<number>(shared, "format", () => {});
  const key = Buffer.from("version");
  const version = format.get(key);
  if (version === FORMAT_VERSION) return;
  if (version !== undefined)
    throw new QuernError(
      "INDEX_VERSION",
      `this store has format version ${String(version)}; this release reads ${FORMAT_VERSION}`,
    );
  try {
    commits.runSync(() => {
      commits.room.ensure(LEAST_ROOM_BYTES);
      format.put(key, FORMAT_VERSION);
    });
  } catch (cause) {
    throw storageError(cause);
  }
}

function openDatabase({ root, tables }: Shared, name: string): Database<Uint8Array, Uint8Array> {
  try {
    const db = tables.get(name) ?? root.openDB({ name, encoding: "binary", keyEncoding: "binary" });
    tables.set(name, db);
    return db;
  } catch (cause) {
    throw storageError(cause);
  }
}

function openTable<Value>(shared: Shared, name: string, alive: () => void): Table<Value> {
  const { root } = shared;
  const db = openDatabase(shared, name);
  const open = (key: Uint8Array, stored: Uint8Array) => decode(placeOf(name, key), stored) as Value;
  return {
    get(key) {
      alive();
      if (key.length === 0 || key.length > MOST_KEY_BYTES) return undefined;
      refresh(root);
      const stored = db.get(key);
      return stored === undefined ? undefined : open(key, stored);
    },
    range(prefix, after, limit) {
      alive();
      refresh(root);
      return collect(db, prefix, { after, limit, open });
    },
    latest({ from, to, skip, limit }) {
      alive();
      refresh(root);
      const entries = db.getRange({
        ...(to && { start: to, exclusiveStart: true }),
        ...(from && { end: from, inclusiveEnd: true }),
        reverse: true,
        offset: skip,
        limit,
        snapshot: false,
      });
      return Array.from(entries, ({ key, value }) => ({
        key: Uint8Array.from(key),
        value: open(key, value),
      }));
    },
    count(from, to) {
      alive();
      refresh(root);
      return db.getCount({ ...(from && { start: from }), ...(to && { end: to }), snapshot: false });
    },
    put(key, value) {
      if (key.length === 0 || key.length > MOST_KEY_BYTES)
        throw new QuernError("INVALID_REQUEST", `a key must have 1 to ${MOST_KEY_BYTES} bytes`);
      db.putSync(key, encode(placeOf(name, key), value));
    },
    remove: (key) => void db.removeSync(key),
  };
}

// lmdb keeps one read transaction for each turn of the event loop; without this call, a read may miss newer writes
function refresh(root: Root): void {
  root.resetReadTxn();
}

interface Collecting<Value> {
  readonly after: Uint8Array | undefined;
  readonly limit: number;
  readonly open: (key: Uint8Array, stored: Uint8Array) => Value;
}

function collect<Value>(
  db: Database<Uint8Array, Uint8Array>,
  prefix: Uint8Array,
  { after, limit, open }: Collecting<Value>,
): Entry<Value>[] {
  const found: Entry<Value>[] = [];
  const start = after ?? prefix;
  for (const { key, value } of db.getRange({
    ...(start.length > 0 && { start }),
    snapshot: false,
  })) {
    if (!Buffer.from(key).subarray(0, prefix.length).equals(prefix)) break;
    if (after !== undefined && Buffer.compare(key, after) === 0) continue;
    found.push({ key: Uint8Array.from(key), value: open(key, value) });
    if (found.length === limit) break;
  }
  return found;
}

async function commit<Result>(commits: Commits, change: () => Result): Promise<Result> {
  // lmdb batches transactions, so an exception from the callback would not roll back the batch
  type Outcome = { result: Result } | { thrown: unknown };
  const run = (): Outcome => {
    try {
      commits.room.ensure(LEAST_ROOM_BYTES);
    } catch (refused) {
      return { thrown: storageError(refused) };
    }
    try {
      return { result: change() };
    } catch (thrown) {
      return { thrown };
    }
  };
  let outcome: Outcome;
  try {
    outcome = await commits.run(run);
  } catch (cause) {
    throw storageError(cause);
  }
  if ("thrown" in outcome) throw outcome.thrown;
  return outcome.result;
}

/**
 * Returns the name of a value's table, followed by the value's key. The seal of the value also covers these bytes.
 */
const placeOf = (table: string, key: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from(table), key]);

const encode = (place: Uint8Array, value: unknown): Uint8Array => seal(place, pack(value));

function decode(place: Uint8Array, stored: Uint8Array): unknown {
  const bytes = Buffer.from(stored); // copied, because lmdb's buffer is valid only until its next get
  if (bytes.length <= SEAL_BYTES || !isSealed(place, bytes))
    throw new QuernError("INDEX_CORRUPT", "a stored record does not match its checksum");
  return unpack(bytes.subarray(0, -SEAL_BYTES));
}

/**
 * Converts an error to a QuernError. A known failure of the disk or of LMDB gets its specific code, and any other error
 * gets INTERNAL.
 */
export function storageError(cause: unknown): QuernError {
  const error = translate(cause, "store");
  return error instanceof QuernError
    ? error
    : new QuernError("INTERNAL", "the store could not be used", { cause });
}
