/**
 * Stores the text of long segments in files instead of in LMDB. Reading a page from a file takes two thirds of the time
 * that LMDB needs, because the system copies only this page, directly to its destination. In a data directory, the file
 * `text/NUMBER` contains the text of the segment with this number. LMDB stores the seals of the text's blocks, and
 * determines which segments exist. The next writer deletes the files that no segment needs.
 *
 * append() and retire() change the folder. REQUIRES: they are called in a write transaction that has checked the lease.
 * So a process that has lost the lease never changes the files of the process that has it now.
 */

import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writevSync,
} from "node:fs";
import { open, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { LruCache } from "../../base/lru-cache.ts";
import { BLOCK_BYTES } from "../format/format.ts";
import { SEAL_BYTES } from "../format/sealed.ts";
import type { TextSeals } from "../format/text-seals.ts";
import { translate, translated } from "./failures.ts";

const FOLDER = "text";
/** The suffix of the name of a file that sweep() deletes. */
const GONE = ".gone";
/** The maximum number of files that a thread keeps open for one data directory. */
const MOST_OPEN = 64;

interface OpenFile extends TextSeals {
  readonly descriptor: number;
}

/** The text files of a data directory, as one thread sees them. */
export class TextFiles {
  readonly #folder: string;
  readonly #opened = new LruCache<number, OpenFile>({
    most: MOST_OPEN,
    onEvict: ({ descriptor }) => closeSync(descriptor),
  });
  /** The file that was read last. It is the most recently used file of the cache, so it is never evicted. */
  #last: { readonly segment: number; readonly file: OpenFile } | undefined;
  /** A buffer for the block that was read last, and its seal. */
  readonly #block = new Uint8Array(BLOCK_BYTES + SEAL_BYTES);

  constructor(directory: string) {
    this.#folder = join(directory, FOLDER);
  }

  isOpen(segment: number): boolean {
    return this.#opened.has(segment);
  }

  /** Opens the file of a segment. Returns false if the file does not exist. REQUIRES: the file is not open. */
  open(segment: number, seals: TextSeals): boolean {
    this.#closeDeleted();
    const descriptor = ifThere(() => openSync(this.pathOf(segment), "r"));
    this.#last = undefined;
    if (descriptor !== undefined) this.#opened.set(segment, { ...seals, descriptor });
    return descriptor !== undefined;
  }

  /**
   * Returns a block followed by its seal. The result is valid until the next block is read. Returns undefined if the
   * file is not open or has no such block.
   */
  block(segment: number, block: number): Uint8Array | undefined {
    const file = this.#fileOf(segment);
    const seal = file?.seals[block];
    if (seal === undefined) return undefined;
    const { blockBytes, textBytes } = file!;
    const from = block * blockBytes;
    const length = Math.min(blockBytes, textBytes - from);
    if (!this.copy(segment, from, from + length, this.#block, 0)) return undefined;
    new DataView(this.#block.buffer).setUint32(length, seal, true);
    return this.#block.subarray(0, length + SEAL_BYTES);
  }

  /**
   * Copies the bytes [from, to) of a segment's text to `target` at `at`, without checking any seal. Returns false if
   * the file is not open or is too short.
   */
  copy(segment: number, from: number, to: number, target: Uint8Array, at: number): boolean {
    const file = this.#fileOf(segment);
    if (!file) return false;
    try {
      for (let next = from; next < to;) {
        const bytes = readSync(file.descriptor, target, at + next - from, to - next, next);
        if (bytes === 0) return false;
        next += bytes;
      }
      return true;
    } catch (error) {
      throw translate(error);
    }
  }

  /** Returns the seal of a block. REQUIRES: the file is open and has this block. */
  seal(segment: number, block: number): number {
    return this.#fileOf(segment)!.seals[block]!;
  }

  #fileOf(segment: number): OpenFile | undefined {
    if (this.#last?.segment !== segment) {
      const file = this.#opened.get(segment);
      this.#last = file && { segment, file };
    }
    return this.#last?.file;
  }

  /**
   * Writes blocks to the file of a segment, starting at byte `from` of the text. If `from` is 0, creates a new file.
   * The file is closed afterwards. Otherwise a process could still write to it after another process has taken the
   * lease.
   */
  append(segment: number, from: number, blocks: readonly Uint8Array[]): void {
    const path = this.pathOf(segment);
    translated(() => {
      if (from === 0) {
        mkdirSync(this.#folder, { recursive: true });
        rmSync(path, { force: true }); // an interrupted run may have left a file
      }
      const descriptor = openSync(path, from === 0 ? "wx" : "r+");
      try {
        writeAll(descriptor, blocks, from);
      } finally {
        closeSync(descriptor);
      }
    });
  }

  /** Resolves when the files of these segments are on the disk. Ignores segments without a file. */
  async sync(segments: readonly number[]): Promise<void> {
    let hasFiles = false;
    for (const segment of segments) {
      // Windows flushes a file only if it is open for writing
      const file = await open(this.pathOf(segment), "r+").catch(ifMissing);
      if (!file) continue;
      hasFiles = true;
      await flush(file);
    }
    if (!hasFiles || process.platform === "win32") return; // Windows cannot flush a folder
    for (const folder of [this.#folder, join(this.#folder, "..")])
      await flush(await open(folder, "r").catch(failed));
  }

  /** Returns the segments that have a file. */
  segments(): number[] {
    return this.#names()
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  }

  /**
   * Renames the files of these segments, so that they are no longer in use. sweep() deletes the renamed files later,
   * because deleting a long file takes long.
   */
  retire(segments: Iterable<number>): void {
    for (const segment of segments) {
      const path = this.pathOf(segment);
      if (existsSync(path)) translated(() => renameSync(path, path + GONE));
    }
  }

  /** Deletes the files that retire() has renamed. */
  async sweep(): Promise<void> {
    this.#closeDeleted();
    for (const name of this.#names().filter((one) => one.endsWith(GONE)))
      await rm(join(this.#folder, name), { force: true }).catch(failed);
  }

  /** Closes all files of this thread. */
  close(): void {
    for (const [segment] of this.#files()) this.#close(segment);
  }

  /** Closes the files that were deleted. The system frees the space of a deleted file only when the file is closed. */
  #closeDeleted(): void {
    for (const [segment, { descriptor }] of this.#files())
      if (fstatSync(descriptor).nlink === 0) this.#close(segment);
  }

  /** Returns a list of the open files. The caller may close files while going through this list. */
  #files(): (readonly [segment: number, file: OpenFile])[] {
    const segments = Array.from(this.#opened.keys());
    return segments.map((segment) => [segment, this.#opened.get(segment)!]);
  }

  #close(segment: number): void {
    closeSync(this.#opened.get(segment)!.descriptor);
    this.#opened.delete(segment);
    this.#last = undefined;
  }

  #names(): string[] {
    return ifThere(() => readdirSync(this.#folder)) ?? [];
  }

  /** Returns the path of the file that a segment has, if it has one. */
  pathOf(segment: number): string {
    return join(this.#folder, String(segment));
  }
}

/** Writes blocks one after another. Uses a single system call if the system accepts all bytes at once. */
function writeAll(descriptor: number, blocks: readonly Uint8Array[], from: number): void {
  const left = [...blocks];
  for (let at = from; left.length > 0;) {
    let bytes = writevSync(descriptor, left, at);
    at += bytes;
    while (left.length > 0 && bytes >= left[0]!.length) bytes -= left.shift()!.length;
    if (bytes > 0) left[0] = left[0]!.subarray(bytes);
  }
}

const failed = (error: unknown): never => {
  throw translate(error);
};

/** Returns undefined if the error says that a file or folder does not exist. Throws any other error. */
const ifMissing = (error: unknown): undefined =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")
    ? undefined
    : failed(error);

/** Returns what `work` returns, or undefined if the file or folder does not exist. */
function ifThere<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    return ifMissing(error);
  }
}

/** Flushes a file or folder to the disk, and closes it. */
async function flush(file: FileHandle): Promise<void> {
  try {
    await file.sync().catch(failed);
  } finally {
    await file.close();
  }
}
