/**
 * Reads from LMDB's data file how much of it is in use, and extends the file before LMDB needs more space. The file
 * begins with two meta pages. They have these fields, by byte offset: magic 24, page size 48, last page 144,
 * transaction 152. Bytes after the last page have no meaning. LMDB overwrites them when it needs more pages.
 */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { QuernError } from "../../base/errors.ts";
import { needFiles } from "../../base/out-of-files.ts";
import { isDiskFull, translated } from "./failures.ts";
import { corrupt } from "../format/sealed.ts";

const MAGIC = 0xbeefc0de;
/** The zeros that extend the file. They are written as often as necessary. */
const ZEROS = Buffer.alloc(256 * 1024);
/**
 * The number of bytes that a transaction needs in addition to its values. These bytes are for the upper pages of the
 * tree and the list of free pages.
 */
export const LEAST_ROOM_BYTES = 64 * 1024;

interface Meta {
  /** The length in use, in bytes. */
  readonly bytes: number;
  readonly transaction: number;
}

/**
 * Returns the length in use according to the newest meta page. Returns undefined if the file does not have both meta
 * pages.
 */
function bytesInUse(descriptor: number): number | undefined {
  const head = Buffer.alloc(4096 + 160);
  if (readSync(descriptor, head, 0, head.length, 0) < head.length) return undefined;
  const [first, second] = [parseMeta(head), parseMeta(head.subarray(4096))];
  if (!first || !second) return undefined;
  return (first.transaction > second.transaction ? first : second).bytes;
}

function parseMeta(meta: Buffer): Meta | undefined {
  if (meta.readUInt32LE(24) !== MAGIC) return undefined;
  return {
    bytes: (Number(meta.readBigUInt64LE(144)) + 1) * meta.readUInt32LE(48),
    transaction: Number(meta.readBigUInt64LE(152)),
  };
}

/**
 * Throws INDEX_CORRUPT if the file is truncated or does not begin with LMDB's meta pages. LMDB maps the file, so
 * reading a missing page would kill the process.
 */
export function refuseTruncated(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return;
  const descriptor = translated(() => openSync(file, "r"));
  try {
    const bytes = bytesInUse(descriptor);
    if (bytes === undefined && size >= 4096 + 160)
      throw corrupt("the data file does not begin with the header of one");
    if (bytes === undefined || size < bytes) throw corrupt("the data file is cut short");
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Throws INVALID_REQUEST if the file has more than one hard link, as after `cp -al`. LMDB changes the file in place, so
 * a write would damage the other directory, which lacks the text files of the write.
 */
export function refuseLinked(file: string): void {
  const links = statSync(file, { throwIfNoEntry: false })?.nlink ?? 1;
  if (links <= 1) return;
  throw new QuernError(
    "INVALID_REQUEST",
    `open: ${file} has ${links} hard links, so a write would damage a copy of the directory; make a copy of the content (cp -a) and delete the other links, or use readOnly: true`,
  );
}

/**
 * Extends the data file before LMDB does. If LMDB itself fails to write, the process may end, because LMDB's error
 * message can overflow its buffer. If this class extends the file first, a full disk, a quota or a file limit causes a
 * system error instead. The transaction is then given up before LMDB writes.
 *
 * As a result, new bytes are written twice, but the first time only into the system's cache. While the file is open, it
 * may be longer than the length in use, by at most the bytes of one transaction.
 */
export class Room {
  readonly #file: string;
  #descriptor: number | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Makes the file at least `bytes` longer than the length in use. REQUIRES: the call is within a write transaction, so
   * that nobody else writes.
   */
  ensure(bytes: number): void {
    if (process.platform === "win32") return; // on Windows, LMDB itself extends the file
    const descriptor = (this.#descriptor ??= openSync(this.#file, "r+"));
    const inUse = bytesInUse(descriptor);
    const { size } = fstatSync(descriptor);
    if (inUse !== undefined && size < inUse + bytes) lengthen(descriptor, size, inUse + bytes);
  }

  get isUsed(): boolean {
    return this.#descriptor !== undefined;
  }

  /**
   * Truncates the file after its last page. The file must end there once it is closed. Otherwise refuseTruncated()
   * could not detect later that the file was truncated. REQUIRES: the same as ensure().
   */
  trim(): void {
    const inUse = bytesInUse(this.#descriptor!);
    if (inUse !== undefined && fstatSync(this.#descriptor!).size > inUse)
      ftruncateSync(this.#descriptor!, inUse);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/**
 * Throws if LMDB could not open its files. LMDB crashes if no file descriptor is free. It also crashes if the disk is
 * full and no data file exists yet, because it cannot write its first pages. LMDB reports other failures itself.
 */
export function probe(file: string): void {
  needFiles();
  if (existsSync(file)) return;
  const room = join(dirname(file), `.room-${randomBytes(8).toString("hex")}`);
  try {
    writeFileSync(room, ZEROS.subarray(0, 2 * LEAST_ROOM_BYTES));
  } catch (error) {
    if (isDiskFull(error)) throw error;
  } finally {
    rmSync(room, { force: true });
  }
}

export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    // with `recursive`, Node reports ENOENT for a read-only disk or an exceeded quota; without it, Node reports the
    // true cause
    if ((error as NodeJS.ErrnoException).code === "ENOENT") mkdirSync(path);
    throw error;
  }
}

function lengthen(descriptor: number, from: number, to: number): void {
  try {
    for (let at = from; at < to;)
      at += writeSync(descriptor, ZEROS, 0, Math.min(ZEROS.length, to - at), at);
  } catch (error) {
    ftruncateSync(descriptor, from); // a full disk has no space left even for zeros
    throw error;
  }
}
