/**
 * Opens the LMDB environment of a data directory, reads values within one snapshot and writes within
 * one transaction. Of the index, only this file and those it imports know LMDB.
 *
 * `lmdb` copies what it reads into one buffer per thread: a value is valid until the next read.
 * Every thread opens the environment for itself; they share the map.
 */

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { open as openLmdb, type RootDatabase, type Transaction } from "lmdb";
import { QuernError } from "../../base/errors.ts";
import { yieldTurn } from "../../base/yield.ts";
import { Commits } from "./commits.ts";
import { askForRoom, LEAST_ROOM_BYTES, makeFolder, refuseTruncated } from "./data-file.ts";
import { MAP_BYTES, translate, translated } from "./failures.ts";
import { allocateLockFile } from "./lock-file.ts";
import { seal, unseal } from "../format/sealed.ts";
import { inTurn } from "./turn.ts";

const DATA_FILE = "quern.mdb";
/**
 * A process has 128 TiB of it, and dies where a map finds none: of 400 such maps, of fewer where
 * WebAssembly has reserved 10 GiB for each kernel.
 */
export const MOST_OPEN = 256;
/** What each key of a transaction may take: the pages of the tree that lead to it. */
const TREE_BYTES = 2 * 4096;

export interface Environment {
  readonly path: string;
  readonly readOnly: boolean;
  /** A view of the newest committed state. REQUIRES: close() soon: it keeps old pages from being used again. */
  snapshot(): Snapshot;
  /**
   * One transaction that does not block this thread while it waits or syncs; resolves when what it
   * wrote is on the disk. `work` runs once, synchronously; if it throws, nothing is written.
   */
  write<T>(work: (writer: Writer) => T): Promise<T>;
  /** The same on this thread, which it blocks. On the disk at the latest with the next write(): a run's last one gives back the lease. */
  writeHere<T>(work: (writer: Writer) => T): T;
  /** What processes that have died were reading is no longer kept for them. LMDB looks only when somebody opens the file. */
  forgetDeadReaders(): void;
  /**
   * `endThreads` ends those of this process that have opened it too. They go last: the system takes the
   * map apart for whoever closes last, 8 to 40 ms for a gigabyte that was read.
   */
  close(endThreads?: () => Promise<void>): Promise<void>;
}

/** Half-open. */
export type KeyRange = readonly [start: Buffer, end: Buffer];

export interface Snapshot {
  /** The payload, or undefined if there is none under the key. REQUIRES: used or copied before the next get. */
  get(key: Buffer, what: string): Uint8Array | undefined;
  /** The same without looking at the seal, which is still there. */
  getSealed(key: Buffer): Uint8Array | undefined;
  /** In order; at most `limit` of them. */
  keys(range: KeyRange, limit?: number): Iterable<Buffer>;
  close(): void;
}

export interface Writer {
  get(key: Buffer, what: string): Uint8Array | undefined;
  /** REQUIRES: nothing of the range has been put or removed in this transaction. */
  keys(range: KeyRange, limit?: number): Iterable<Buffer>;
  put(key: Buffer, ...payload: readonly Uint8Array[]): void;
  remove(key: Buffer): void;
}

type Database = RootDatabase<Buffer, Buffer>;

/**
 * LMDB must not be opened twice by one process: environments of one file share what was opened first,
 * and the last one to close closes it. Worker threads have a table each; lmdb itself joins those.
 */
interface SharedDatabase {
  readonly database: Database;
  readonly commits: Commits;
  readonly isReadOnly: boolean;
  users: number;
}

const shared = new Map<string, SharedDatabase>();

/** For the first of a process. */
export async function openInTurn(
  path: string,
  options: { readOnly: boolean },
): Promise<Environment> {
  if (!options.readOnly) translated(() => makeFolder(path));
  return inTurn(path, async () => {
    await yieldTurn(); // LMDB takes 3 ms for a new file
    return openEnvironment(path, options);
  });
}

/** REQUIRES: another thread of this process has the directory open, or it is this one's turn. */
export function openEnvironment(path: string, options: { readOnly: boolean }): Environment {
  const file = resolve(path, DATA_FILE);
  prepareFolder(path, file, options.readOnly);
  let opened = shared.get(file);
  if (!opened) {
    if (shared.size >= MOST_OPEN)
      throw new QuernError(
        "INVALID_REQUEST",
        `open: ${MOST_OPEN} data directories are open already: close engines that are not in use, or index into fewer directories`,
      );
    refuseTruncated(file);
    // one that only reads may be joined by one that writes, wherever the disk lets it
    const isReadOnly = options.readOnly && !isWritable(path, file);
    const database = openDatabase(file, isReadOnly);
    opened = { database, commits: new Commits(database, file), isReadOnly, users: 0 };
    shared.set(file, opened);
  }
  opened.users++;
  return new LmdbEnvironment(path, options.readOnly, opened);
}

function openDatabase(file: string, readOnly: boolean): Database {
  return translated(() => {
    allocateLockFile(`${file}-lock`);
    askForRoom(file);
    return openLmdb<Buffer, Buffer>({
      path: file,
      noSubdir: true,
      encoding: "binary",
      keyEncoding: "binary",
      readOnly,
      mapSize: MAP_BYTES,
      maxReaders: 512,
      // else a commit that fails also rejects a promise that nobody has, which ends the process
      eventTurnBatching: false,
      // else pages come from the heap as they are, and what the host had there, secrets too, is written with them
      noMemInit: false,
    } as Parameters<typeof openLmdb>[0] & object);
  }) as Database;
}

async function closeDatabase(path: string, endThreads: () => Promise<void>): Promise<void> {
  const file = resolve(path, DATA_FILE);
  const opened = shared.get(file)!;
  opened.users--;
  if (opened.users === 0) await opened.commits.trim();
  await inTurn(path, async () => {
    // another engine may have joined, or closed it, while this one waited
    if (opened.users === 0 && shared.get(file) === opened) {
      shared.delete(file);
      await opened.commits.close();
    }
    await endThreads();
  });
}

function isWritable(path: string, file: string): boolean {
  try {
    for (const one of [path, file]) accessSync(one, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function prepareFolder(path: string, file: string, readOnly: boolean): void {
  if (translated(() => statSync(file, { throwIfNoEntry: false }))) return;
  if (readOnly)
    throw new QuernError(
      "INDEX_NOT_FOUND",
      `there is no index at ${path}; index something into it first`,
    );
  if (translated(() => readdirSync(path)).some((name) => !name.startsWith(".")))
    throw new QuernError(
      "INDEX_NOT_FOUND",
      `${path} is not a data directory: it holds other files and no ${DATA_FILE}; name an empty or a new folder`,
    );
}

class LmdbEnvironment implements Environment {
  readonly path: string;
  readonly readOnly: boolean;
  readonly #database: Database;
  readonly #commits: Commits;
  #isOpen = true;

  constructor(path: string, readOnly: boolean, { database, commits }: SharedDatabase) {
    this.path = path;
    this.readOnly = readOnly;
    this.#database = database;
    this.#commits = commits;
  }

  snapshot(): Snapshot {
    const database = this.#database;
    // else lmdb may hand out a transaction that began earlier in this turn of the event loop
    (database as unknown as { resetReadTxn(): void }).resetReadTxn();
    return new LmdbSnapshot(
      database,
      translated(() => database.useReadTransaction()),
    );
  }

  async write<T>(work: (writer: Writer) => T): Promise<T> {
    this.#mustBeWritable();
    try {
      return await this.#commits.run(() => this.#within(work));
    } catch (error) {
      throw translate(error);
    }
  }

  writeHere<T>(work: (writer: Writer) => T): T {
    this.#mustBeWritable();
    return translated(() => this.#commits.runHere(() => this.#within(work)));
  }

  #within<T>(work: (writer: Writer) => T): T {
    const writer = new LmdbWriter(this.#database);
    const result = work(writer);
    this.#commits.room.ensure(writer.roomBytes);
    writer.write();
    return result;
  }

  forgetDeadReaders(): void {
    translated(() => this.#database.readerCheck());
  }

  async close(endThreads = async () => {}): Promise<void> {
    if (this.#isOpen) await closeDatabase(this.path, endThreads);
    this.#isOpen = false;
  }

  #mustBeWritable(): void {
    if (this.readOnly)
      throw new QuernError(
        "INDEX_READ_ONLY",
        "this engine was opened with readOnly: open it without to write",
      );
  }
}

class LmdbSnapshot implements Snapshot {
  readonly #database: Database;
  readonly #transaction: Transaction;
  readonly #options: { transaction: Transaction };
  #open = true;

  constructor(database: Database, transaction: Transaction) {
    this.#database = database;
    this.#transaction = transaction;
    this.#options = { transaction };
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const value = this.getSealed(key);
    return value && unseal(key, value, what);
  }

  getSealed(key: Buffer): Uint8Array | undefined {
    return read(this.#database, key, this.#options);
  }

  *keys([start, end]: KeyRange, limit = Infinity): Iterable<Buffer> {
    const range = { start, end, limit, ...this.#options };
    try {
      yield* this.#database.getKeys(range) as Iterable<Buffer>;
    } catch (error) {
      throw translate(error);
    }
  }

  close(): void {
    if (this.#open) this.#transaction.done();
    this.#open = false;
  }
}

/** Keeps what is written until all of it is known: room is made for it first, and a transaction that does not run on this thread alone cannot be undone. */
class LmdbWriter implements Writer {
  readonly #database: Database;
  /** By key, as latin1; undefined: it goes. */
  readonly #held = new Map<string, Buffer | undefined>();
  /** What it may take in the data file. */
  roomBytes = LEAST_ROOM_BYTES;

  constructor(database: Database) {
    this.#database = database;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const name = key.toString("latin1");
    const value = this.#held.has(name) ? this.#held.get(name) : read(this.#database, key);
    return value && unseal(key, value, what);
  }

  keys([start, end]: KeyRange, limit = Infinity): Iterable<Buffer> {
    return [...(this.#database.getKeys({ start, end, limit }) as Iterable<Buffer>)];
  }

  put(key: Buffer, ...payload: readonly Uint8Array[]): void {
    const value = seal(key, ...payload);
    this.roomBytes += value.length + TREE_BYTES;
    this.#held.set(key.toString("latin1"), value);
  }

  remove(key: Buffer): void {
    this.roomBytes += TREE_BYTES;
    this.#held.set(key.toString("latin1"), undefined);
  }

  write(): void {
    for (const [name, value] of this.#held) {
      const key = Buffer.from(name, "latin1");
      if (value) this.#database.putSync(key, value);
      else this.#database.removeSync(key);
    }
  }
}

/** Values read on this thread so far: lmdb has one buffer a thread, which each read overwrites. */
let reads = 0;

/** A borrowed value that is kept as long as it lies in lmdb's buffer: until the next read of this thread. */
export class LastRead {
  #number = -1;
  #reads = -1;
  #value: Uint8Array = new Uint8Array();

  /** The number that it was kept under; -1: none was. It says nothing of whether the value is still there. */
  get number(): number {
    return this.#number;
  }

  /** REQUIRES: it was read last. */
  keep(number: number, value: Uint8Array): void {
    this.#number = number;
    this.#reads = reads;
    this.#value = value;
  }

  /** Returns the value that was kept under the number, unless something was read since. */
  get(number: number): Uint8Array | undefined {
    return this.#number === number && this.#reads === reads ? this.#value : undefined;
  }
}

/** The value as a plain view: the buffer that lmdb returns has its `length` overridden. */
function read(
  database: Database,
  key: Buffer,
  options?: { transaction: Transaction },
): Uint8Array | undefined {
  const fast = database as unknown as {
    getBinaryFast(key: Buffer, options?: object): Buffer | undefined;
    lastSize: number;
  };
  reads++;
  let value: Buffer | undefined;
  try {
    value = fast.getBinaryFast(key, options);
  } catch (error) {
    throw translate(error); // what the tree of a damaged file says
  }
  return value && new Uint8Array(value.buffer, value.byteOffset, fast.lastSize);
}
