/**
 * Writes one segment. Text is written to the segment's file as it arrives, 2 MiB at a time. A shorter text is written
 * as values at the end. The tables are collected in columns, and are written at the end, too. Nobody reads a segment
 * before a manifest names it, so the order of these transactions does not matter. Each transaction checks the write
 * lease.
 *
 * Files share a blob if they have the same content and the same language, because the symbols of a blob depend on both.
 *
 * A writer takes memory for 129 blocks of text (2 MiB), 165 bytes for each blob, and 48 bytes and the path for each
 * file.
 */

import { bytesOf, GrowableBytes, GrowableWords } from "../../base/growable.ts";
import { emptyBitset, setBit, type Bitset } from "../../base/bitset.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Writer } from "../lmdb/environment.ts";
import {
  FILE_BLOCKS,
  HASH_BYTES,
  PART,
  segmentKey,
  versionsKey,
  type NewLayout,
  type Part,
} from "../format/format.ts";
import { sealOf } from "../format/sealed.ts";
import { encodeTextSeals } from "../format/text-seals.ts";
import { encodeVersions } from "./file-versions.ts";
import { listsOfText, PostingsWriter } from "./postings.ts";
import type { SegmentTarget } from "./segment-target.ts";
import { encodeFiles, encodePaths, encodeRuns } from "./file-tables.ts";
import { patchOf, pick, type Files } from "./lender-files.ts";
import { putHeader, type RepositoryFiles, type SegmentHeader } from "./segment-tables.ts";

/**
 * The number of posting blocks that one transaction writes. More blocks would make commits cheaper, but would block the
 * thread for longer.
 */
const TRANSACTION_BLOCKS = 128;

/** What identifies a blob of a segment. All files of a blob have its language. */
export interface Content {
  readonly hash: Uint8Array;
  readonly language: string;
}

const nameOf = ({ hash, language }: Content): string =>
  Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString("latin1") + language;

export interface NewFile {
  readonly repository: number;
  readonly path: Uint8Array;
  /** The file's blob, or NO_BLOB if the file is listed without content. */
  readonly blob: number;
  readonly language: string;
  readonly flags: number;
  /** The version of the file, which has HASH_BYTES bytes. All of them are zero if the version is unknown. */
  readonly version: Uint8Array;
  /** The numbers of the revisions that contain the file. */
  readonly revisions: readonly number[];
}

export interface WrittenSegment {
  readonly segment: number;
  /** The segment from which this segment borrows its content, if any. */
  readonly content?: number;
  readonly files: number;
  readonly textBytes: number;
  readonly sets: readonly RevisionSet[];
}

/** The set of a segment's files that belong to a revision. Bit 0 is the repository's first file in the segment. */
export interface RevisionSet {
  readonly repository: number;
  readonly segment: number;
  readonly revision: number;
  readonly bits: Bitset;
}

/** Calls `visit` with every gram and the gaps of its posting list, in ascending order of the grams. */
export type GramSource = (visit: (gram: number, gaps: Uint8Array) => void) => void;

/** The tables of a segment that lends its content. */
export interface LenderTables extends Files {
  readonly header: SegmentHeader;
}

interface FilesToStore {
  /** The numbers of all files, in the order of the segment. */
  readonly order: Uint32Array;
  readonly languages: readonly string[];
  /** The tables of the files that the segment does not borrow. */
  readonly stored: Files;
}

export class SegmentWriter {
  readonly layout: NewLayout;
  readonly #target: SegmentTarget;
  // text
  #block: Uint8Array<ArrayBuffer>;
  #blockLength = 0;
  /** The full blocks that are not written yet. */
  #blocks: Uint8Array[] = [];
  /** The memory of written blocks, which later blocks reuse. With new memory for each block, a run takes 7 % longer. */
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];
  #blocksWritten = 0;
  /** The seals of the blocks that were appended to the segment's file. */
  readonly #seals = new GrowableWords();
  // blobs
  readonly #blobStarts = new GrowableWords();
  readonly #hashes = new GrowableBytes();
  /** The number of each blob, by its hash and language. */
  readonly #blobNumbers = new Map<string, number>();
  textBytes = 0;
  pages = 0;
  // files, in the order of arrival
  readonly #repositories = new GrowableWords();
  readonly #blobs = new GrowableWords();
  readonly #languageOf = new GrowableWords();
  readonly #flags = new GrowableBytes();
  readonly #versions = new GrowableBytes();
  readonly #pathStarts = new GrowableWords();
  readonly #paths = new GrowableBytes();
  readonly #revisions: (readonly number[])[] = [];
  readonly #languages = new Map<string, number>();

  constructor(target: SegmentTarget, layout: NewLayout) {
    this.#target = target;
    this.layout = layout;
    this.#block = new Uint8Array(layout.blockBytes);
  }

  get segment(): number {
    return this.#target.segment;
  }

  get blobs(): number {
    return this.#blobStarts.length;
  }

  get files(): number {
    return this.#blobs.length;
  }

  /** The approximate number of bytes of memory that the writer takes. */
  get bytes(): number {
    return (
      this.blobs * 165 +
      this.files * 48 +
      this.#paths.length +
      (1 + this.#mostBlocks) * this.layout.blockBytes
    );
  }

  /** Returns the number of a blob that was added, or undefined. */
  findBlob(content: Content): number | undefined {
    return this.#blobNumbers.get(nameOf(content));
  }

  /** Appends a blob to the text, and returns the number of the blob. REQUIRES: the writer has no such blob. */
  addBlob(content: Content, text: Uint8Array): number {
    const blob = this.blobs;
    this.#blobNumbers.set(nameOf(content), blob);
    this.#blobStarts.push(this.textBytes);
    this.#hashes.push(content.hash);
    this.#addText(text);
    this.pages += Math.ceil(text.length / this.layout.pageBytes);
    return blob;
  }

  addFile(file: NewFile): void {
    let language = this.#languages.get(file.language);
    if (language === undefined)
      this.#languages.set(file.language, (language = this.#languages.size));
    this.#repositories.push(file.repository);
    this.#blobs.push(file.blob);
    this.#languageOf.push(language);
    this.#flags.pushByte(file.flags);
    this.#versions.push(file.version);
    this.#pathStarts.push(this.#paths.length);
    this.#paths.push(file.path);
    this.#revisions.push(file.revisions);
  }

  #addText(text: Uint8Array): void {
    const { blockBytes } = this.layout;
    this.textBytes += text.length;
    for (let at = 0; at < text.length;) {
      const piece = text.subarray(at, at + blockBytes - this.#blockLength);
      this.#block.set(piece, this.#blockLength);
      this.#blockLength += piece.length;
      at += piece.length;
      if (this.#blockLength === blockBytes) this.#endBlock();
    }
  }

  #endBlock(): void {
    this.#blocks.push(this.#block.subarray(0, this.#blockLength));
    this.#block = this.#spare.pop() ?? new Uint8Array(this.layout.blockBytes);
    this.#blockLength = 0;
    if (this.#blocks.length === this.#mostBlocks)
      this.#target.write((writer) => this.#flushText(writer));
  }

  /** The number of blocks that are flushed together. */
  get #mostBlocks(): number {
    return this.layout.fileBlocks ?? FILE_BLOCKS;
  }

  /**
   * Writes the collected blocks. If the text is long and the segment can have a file, the blocks are appended to the
   * file. Otherwise they are written as values.
   */
  #flushText(writer: Writer): void {
    const isLong = this.#seals.length > 0 || this.#blocks.length === this.#mostBlocks;
    if (isLong && this.#target.appendText) this.#appendText();
    else
      for (const block of this.#blocks)
        writer.put(segmentKey(this.segment, PART.TEXT, this.#blocksWritten++), block);
    for (const { buffer } of this.#blocks) this.#spare.push(new Uint8Array(buffer as ArrayBuffer));
    this.#blocks = [];
  }

  #appendText(): void {
    this.#target.appendText!(this.#blocksWritten * this.layout.blockBytes, this.#blocks);
    for (const block of this.#blocks)
      this.#seals.push(sealOf(segmentKey(this.segment, PART.TEXT, this.#blocksWritten++), block));
  }

  #putSeals(writer: Writer): void {
    const seals = this.#seals.view;
    if (seals.length === 0) return;
    const { blockBytes } = this.layout;
    this.#put(
      writer,
      PART.SEALS,
      ...encodeTextSeals({ blockBytes, textBytes: this.textBytes, seals }),
    );
  }

  /** Writes the rest of the segment. `folds` is the content of part FOLDS. */
  finish(kernel: Kernel, grams: GramSource, folds: Bitset): WrittenSegment {
    if (this.#blockLength > 0) this.#endBlock();
    const postings = new PostingsWriter(listsOfText(this.segment), this.pages, kernel);
    grams((gram, gaps) => {
      postings.add(gram, gaps);
      if (postings.pendingBlocks >= TRANSACTION_BLOCKS)
        this.#target.write((writer) => postings.flush(writer));
    });
    const order = this.#order();
    const languages = [...this.#languages.keys()];
    const stored = this.#tables(order, languages);
    return this.#putFiles({ order, languages, stored }, (writer) => {
      this.#flushText(writer);
      this.#putSeals(writer);
      const postingBlocks = postings.finish(writer);
      this.#putBlobs(writer, folds);
      const { pageBytes, blockBytes } = this.layout;
      return {
        pageBytes,
        blockBytes,
        content: this.segment,
        blobs: this.blobs,
        pages: this.pages,
        textBytes: this.textBytes,
        listBytes: postings.listBytes,
        postingBlocks,
      };
    });
  }

  /**
   * Writes the rest of a segment that borrows the content of `lender`. REQUIRES: the lender is not deleted, no blob was
   * added, and the blobs of all files are blobs of the lender.
   */
  finishBorrowing(lender: LenderTables): WrittenSegment {
    const languages = [...new Set([...lender.header.languages, ...this.#languages.keys()])];
    const order = this.#order();
    const all = this.#tables(order, languages);
    const { runs, own } = patchOf(all, lender);
    const stored = pick(all, own);
    return this.#putFiles({ order, languages, stored }, (writer) => {
      this.#put(writer, PART.RUNS, ...encodeRuns(lender.header.files, runs));
      return lender.header;
    });
  }

  /** Writes the tables of the files and the header. Calls `putContent` to write the content in the same transaction. */
  #putFiles(
    { order, languages, stored }: FilesToStore,
    putContent: (writer: Writer) => Omit<SegmentHeader, "files" | "languages" | "repositories">,
  ): WrittenSegment {
    const repositories = this.#repositoryRanges(order);
    const counts = this.#target.write((writer) => {
      const content = putContent(writer);
      this.#put(writer, PART.FILES, ...encodeFiles(stored.files));
      this.#put(writer, PART.PATHS, ...encodePaths(stored.paths));
      this.#putVersions(writer, order, repositories);
      putHeader(writer, this.segment, {
        ...content,
        files: this.files,
        languages,
        repositories: {
          numbers: Uint32Array.from(repositories, ({ repository }) => repository),
          firsts: Uint32Array.from(repositories, ({ first }) => first),
          counts: Uint32Array.from(repositories, ({ count }) => count),
        },
      });
      return content;
    });
    const sets = repositories.flatMap((range) => this.#revisionSets(order, range));
    const { content, textBytes } = counts;
    const { segment, files } = this;
    return { segment, ...(content !== segment && { content }), files, textBytes, sets };
  }

  /**
   * Sorts the files by repository, path and blob. Sources usually list files in this order, so sorting takes linear
   * time.
   */
  #order(): Uint32Array {
    const order = Array.from({ length: this.files }, (_, file) => file);
    const [repositories, blobs] = [this.#repositories.view, this.#blobs.view];
    order.sort(
      (a, b) =>
        repositories[a]! - repositories[b]! ||
        Buffer.compare(this.#path(a), this.#path(b)) ||
        blobs[a]! - blobs[b]!,
    );
    return Uint32Array.from(order);
  }

  #path(file: number): Uint8Array {
    const end = file + 1 < this.files ? this.#pathStarts.view[file + 1]! : this.#paths.length;
    return this.#paths.view.subarray(this.#pathStarts.view[file]!, end);
  }

  #repositoryRanges(order: Uint32Array): RepositoryFiles[] {
    const ranges: { repository: number; first: number; count: number }[] = [];
    const repositories = this.#repositories.view;
    order.forEach((file, position) => {
      const repository = repositories[file]!;
      const last = ranges.at(-1);
      if (last?.repository === repository) last.count++;
      else ranges.push({ repository, first: position, count: 1 });
    });
    return ranges;
  }

  #put(writer: Writer, part: Part, ...payload: Uint8Array[]): void {
    writer.put(segmentKey(this.segment, part), ...payload);
  }

  #putBlobs(writer: Writer, folds: Bitset): void {
    const end = Uint32Array.of(this.textBytes);
    this.#put(writer, PART.BLOBS, bytesOf(this.#blobStarts.view), bytesOf(end));
    this.#put(writer, PART.HASHES, this.#hashes.view);
    this.#put(writer, PART.FOLDS, bytesOf(folds));
  }

  /** Returns the tables of all files. The number of a language is its index in `languages`. */
  #tables(order: Uint32Array, languages: readonly string[]): Files {
    const numbers = Array.from(this.#languages.keys(), (language) => languages.indexOf(language));
    const [blobs, languageOf, flags] = [this.#blobs.view, this.#languageOf.view, this.#flags.view];
    const starts = new Uint32Array(this.files + 1);
    const bytes = new GrowableBytes(this.#paths.length);
    order.forEach((file, position) => {
      bytes.push(this.#path(file));
      starts[position + 1] = bytes.length;
    });
    return {
      files: {
        blobs: order.map((file) => blobs[file]!),
        languages: Uint16Array.from(order, (file) => numbers[languageOf[file]!]!),
        flags: Uint8Array.from(order, (file) => flags[file]!),
      },
      paths: { starts, bytes: bytes.view },
    };
  }

  #putVersions(writer: Writer, order: Uint32Array, repositories: readonly RepositoryFiles[]): void {
    const versions = this.#versions.view;
    for (const { repository, first, count } of repositories) {
      const own = new Uint8Array(count * HASH_BYTES);
      for (let i = 0; i < count; i++) {
        const at = order[first + i]! * HASH_BYTES;
        own.set(versions.subarray(at, at + HASH_BYTES), i * HASH_BYTES);
      }
      writer.put(versionsKey(repository, this.segment), encodeVersions(own));
    }
  }

  #revisionSets(order: Uint32Array, { repository, first, count }: RepositoryFiles): RevisionSet[] {
    const sets = new Map<number, Bitset>();
    for (let i = 0; i < count; i++) {
      for (const revision of this.#revisions[order[first + i]!]!) {
        let bits = sets.get(revision);
        if (!bits) sets.set(revision, (bits = emptyBitset(count)));
        setBit(bits, i);
      }
    }
    return [...sets].map(([revision, bits]) => ({
      repository,
      segment: this.segment,
      revision,
      bits,
    }));
  }
}
