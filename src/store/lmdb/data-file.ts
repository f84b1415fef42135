/**
 * What LMDB's data file says of its own length, and room in it. Its two meta pages say how many pages there
 * are: magic at 24, size of a page at 48, last page at 144, transaction at 152. Bytes behind the last
 * page mean nothing; LMDB writes over them when it needs more.
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
import { errorName, translated } from "./failures.ts";
import { corrupt } from "../format/sealed.ts";

const MAGIC = 0xbeefc0de;
/** Of what is written behind the last page at once. */
const ZEROS = Buffer.alloc(256 * 1024);
/** What a transaction takes beside its values: the upper pages of the tree, the list of free pages. */
export const LEAST_ROOM_BYTES = 64 * 1024;

interface Described {
  readonly bytes: number;
  readonly transaction: number;
}

/** By its newest meta page; undefined: it has not two of them. */
function bytesInUse(descriptor: number): number | undefined {
  const head = Buffer.alloc(4096 + 160);
  if (readSync(descriptor, head, 0, head.length, 0) < head.length) return undefined;
  const [first, second] = [describe(head), describe(head.subarray(4096))];
  if (!first || !second) return undefined;
  return (first.transaction > second.transaction ? first : second).bytes;
}

function describe(meta: Buffer): Described | undefined {
  if (meta.readUInt32LE(24) !== MAGIC) return undefined;
  return {
    bytes: (Number(meta.readBigUInt64LE(144)) + 1) * meta.readUInt32LE(48),
    transaction: Number(meta.readBigUInt64LE(152)),
  };
}

/** LMDB maps the file; touching a page that the file does not reach kills the process. */
export function refuseTruncated(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return;
  const descriptor = translated(() => openSync(file, "r"));
  try {
    const bytes = bytesInUse(descriptor);
    if (bytes === undefined && size >= 4096 + 160)
      throw corrupt("the data file does not begin as one");
    if (bytes === undefined || size < bytes) throw corrupt("the data file is cut short");
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Makes the data file longer before LMDB does. A write that LMDB itself is refused may end the process: what
 * it says of it may be longer than the buffer it says it in. So a full disk, a quota or a limit
 * refuses us, with a word of its own, and the transaction is given up before LMDB writes.
 *
 * Costs a second write of what is new, into the system's cache, and a transaction's bytes at the file's end while it is open.
 */
export class Room {
  readonly #file: string;
  #descriptor: number | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** For so many more bytes than are committed. REQUIRES: called within a write transaction, so that nobody else writes. */
  ensure(bytes: number): void {
    if (process.platform === "win32") return; // LMDB does so itself there
    const descriptor = (this.#descriptor ??= openSync(this.#file, "r+"));
    const inUse = bytesInUse(descriptor);
    const { size } = fstatSync(descriptor);
    if (inUse !== undefined && size < inUse + bytes) lengthen(descriptor, size, inUse + bytes);
  }

  get isUsed(): boolean {
    return this.#descriptor !== undefined;
  }

  /** A file at rest ends with its last page, or one that was cut short would not be known. REQUIRES: as ensure(). */
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
 * Throws what a full disk says where there is no data file yet: LMDB dies where it cannot write its first pages.
 * Other refusals are left to LMDB, which has words for them.
 */
export function askForRoom(file: string): void {
  if (existsSync(file)) return;
  const asked = join(dirname(file), `.room-${randomBytes(8).toString("hex")}`);
  try {
    writeFileSync(asked, ZEROS.subarray(0, 2 * LEAST_ROOM_BYTES));
  } catch (error) {
    if (isOutOfRoom(error)) throw error;
  } finally {
    rmSync(asked, { force: true });
  }
}

export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    // Node says so as well where the disk is read-only, or a quota is reached
    if ((error as NodeJS.ErrnoException).code === "ENOENT") mkdirSync(path);
    throw error;
  }
}

export const isOutOfRoom = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT", "EFBIG"].includes(errorName(error));

function lengthen(descriptor: number, from: number, to: number): void {
  try {
    for (let at = from; at < to;)
      at += writeSync(descriptor, ZEROS, 0, Math.min(ZEROS.length, to - at), at);
  } catch (error) {
    ftruncateSync(descriptor, from); // the last room is not for zeros
    throw error;
  }
}
