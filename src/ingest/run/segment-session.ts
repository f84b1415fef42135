/**
 * Fills one segment on a thread. It reads, classifies, hashes and adds the files of one batch after another, until
 * the segment is full or the run ends. Content that the segment already has is not added again.
 */

import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { isAtPath, openFile } from "../../base/no-follow.ts";
import {
  HASH_BYTES,
  NO_BLOB,
  OVERLAP,
  PAGE_BYTES,
  SEGMENT_BYTES,
} from "../../store/format/format.ts";
import { GrowableWords } from "../../base/growable.ts";
import { createGramLists, type GramLists } from "../../kernel/gram-lists.ts";
import { createKernel, type Kernel } from "../../kernel/kernel.ts";
import { classFlags, skipFlags } from "../../store/segments/segment-tables.ts";
import type { SegmentTarget } from "../../store/segments/segment-target.ts";
import { SegmentWriter } from "../../store/segments/segment-writer.ts";
import type { SkipReason } from "../../store/format/records.ts";
import type { TaskContext } from "../../threads/task.ts";
import type { Batch, BatchFile, BatchResult, FinishResult, Outcome } from "./batch.ts";
import { classify } from "../classification/classify.ts";

/** Returns the target for a segment. `owner` holds the write lease. */
export type TargetOf = (segment: number, owner: string) => SegmentTarget;

export class SegmentSession {
  readonly #targetOf: TargetOf;
  readonly #kernel: Kernel = createKernel();
  readonly #grams: GramLists = createGramLists(this.#kernel, PAGE_BYTES + OVERLAP);
  #buffer = Buffer.allocUnsafe(256 * 1024);
  // the open segment
  #writer: SegmentWriter | undefined;
  #blobs = new Map<string, number>();
  #folds = new GrowableWords();

  constructor(targetOf: TargetOf) {
    this.#targetOf = targetOf;
  }

  async add(batch: Batch, pause: TaskContext["pause"]): Promise<BatchResult> {
    const outcomes: Outcome[] = [];
    for (const file of batch.files) {
      const outcome = this.#addFile(batch, file);
      if (!outcome) return { outcomes, isFull: true };
      outcomes.push(outcome);
      const turn = pause();
      if (turn) await turn;
    }
    return { outcomes, isFull: this.#bytes >= batch.memoryBytes };
  }

  /** Writes the open segment, if there is one. */
  finish(): FinishResult {
    if (!this.#writer) return undefined;
    const words = this.#folds.view.slice();
    const result = this.#writer.finish(this.#kernel, (visit) => this.#grams.forEach(visit), words);
    this.discard();
    return result;
  }

  /** Drops the open segment. The next writer deletes the parts of it that were written. */
  discard(): void {
    this.#writer = undefined;
    this.#blobs = new Map();
    this.#folds = new GrowableWords();
    this.#grams.clear();
  }

  get #bytes(): number {
    return this.#grams.bytes + (this.#writer?.bytes ?? 0) + this.#blobs.size * 120;
  }

  /** Adds a file. Returns undefined if the segment is full. */
  #addFile(batch: Batch, file: BatchFile): Outcome | undefined {
    if ("skipped" in file.content) return this.#list(batch, file, file.content.skipped);
    const content = this.#read(file.content, batch.maxFileSize);
    if (typeof content === "string") return { kind: "skipped", bytes: 0, reason: content };
    const classified = classify(file.path, content);
    if (classified.kind === "skipped")
      return { kind: "skipped", bytes: content.length, reason: classified.reason };
    const { bytes, language, flags } = classified;
    const hash = createHash("sha256").update(bytes).digest().subarray(0, HASH_BYTES);
    const known = indexOfHash(file.known, hash);
    if (known >= 0) return { kind: "same", known, bytes: content.length };
    const name = hash.toString("latin1");
    let blob = this.#blobs.get(name);
    if (blob === undefined) {
      if (this.#isFull(batch, bytes.length)) return undefined;
      blob = this.#addBlob(batch, hash, bytes);
      this.#blobs.set(name, blob);
    }
    this.#put(batch, file, { blob, language, flags: classFlags(flags) });
    return { kind: "added", bytes: content.length, textBytes: bytes.length };
  }

  #isFull(batch: Batch, bytes: number): boolean {
    if (!this.#writer || this.#writer.blobs === 0) return false;
    return this.#writer.textBytes + bytes > SEGMENT_BYTES || this.#bytes >= batch.memoryBytes;
  }

  #open(batch: Batch): SegmentWriter {
    const { segment, owner } = batch;
    return (this.#writer ??= new SegmentWriter(this.#targetOf(segment, owner)));
  }

  #addBlob(batch: Batch, hash: Uint8Array, bytes: Uint8Array): number {
    const blob = this.#open(batch).addBlob(hash, bytes);
    for (let from = 0; from < bytes.length; from += PAGE_BYTES) {
      const page = this.#grams.pages;
      const folds = this.#grams.add(bytes.subarray(from, from + PAGE_BYTES + OVERLAP));
      if (page % 32 === 0) this.#folds.push(0);
      if (folds) this.#folds.view[page >>> 5]! |= 1 << (page & 31);
    }
    return blob;
  }

  #put(
    batch: Batch,
    { path, version, revisions }: BatchFile,
    found: { blob: number; language: string; flags: number },
  ): void {
    const { repository } = batch;
    this.#open(batch).addFile({
      repository,
      path: Buffer.from(path),
      version,
      revisions,
      ...found,
    });
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
    } catch {
      return "unreadable"; // deleted since it was listed, or not readable
    }
  }

  /** Reads a file into a buffer that is reused for the next file. */
  #readFile(
    { file, isPinned = false }: Extract<BatchFile["content"], { readonly file: string }>,
    maxFileSize: number,
  ): Uint8Array | SkipReason {
    // the path may be a symlink or a pipe by now; openFile() neither follows a symlink nor waits for a pipe
    const descriptor = openFile(file);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile() || (isPinned && !isAtPath(descriptor, file))) return "unreadable";
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

function indexOfHash(known: Uint8Array, hash: Uint8Array): number {
  for (let at = 0; at < known.length; at += HASH_BYTES)
    if (Buffer.compare(known.subarray(at, at + HASH_BYTES), hash) === 0) return at / HASH_BYTES;
  return -1;
}
