/**
 * The only file that knows LMDB. Opens the environment of a data directory, reads values within one
 * snapshot, writes within one transaction, and turns LMDB's and the disk's errors into ours.
 *
 * `lmdb` copies what it reads into one buffer per thread: a value is valid until the next read.
 * Every thread opens the environment for itself; they share the map.
 */

import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import { open as openLmdb, type RootDatabase, type Transaction } from "lmdb";
import { QuernError, type ErrorCode } from "../base/errors.ts";
import { allocateLockFile } from "./lock-file.ts";
import { corrupt, seal, unseal } from "./sealed.ts";
import { inTurn } from "./turn.ts";

const DATA_FILE = "quern.mdb";
/** Address space, not memory or disk: the map grows into it. */
const MAP_BYTES = 256 * 2 ** 30;
/**
 * A process has 128 TiB of it, and dies where a map finds none: of 400 such maps, of fewer where
 * WebAssembly has reserved 10 GiB for each kernel.
 */
export const MOST_OPEN = 256;
// flags of lmdb's transactionSync: 1 can be aborted, 2 runs now, 0x10000 is flushed later
const FLUSHED_LATER = 0x1_0003;

export interface Environment {
  readonly path: string;
  readonly readOnly: boolean;
  /** A view of the newest committed state. REQUIRES: close() soon: it keeps old pages from being used again. */
  snapshot(): Snapshot;
  /**
   * One transaction that does not block this thread while it waits or syncs; resolves when what it
   * wrote is on the disk. `work` runs once, synchronously. REQUIRES: if it throws, it has not
   * written yet.
   */
  write<T>(work: (writer: Writer) => T): Promise<T>;
  /** One transaction on this thread, flushed to the disk later, at the latest with the next write(). For segments that nothing names yet. */
  writeUnnamed<T>(work: (writer: Writer) => T): T;
  /** What processes that have died were reading is no longer kept for them. LMDB looks only when somebody opens the file. */
  forgetDeadReaders(): void;
  close(): Promise<void>;
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
  return inTurn(path, () => openEnvironment(path, options));
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
    opened = { database: openDatabase(file, isReadOnly), isReadOnly, users: 0 };
    shared.set(file, opened);
  }
  opened.users++;
  return new LmdbEnvironment(path, options.readOnly, opened.database);
}

function openDatabase(file: string, readOnly: boolean): Database {
  return translated(() => {
    allocateLockFile(`${file}-lock`);
    return openLmdb<Buffer, Buffer>({
      path: file,
      noSubdir: true,
      encoding: "binary",
      keyEncoding: "binary",
      readOnly,
      mapSize: MAP_BYTES,
      maxReaders: 512,
      noMemInit: true,
    } as Parameters<typeof openLmdb>[0] & object);
  }) as Database;
}

async function closeDatabase(path: string): Promise<void> {
  const file = resolve(path, DATA_FILE);
  const opened = shared.get(file)!;
  opened.users--;
  await inTurn(path, async () => {
    // another engine may have joined, or closed it, while this one waited
    if (opened.users > 0 || shared.get(file) !== opened) return;
    shared.delete(file);
    await opened.database.close();
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

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    // Node says so as well where the disk is read-only
    if ((error as NodeJS.ErrnoException).code === "ENOENT") mkdirSync(path);
    throw error;
  }
}

/**
 * LMDB maps the file; touching a page that the file does not reach kills the process. Its two meta
 * pages say how many pages there are: magic at 24, size of a page at 48, last page at 144, transaction at 152.
 */
function refuseTruncated(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return;
  const head = Buffer.alloc(4096 + 160);
  const descriptor = translated(() => openSync(file, "r"));
  try {
    if (readSync(descriptor, head, 0, head.length, 0) < head.length)
      throw corrupt("the data file is cut short");
  } finally {
    closeSync(descriptor);
  }
  const metas = [head, head.subarray(4096)].map((meta) => ({
    isMeta: meta.readUInt32LE(24) === 0xbeefc0de,
    pageBytes: meta.readUInt32LE(48),
    lastPage: Number(meta.readBigUInt64LE(144)),
    transaction: Number(meta.readBigUInt64LE(152)),
  }));
  if (!metas[0]!.isMeta || !metas[1]!.isMeta) throw corrupt("the data file does not begin as one");
  const { pageBytes, lastPage } =
    metas[0]!.transaction > metas[1]!.transaction ? metas[0]! : metas[1]!;
  if (size < (lastPage + 1) * pageBytes) throw corrupt("the data file is cut short");
}

class LmdbEnvironment implements Environment {
  readonly path: string;
  readonly readOnly: boolean;
  readonly #database: Database;
  #isOpen = true;

  constructor(path: string, readOnly: boolean, database: Database) {
    this.path = path;
    this.readOnly = readOnly;
    this.#database = database;
  }

  snapshot(): Snapshot {
    const database = this.#database;
    // else lmdb may hand out a transaction that began earlier in this turn of the event loop
    (database as unknown as { resetReadTxn(): void }).resetReadTxn();
    return new LmdbSnapshot(database, database.useReadTransaction());
  }

  async write<T>(work: (writer: Writer) => T): Promise<T> {
    this.#mustBeWritable();
    const writer = new LmdbWriter(this.#database);
    try {
      const result = await this.#database.transaction(() => work(writer));
      await this.#database.flushed;
      return result;
    } catch (error) {
      throw translate(error);
    }
  }

  writeUnnamed<T>(work: (writer: Writer) => T): T {
    this.#mustBeWritable();
    const transact = this.#database.transactionSync.bind(this.#database) as <R>(
      action: () => R,
      flags: number,
    ) => R;
    return translated(() => transact(() => work(new LmdbWriter(this.#database)), FLUSHED_LATER));
  }

  forgetDeadReaders(): void {
    translated(() => this.#database.readerCheck());
  }

  async close(): Promise<void> {
    if (this.#isOpen) await closeDatabase(this.path);
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

class LmdbWriter implements Writer {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const value = read(this.#database, key);
    return value && unseal(key, value, what);
  }

  keys([start, end]: KeyRange, limit = Infinity): Iterable<Buffer> {
    return [...(this.#database.getKeys({ start, end, limit }) as Iterable<Buffer>)];
  }

  put(key: Buffer, ...payload: readonly Uint8Array[]): void {
    this.#database.putSync(key, seal(key, ...payload));
  }

  remove(key: Buffer): void {
    this.#database.removeSync(key);
  }
}

/** Values read on this thread so far: while it stays, the last one is still there. */
export let reads = 0;

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

// what the disk and LMDB say, by errno name or LMDB's message, and what it means here
const FAILURES: readonly [pattern: RegExp, code: ErrorCode, advice: string][] = [
  [
    /MDB_MAP_FULL/i,
    "DISK_FULL",
    `the data directory has reached its largest size, ${MAP_BYTES / 2 ** 30} GiB: compact() it, or divide the ` +
      "repositories among several; what was published before is intact",
  ],
  [
    /ENOSPC|No space left|EDQUOT|quota|EFBIG|File too large/i,
    "DISK_FULL",
    "the disk is full or its quota reached: make room and try again; what was published before is intact",
  ],
  [
    // LMDB's word for a write that was cut short, which is what a disk does before it says that it is full
    /\bEIO\b|Input\/output error/i,
    "DISK_FULL",
    "a write was cut short: the disk is full, its quota or the limit of a file's size reached, or it fails; " +
      "make room or look into the system's log, and try again; what was published before is intact",
  ],
  [
    // this comes of locks that another process destroyed, see turn.ts
    /Invalid argument: No transaction to renew/i,
    "INDEX_LOCKED",
    "another process ended while this one opened the data directory: start this process again",
  ],
  [
    /EACCES|EPERM|Permission denied|not permitted/i,
    "PERMISSION_DENIED",
    "this process may not read or write the data directory: change its owner or mode",
  ],
  [
    /EROFS|Read-only file system/i,
    "INDEX_READ_ONLY",
    "the data directory lies on a read-only file system: open it with readOnly",
  ],
  [
    /ENOTDIR|EEXIST|Not a directory/i,
    "INDEX_NOT_FOUND",
    "the data directory's path is a file or leads through one: name a folder",
  ],
  [
    /MDB_VERSION_MISMATCH/i,
    "INDEX_VERSION",
    "the data file was written by another version of LMDB: index again into a new directory",
  ],
  [
    /MDB_(INVALID|CORRUPTED|PAGE_NOTFOUND|PANIC|BAD_TXN)|Invalid argument|not an LMDB file/i,
    "INDEX_CORRUPT",
    "the data file is damaged: index again into a new directory",
  ],
];

function translate(error: unknown): unknown {
  if (error instanceof QuernError || !(error instanceof Error)) return error;
  const text = `${String((error as { code?: string | number }).code ?? "")} ${error.message}`;
  const failure = FAILURES.find(([pattern]) => pattern.test(text));
  return failure
    ? new QuernError(failure[1], `${failure[2]} (${error.message})`, { cause: error })
    : error;
}

export function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translate(error);
  }
}
