/**
 * Opens a data directory, which consists of an LMDB environment and files of text. Reads values within one snapshot,
 * and writes values within one transaction. In the code for the index, only this file and the files that it imports use
 * LMDB. The stores of keys and users use key-value.ts.
 *
 * The package `lmdb` copies each value that it reads into one buffer per thread, so a value is valid only until the
 * next read. Every thread opens the environment for itself. All threads share the memory map.
 */

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { open as openLmdb, type RootDatabase, type Transaction } from "lmdb";
import { QuernError } from "../../base/errors.ts";
import { yieldTurn } from "../../base/yield.ts";
import { Commits } from "./commits.ts";
import { probe, LEAST_ROOM_BYTES, makeFolder, refuseLinked, refuseTruncated } from "./data-file.ts";
import { MAP_BYTES, translate, translated } from "./failures.ts";
import { allocateLockFile } from "./lock-file.ts";
import { isTextKey, numberOf, PART, segmentKey, segmentOfKey } from "../format/format.ts";
import { seal, unseal } from "../format/sealed.ts";
import { decodeTextSeals } from "../format/text-seals.ts";
import { withDirectoryLock } from "./directory-lock.ts";
import { TextFiles } from "./text-files.ts";

export const DATA_FILE = "quern.mdb";
/**
 * The maximum number of data directories that a process may have open. A process has 128 TiB of address space, and
 * crashes if a memory map does not fit. There is space for 400 maps, or for fewer if WebAssembly has reserved 10 GiB
 * for each kernel.
 */
export const MOST_OPEN = 256;
/**
 * The maximum number of bytes that each key of a transaction needs in addition to its value. These bytes are for the
 * pages of the tree that lead to the key.
 */
const TREE_BYTES = 2 * 4096;

export interface Environment {
  readonly path: string;
  readonly readOnly: boolean;
  /** The files that store the text of long segments. */
  readonly texts: TextFiles;
  /**
   * Opens a view of the newest committed state. REQUIRES: the view is closed soon, because LMDB cannot reuse old pages
   * while the view is open.
   */
  snapshot(): Snapshot;
  /**
   * Runs `work` in one transaction. Resolves when the transaction is on the disk. `work` runs once, synchronously. If
   * `work` throws, nothing is written. Waiting for the lock and the disk does not block this thread.
   */
  write<T>(work: (writer: Writer) => T): Promise<T>;
  /**
   * Does the same as write(), but blocks this thread, and does not wait for the disk. The transaction reaches the disk
   * with the next write() at the latest, such as the write() that releases the lease.
   */
  writeSync<T>(work: (writer: Writer) => T): T;
  /** Copies LMDB's file, without its free pages, to a folder. The copy is the newest committed state. */
  copyTo(folder: string): Promise<void>;
  /** Releases reader slots held by dead processes. LMDB itself does so only when the file is opened. */
  releaseDeadReaders(): void;
  /**
   * Closes the environment on this thread, and then calls `endThreads`, which ends the other threads that have the
   * environment open. The last thread to close it unmaps the file, which takes 8 to 40 ms per gigabyte that was read.
   * So the other threads close it last.
   */
  close(endThreads?: () => Promise<void>): Promise<void>;
}

/** A half-open range of keys, which includes `start` but not `end`. */
export type KeyRange = readonly [start: Buffer, end: Buffer];

export interface Snapshot {
  /**
   * Returns the payload that is stored under the key, or undefined if there is none. Throws INDEX_CORRUPT if the seal
   * is wrong. `what` names the value in the error message. REQUIRES: the result is used or copied before the next read.
   */
  get(key: Buffer, what: string): Uint8Array | undefined;
  /**
   * Returns the stored value, including its seal, without checking the seal. If the key belongs to a block of text that
   * is not in LMDB, reads the block from the file of its segment. REQUIRES: the same as get().
   */
  getSealed(key: Buffer): Uint8Array | undefined;
  /**
   * Copies the bytes [from, to) of a segment's text to `target` at `at`, without checking their seals. Returns false if
   * the caller has to read the text by blocks instead. Absent if the caller always has to do so.
   */
  copyText?(segment: number, from: number, to: number, target: Uint8Array, at: number): boolean;
  /** Returns true if the text of a segment is in a file that is open. Absent if no text is in a file. */
  hasOpenText?(segment: number): boolean;
  /** Returns the seal of a block of text. REQUIRES: the block is in a file that is open. */
  textSeal?(segment: number, block: number): number;
  /** Returns the keys of the range in order, at most `limit` of them. */
  keys(range: KeyRange, limit?: number): Iterable<Buffer>;
  close(): void;
}

export interface Writer {
  get(key: Buffer, what: string): Uint8Array | undefined;
  /** Returns the keys of the range. REQUIRES: nothing in the range was put or removed in this transaction. */
  keys(range: KeyRange, limit?: number): Iterable<Buffer>;
  put(key: Buffer, ...payload: readonly Uint8Array[]): void;
  remove(key: Buffer): void;
}

type Database = RootDatabase<Buffer, Buffer>;

/**
 * The environment of one data file. All engines of a thread share it, because LMDB must not open a file twice in one
 * process. The last engine that uses the environment closes it. Each thread has its own map `shared`. Across threads,
 * the package `lmdb` shares the open file.
 */
interface SharedDatabase {
  readonly database: Database;
  readonly texts: TextFiles;
  readonly commits: Commits;
  readonly isReadOnly: boolean;
  users: number;
}

const shared = new Map<string, SharedDatabase>();

/** Opens the environment on the first thread of a process, and holds the lock of the directory meanwhile. */
export async function openUnderLock(
  path: string,
  options: { readOnly: boolean },
): Promise<Environment> {
  if (!options.readOnly) translated(() => makeFolder(path));
  return withDirectoryLock(path, async () => {
    await yieldTurn(); // LMDB takes 3 ms to open a new file
    return openEnvironment(path, options);
  });
}

/**
 * Opens the environment. REQUIRES: another thread of this process has the environment open, or this thread holds the
 * lock of the directory.
 */
export function openEnvironment(path: string, options: { readOnly: boolean }): Environment {
  const file = resolve(path, DATA_FILE);
  prepareFolder(path, file, options.readOnly);
  if (!options.readOnly) refuseLinked(file);
  let opened = shared.get(file);
  if (!opened) {
    if (shared.size >= MOST_OPEN)
      throw new QuernError(
        "INVALID_REQUEST",
        `open: ${MOST_OPEN} data directories are already open: close unused engines, or use fewer directories`,
      );
    refuseTruncated(file);
    // the file is opened for writing if the disk permits it, so that an engine that writes can share it later
    const isReadOnly = options.readOnly && !isWritable(path, file);
    const database = openDatabase(file, isReadOnly);
    const [texts, commits] = [new TextFiles(path), new Commits(database, file)];
    opened = { database, texts, commits, isReadOnly, users: 0 };
    shared.set(file, opened);
  }
  opened.users++;
  return new LmdbEnvironment(path, options.readOnly, opened);
}

function openDatabase(file: string, readOnly: boolean): Database {
  return translated(() => {
    probe(file);
    allocateLockFile(`${file}-lock`);
    return openLmdb<Buffer, Buffer>({
      path: file,
      noSubdir: true,
      encoding: "binary",
      keyEncoding: "binary",
      readOnly,
      mapSize: MAP_BYTES,
      maxReaders: 512,
      // otherwise a failed commit also rejects a promise that nobody handles, which ends the process
      eventTurnBatching: false,
      // otherwise LMDB writes uninitialized heap memory to the file, which may contain the host's secrets
      noMemInit: false,
    } as Parameters<typeof openLmdb>[0] & object);
  }) as Database;
}

async function closeDatabase(path: string, endThreads: () => Promise<void>): Promise<void> {
  const file = resolve(path, DATA_FILE);
  const opened = shared.get(file)!;
  opened.users--;
  if (opened.users === 0) await opened.commits.trim();
  await withDirectoryLock(path, async () => {
    // another engine may have joined or closed the environment while this one waited for the lock
    if (opened.users === 0 && shared.get(file) === opened) {
      shared.delete(file);
      opened.texts.close();
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
      `${path} is not a data directory: it contains other files but no ${DATA_FILE}; name an empty or a new folder`,
    );
}

class LmdbEnvironment implements Environment {
  readonly path: string;
  readonly readOnly: boolean;
  readonly texts: TextFiles;
  readonly #database: Database;
  readonly #commits: Commits;
  #isOpen = true;

  constructor(path: string, readOnly: boolean, { database, texts, commits }: SharedDatabase) {
    this.path = path;
    this.readOnly = readOnly;
    this.texts = texts;
    this.#database = database;
    this.#commits = commits;
  }

  snapshot(): Snapshot {
    const database = this.#database;
    // otherwise lmdb may return a transaction that began earlier in this turn of the event loop
    (database as unknown as { resetReadTxn(): void }).resetReadTxn();
    const transaction = translated(() => database.useReadTransaction());
    return new LmdbSnapshot(database, transaction, this.texts);
  }

  async write<T>(work: (writer: Writer) => T): Promise<T> {
    this.#mustBeWritable();
    try {
      return await this.#commits.run(() => this.#within(work));
    } catch (error) {
      throw translate(error);
    }
  }

  writeSync<T>(work: (writer: Writer) => T): T {
    this.#mustBeWritable();
    return translated(() => this.#commits.runSync(() => this.#within(work)));
  }

  #within<T>(work: (writer: Writer) => T): T {
    const writer = new LmdbWriter(this.#database);
    const result = work(writer);
    this.#commits.room.ensure(writer.roomBytes);
    writer.write();
    return result;
  }

  async copyTo(folder: string): Promise<void> {
    await this.#database.backup(resolve(folder, DATA_FILE), true);
  }

  releaseDeadReaders(): void {
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
        "this engine was opened with readOnly: open it without that option to write",
      );
  }
}

const sealsOf = (segment: number): string => `the seals of the text of segment ${segment}`;

class LmdbSnapshot implements Snapshot {
  readonly #database: Database;
  readonly #transaction: Transaction;
  readonly #options: { transaction: Transaction };
  readonly #texts: TextFiles;
  #isOpen = true;

  constructor(database: Database, transaction: Transaction, texts: TextFiles) {
    this.#database = database;
    this.#transaction = transaction;
    this.#options = { transaction };
    this.#texts = texts;
  }

  get(key: Buffer, what: string): Uint8Array | undefined {
    const value = this.getSealed(key);
    return value && unseal(key, value, what);
  }

  getSealed(key: Buffer): Uint8Array | undefined {
    const isBlock = isTextKey(key);
    const inFile = isBlock && this.#texts.isOpen(segmentOfKey(key));
    const value = inFile ? undefined : read(this.#database, key, this.#options);
    return value ?? (isBlock ? this.#blockInFile(key) : undefined);
  }

  /**
   * Reads a block of text from the file of its segment. Returns undefined if the file does not exist or has no such
   * block.
   */
  #blockInFile(key: Buffer): Uint8Array | undefined {
    const segment = segmentOfKey(key);
    if (!this.#texts.isOpen(segment)) {
      const value = this.get(segmentKey(segment, PART.SEALS), sealsOf(segment));
      const seals = value && decodeTextSeals(value, sealsOf(segment));
      if (!seals || !this.#texts.open(segment, seals)) return undefined;
    }
    return this.#texts.block(segment, numberOf(key));
  }

  copyText(segment: number, from: number, to: number, target: Uint8Array, at: number): boolean {
    return this.#texts.copy(segment, from, to, target, at);
  }

  hasOpenText(segment: number): boolean {
    return this.#texts.isOpen(segment);
  }

  textSeal(segment: number, block: number): number {
    return this.#texts.seal(segment, block);
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
    if (this.#isOpen) this.#transaction.done();
    this.#isOpen = false;
  }
}

/**
 * Collects the writes of a transaction. Applies them at the end of the transaction, once the data file is long enough.
 * An asynchronous transaction of lmdb cannot be rolled back, so nothing may be written until `work` has succeeded.
 */
class LmdbWriter implements Writer {
  readonly #database: Database;
  /** The writes of the transaction, by key. Keys are latin1 strings. An undefined value removes the key. */
  readonly #held = new Map<string, Buffer | undefined>();
  /** The maximum number of bytes that the writes may take in the data file. */
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

/** Reads a value and returns it as a plain view, because lmdb overrides `length` on the buffer that it returns. */
function read(
  database: Database,
  key: Buffer,
  options?: { transaction: Transaction },
): Uint8Array | undefined {
  const fast = database as unknown as {
    getBinaryFast(key: Buffer, options?: object): Buffer | undefined;
    lastSize: number;
  };
  let value: Buffer | undefined;
  try {
    value = fast.getBinaryFast(key, options);
  } catch (error) {
    throw translate(error); // the tree of the file is damaged
  }
  return value && new Uint8Array(value.buffer, value.byteOffset, fast.lastSize);
}
