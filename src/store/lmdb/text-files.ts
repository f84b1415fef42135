/**
 * Stores the text of long segments in files of their own. From a file, a page is read in two thirds of the time that LMDB
 * needs, because the system copies just this page, to where it is wanted. The file `text/NUMBER` of a data directory has the
 * text of the segment with this number. LMDB has the seals of its blocks, and decides which segments exist. The next
 * writer deletes the files that no segment needs.
 *
 * append() and retire() change the folder. REQUIRES: they are called in a write transaction that has checked the
 * lease, so that a process that has lost the lease never touches the files of the next one.
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
/** The ending of the name of a file that sweep() deletes. */
const GONE = ".gone";
/** The most files that a thread keeps open for one data directory. */
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
  /** The file that was read last. It is the most recently used one, so it is never evicted. */
  #last: { readonly segment: number; readonly file: OpenFile } | undefined;
  /** The block that was read last, with its seal. */
  readonly #block = new Uint8Array(BLOCK_BYTES + SEAL_BYTES);

  constructor(directory: string) {
    this.#folder = join(directory, FOLDER);
  }

  isOpen(segment: number): boolean {
    return this.#opened.has(segment);
  }

  /** Opens the file of a segment. Returns whether it exists. REQUIRES: it is not open. */
  open(segment: number, seals: TextSeals): boolean {
    this.#closeDeleted();
    const descriptor = ifThere(() => openSync(this.#pathOf(segment), "r"));
    this.#last = undefined;
    if (descriptor !== undefined) this.#opened.set(segment, { ...seals, descriptor });
    return descriptor !== undefined;
  }

  /**
   * Returns a block with its seal, which is valid until the next block is read. Returns undefined if the file has no
   * such block, or is not open.
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
   * Copies text [from, to) to `target` at `at`, without checking any seal. Returns false if the file is shorter, or not
   * open.
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

  #fileOf(segment: number): OpenFile | undefined {
    if (this.#last?.segment !== segment) {
      const file = this.#opened.get(segment);
      this.#last = file && { segment, file };
    }
    return this.#last?.file;
  }

  /**
   * Writes blocks from byte `from` of the text on. If `from` is 0, makes a new file. The file does not stay open:
   * otherwise a process could still write to it after another one has taken the lease.
   */
  append(segment: number, from: number, blocks: readonly Uint8Array[]): void {
    const path = this.#pathOf(segment);
    translated(() => {
      if (from === 0) {
        mkdirSync(this.#folder, { recursive: true });
        rmSync(path, { force: true }); // an interrupted run may have left one
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
      const file = await open(this.#pathOf(segment), "r+").catch(ifMissing); // Windows flushes only what may be written
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

  /** Gives the files of these segments up. sweep() deletes them, because deleting a long file takes long. */
  retire(segments: Iterable<number>): void {
    for (const segment of segments) {
      const path = this.#pathOf(segment);
      if (existsSync(path)) translated(() => renameSync(path, path + GONE));
    }
  }

  /** Deletes the files that were given up. */
  async sweep(): Promise<void> {
    this.#closeDeleted();
    for (const name of this.#names().filter((one) => one.endsWith(GONE)))
      await rm(join(this.#folder, name), { force: true }).catch(failed);
  }

  /** Closes all files of this thread. */
  close(): void {
    for (const [segment] of this.#files()) this.#close(segment);
  }

  /** Closes the files that were deleted, because the system keeps their space until then. */
  #closeDeleted(): void {
    for (const [segment, { descriptor }] of this.#files())
      if (fstatSync(descriptor).nlink === 0) this.#close(segment);
  }

  /** Returns the open files, as a list that stays as it is while some are closed. */
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

  #pathOf(segment: number): string {
    return join(this.#folder, String(segment));
  }
}

/** Writes blocks one after another, in one call if the system takes them all. */
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
