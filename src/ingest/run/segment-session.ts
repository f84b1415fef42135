/**
 * Fills one segment on a thread. A session reads, classifies and hashes the files of each batch, and adds them to the
 * segment, until the segment is full or the run ends. The segment stores equal contents of one language only once. If a
 * stored segment already has the content of a new repository's file, the file goes to a segment that borrows this content
 * (sharing.ts).
 */

import { isAscii } from "node:buffer";
import { hash as digest } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { sep } from "node:path";
import { throwIfOutOfFiles } from "../../base/out-of-files.ts";
import { HeldFolder, openFile } from "../../base/no-follow.ts";
import { HASH_BYTES, NO_BLOB, OVERLAP, PAGE_BYTES } from "../../store/format/format.ts";
import { GrowableWords } from "../../base/growable.ts";
import { createGramLists, type GramLists } from "../../kernel/gram-lists.ts";
import { createKernel, type Kernel } from "../../kernel/kernel.ts";
import { PageGrams } from "../../kernel/page-grams.ts";
import { classFlags, skipFlags } from "../../store/segments/segment-tables.ts";
import type { SegmentTarget } from "../../store/segments/segment-target.ts";
import {
  SegmentWriter,
  type Content,
  type GramSource,
  type WrittenSegment,
} from "../../store/segments/segment-writer.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import type { SkipReason } from "../../store/format/records.ts";
import type { TaskContext } from "../../threads/task.ts";
import type { Batch, BatchFile, BatchResult, FinishResult, Outcome } from "./batch.ts";
import { classify } from "../classification/classify.ts";
import { Sharing, type Lender } from "./sharing.ts";

/** Returns the target to which a segment is written. `owner` holds the write lease. */
export type TargetOf = (segment: number, owner: string) => SegmentTarget;

export class SegmentSession {
  readonly #targetOf: TargetOf;
  readonly #kernel: Kernel = createKernel();
  readonly #grams: GramLists = createGramLists(this.#kernel, PAGE_BYTES + OVERLAP);
  /** Folds the text of pages that get no posting lists. Created when it is first needed. */
  #pages: PageGrams | undefined;
  #buffer = Buffer.allocUnsafe(256 * 1024);
  /** The open folder of the last file that was read. Most files are in the same folder as the file before. */
  readonly #held = new HeldFolder();
  // the open segment
  #writer: SegmentWriter | undefined;
  #folds = new GrowableWords();
  // the files of the open segment that borrow content from stored segments
  #sharing: Sharing | undefined;
  #batch: Batch | undefined;

  constructor(targetOf: TargetOf) {
    this.#targetOf = targetOf;
  }

  async add(batch: Batch, pause: TaskContext["pause"]): Promise<BatchResult> {
    this.#batch = batch;
    const stored = batch.leastSharedBytes < Infinity ? this.#snapshot(batch) : undefined;
    const outcomes: Outcome[] = [];
    let isFull = false;
    try {
      if (stored) this.#sharing ??= sharingOf(stored, batch);
      for (const file of batch.files) {
        const outcome = this.#addFile(batch, file, stored);
        isFull = !outcome;
        if (!outcome) break;
        outcomes.push(outcome);
        const wait = pause();
        if (!wait) continue;
        this.#held.close(); // the folder may be moved while this thread pauses
        await wait;
      }
    } finally {
      this.#held.close();
      stored?.close();
    }
    const lenders = this.#sharing?.lenders.length ?? 0;
    return { outcomes, isFull: isFull || this.#bytes >= batch.memoryBytes, lenders };
  }

  #snapshot({ segment, owner }: Batch): Snapshot {
    return this.#targetOf(segment, owner).environment.snapshot();
  }

  /**
   * Writes the open segment, if there is one, and the segments that borrow content. `segments` contains one segment
   * number for each lender.
   */
  finish(segments: readonly number[]): FinishResult {
    const batch = this.#batch;
    if (!batch) return [];
    const written = this.#sharing ? this.#finishSharing(this.#sharing, batch, segments) : [];
    if (this.#writer) {
      const words = this.#folds.view.slice();
      const visitAll: GramSource = (visit) => this.#grams.forEach(visit);
      written.push(this.#writer.finish(this.#kernel, visitAll, words));
    }
    this.discard();
    return written;
  }

  /**
   * Writes the segments that borrow content. If too little would be borrowed from a lender, its content is copied to
   * the open segment instead.
   */
  #finishSharing(sharing: Sharing, batch: Batch, segments: readonly number[]): WrittenSegment[] {
    const snapshot = this.#snapshot(batch);
    const written: WrittenSegment[] = [];
    try {
      sharing.lenders.forEach((lender, i) => {
        if (!sharing.isWorthIt(lender)) return this.#copyFrom(lender, batch, snapshot);
        const writer = new SegmentWriter(this.#targetOf(segments[i]!, batch.owner), batch.layout);
        for (const file of lender.files) writer.addFile(file);
        const { header, files } = lender.reader;
        const paths = lender.reader.paths(snapshot);
        written.push(writer.finishBorrowing({ header, files, paths }));
      });
    } finally {
      snapshot.close();
    }
    return written;
  }

  #copyFrom({ reader, files }: Lender, batch: Batch, snapshot: Snapshot): void {
    const hashes = reader.hashes(snapshot);
    for (const file of files) {
      const hash = hashes.subarray(HASH_BYTES * file.blob, HASH_BYTES * (file.blob + 1));
      const content = { hash, language: file.language };
      const blob =
        this.#writer?.findBlob(content) ??
        this.#addBlob(batch, content, reader.blobText(snapshot, file.blob));
      this.#open(batch).addFile({ ...file, blob });
    }
  }

  /** Drops the open segment. The next write deletes the parts of the segment that are already on disk. */
  discard(): void {
    this.#writer = undefined;
    this.#folds = new GrowableWords();
    this.#grams.clear();
    this.#sharing = undefined;
    this.#batch = undefined;
  }

  get #bytes(): number {
    const { memory = 0 } = this.#sharing ?? {};
    return this.#grams.bytes + (this.#writer?.bytes ?? 0) + memory;
  }

  /**
   * Adds a file. Returns undefined if the segment is full. If the snapshot `stored` is given, the file may borrow
   * content from it.
   */
  #addFile(batch: Batch, file: BatchFile, stored: Snapshot | undefined): Outcome | undefined {
    if ("skipped" in file.content) return this.#list(batch, file, file.content.skipped);
    const content = this.#read(file.content, batch.maxFileSize);
    if (typeof content === "string") return { kind: "skipped", bytes: 0, reason: content };
    const classified = classify(file.path, content);
    if (classified.kind === "skipped")
      return { kind: "skipped", bytes: content.length, reason: classified.reason };
    const { bytes, language, flags } = classified;
    const hash = contentHash(bytes);
    const known = indexOfHash(file.known, hash);
    if (known >= 0) return { kind: "same", known, bytes: content.length };
    const added = { kind: "added", bytes: content.length, textBytes: bytes.length } as const;
    const found = { language, flags: classFlags(flags) };
    let blob = this.#writer?.findBlob({ hash, language });
    if (blob === undefined) {
      if (this.#isFull(batch, bytes.length)) return undefined;
      const shared = stored && this.#sharing!.find(stored, { hash, text: bytes, language });
      if (shared) {
        this.#sharing!.add(shared, { ...fileOf(batch, file), ...found });
        return added;
      }
      blob = this.#addBlob(batch, { hash, language }, bytes);
    }
    this.#put(batch, file, { blob, ...found });
    return added;
  }

  #isFull(batch: Batch, bytes: number): boolean {
    const own = this.#writer?.textBytes ?? 0;
    const found = this.#sharing?.undecidedBytes ?? 0;
    if (own + found === 0 && !this.#writer?.blobs && !this.#sharing?.lenders.length) return false;
    return own + found + bytes > batch.segmentBytes || this.#bytes >= batch.memoryBytes;
  }

  #open(batch: Batch): SegmentWriter {
    const { segment, owner, layout } = batch;
    return (this.#writer ??= new SegmentWriter(this.#targetOf(segment, owner), layout));
  }

  #addBlob(batch: Batch, content: Content, bytes: Uint8Array): number {
    const writer = this.#open(batch);
    let page = writer.pages;
    const blob = writer.addBlob(content, bytes);
    while (32 * this.#folds.length < writer.pages) this.#folds.push(0);
    // a page is marked only if it has a code point beyond ASCII that folding changes
    if (batch.hasNoLists && isAscii(bytes)) return blob;
    const { pageBytes } = batch.layout;
    for (let from = 0; from < bytes.length; from += pageBytes, page++) {
      const text = bytes.subarray(from, from + pageBytes + OVERLAP);
      const folds = batch.hasNoLists ? this.#foldsIn(text) : this.#grams.add(text);
      if (folds) this.#folds.view[page >>> 5]! |= 1 << (page & 31);
    }
    return blob;
  }

  #foldsIn(text: Uint8Array): boolean {
    this.#pages ??= new PageGrams(this.#kernel, PAGE_BYTES + OVERLAP);
    this.#kernel.bytes.set(text, this.#pages.at);
    return this.#pages.load(text.length);
  }

  #put(
    batch: Batch,
    file: BatchFile,
    found: { blob: number; language: string; flags: number },
  ): void {
    this.#open(batch).addFile({ ...fileOf(batch, file), ...found });
  }

  #list(batch: Batch, file: BatchFile, reason: SkipReason): Outcome {
    this.#put(batch, file, { blob: NO_BLOB, language: "", flags: skipFlags(reason) });
    return { kind: "listed", bytes: 0 };
  }

  #read(
    content: Exclude<BatchFile["content"], { readonly skipped: SkipReason }>,
    maxFileSize: number,
  ): Uint8Array | SkipReason {
    if ("bytes" in content) return content.bytes.length > maxFileSize ? "too-large" : content.bytes;
    try {
      return this.#readFile(content, maxFileSize);
    } catch (error) {
      throwIfOutOfFiles(error);
      return "unreadable"; // the file was deleted after it was listed, or may not be read
    }
  }

  /**
   * Opens the folder of a file, and returns a path to the file through the open folder. Returns undefined if a folder
   * on the way is a symlink.
   */
  #placeOf(file: string): string | undefined {
    const slash = file.lastIndexOf(sep);
    const place = this.#held.open(file.slice(0, Math.max(slash, 1)));
    return place && place + file.slice(slash);
  }

  /** Reads a file into a buffer, and returns the part that was read. The next call overwrites the buffer. */
  #readFile(
    { file, isPinned = false }: Extract<BatchFile["content"], { readonly file: string }>,
    maxFileSize: number,
  ): Uint8Array | SkipReason {
    const place = isPinned ? this.#placeOf(file) : file;
    if (place === undefined) return "unreadable";
    // the file may have become a symlink or a pipe; openFile() neither follows symlinks nor waits for pipes
    const descriptor = openFile(place);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile()) return "unreadable";
      const { size } = stat;
      if (size > maxFileSize) return "too-large";
      if (size > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(2 * size);
      let length = 0;
      while (length < size) {
        const read = readSync(descriptor, this.#buffer, length, size - length, null);
        if (read === 0) break; // the file was truncated after fstat
        length += read;
      }
      return this.#buffer.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  }
}

const sharingOf = (
  stored: Snapshot,
  { memoryBytes, leastSharedBytes: leastBytes }: Batch,
): Sharing => new Sharing(stored, { memoryBytes: memoryBytes / 4, leastBytes });

const fileOf = ({ repository }: Batch, { path, version, revisions }: BatchFile) => ({
  repository,
  path: Buffer.from(path),
  version,
  revisions,
});

const contentHash = (text: Uint8Array): Buffer =>
  digest("sha256", text, "buffer").subarray(0, HASH_BYTES);

function indexOfHash(known: Uint8Array, hash: Uint8Array): number {
  for (let at = 0; at < known.length; at += HASH_BYTES)
    if (Buffer.compare(known.subarray(at, at + HASH_BYTES), hash) === 0) return at / HASH_BYTES;
  return -1;
}
