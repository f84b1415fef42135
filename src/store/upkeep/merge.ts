/**
 * Merges several segments into one. Blobs without a live file are left out, and blobs with the same content and language
 * become one. The pages get
 * new numbers, and the posting lists are copied with the new numbers. Known symbols are copied as well, so nothing is
 * parsed again. If all segments borrow from the same lender, the merged segment can borrow from it, too. In that case,
 * only the tables of files are copied. If some segment has pages of another size than the merged segment, all posting
 * lists are made from the text again.
 *
 * A merge takes memory for the tables of the inputs, and for the pages of one gram at a time. If the posting lists are
 * made again, all of them are in memory instead. Text is copied blob by blob.
 */

import {
  emptyBitset,
  forEachBit,
  hasBit,
  placeBits,
  setBit,
  unite,
  type Bitset,
} from "../../base/bitset.ts";
import { Arena } from "../../kernel/arena.ts";
import { createGramLists, type GramLists } from "../../kernel/gram-lists.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Place } from "../catalog/catalog.ts";
import { completeEdition, type EditionThread } from "../symbols/complete-edition.ts";
import { nextEdition } from "../symbols/edition-key.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import { HASH_BYTES, NO_BLOB, OVERLAP, PAGE_BYTES, type NewLayout } from "../format/format.ts";
import { pagesOfList } from "../segments/posting-bits.ts";
import type { PostingList } from "../segments/postings.ts";
import { corrupt } from "../format/sealed.ts";
import { readVersions } from "../segments/file-versions.ts";
import { readFiles, readPaths } from "../segments/file-tables.ts";
import { readHeader } from "../segments/segment-tables.ts";
import { blobLanguage, openSegment, type SegmentReader } from "../segments/segment-reader.ts";
import {
  openSymbols,
  openUnfinished,
  SymbolsWriter,
  type SymbolsReader,
} from "../symbols/symbols.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";
import { mergedWords } from "../words/merged-words.ts";
import { openWords, WordListsWriter } from "../words/word-lists.ts";
import {
  SegmentWriter,
  type LenderTables,
  type WrittenSegment,
} from "../segments/segment-writer.ts";

/** Tells a merge where the files of a repository are, and which of them are live. */
export interface MergedRepository {
  readonly id: number;
  /** The numbers of the revisions, in the order of the sets of each place. */
  readonly revisions: readonly number[];
  /** The ranges of the repository's files in the segments to merge. */
  readonly places: readonly Place[];
}

export interface MergeInput {
  readonly segments: readonly number[];
  /** The edition of each segment's symbols, or 0 if there is none. */
  readonly symbols: readonly number[];
  /** The version of each segment's word lists, or 0 if there are none. */
  readonly words: readonly number[];
  readonly repositories: readonly MergedRepository[];
  /**
   * The lender from which all segments borrow, and from which the merged segment is to borrow. Absent for any other
   * merge.
   */
  readonly lender?: number;
}

export interface MergedSegment extends WrittenSegment {
  /**
   * The edition of the segment's symbols, as in the manifest. It is 0 for a segment that borrows, because such a
   * segment has the symbols of its lender.
   */
  readonly symbols: number;
  readonly hasSymbols: boolean;
  /** The version of the segment's word lists, as in the manifest. */
  readonly words?: number;
}

interface Source {
  readonly reader: SegmentReader;
  /** The new number of each blob, or NO_BLOB if the blob is left out. */
  readonly blobs: Uint32Array;
  /** The new number of each page, or NO_BLOB if its blob is left out or was already copied from an earlier source. */
  readonly pages: Uint32Array;
  /** The new number of each blob, or NO_BLOB if it is left out or was already copied from an earlier source. */
  readonly copied: Uint32Array;
}

interface MergeTools {
  readonly snapshot: Snapshot;
  readonly kernel: Kernel;
  readonly thread: EditionThread;
}

/**
 * Writes the merged segment in the given layout, with the symbols that are known. Writes nothing if no file is live.
 */
export async function mergeSegments(
  input: MergeInput,
  { target, layout }: { readonly target: SegmentTarget; readonly layout: NewLayout },
  tools: MergeTools,
): Promise<MergedSegment> {
  const readers: SegmentReader[] = [];
  for (const segment of input.segments) {
    const reader = openSegment(tools.snapshot, segment);
    if (!reader) throw corrupt(`segment ${segment} is missing`);
    readers.push(reader);
    await tools.thread.pause();
  }
  const merge = new Merge(input, new SegmentWriter(target, layout), tools);
  if (readers.some(({ pageBytes }) => pageBytes !== layout.pageBytes)) merge.makeLists();
  for (const reader of readers) await merge.addSegment(reader);
  merge.addFiles();
  const written = merge.finish();
  if (written.files === 0 || written.content !== undefined)
    return { ...written, symbols: 0, hasSymbols: false };
  const words = await merge.copyWords(target);
  return { ...written, ...words, ...(await merge.copySymbols(target)) };
}

/** A merged segment is new, so its symbols begin with the first edition. */
const FIRST_EDITION = 1;

class Merge {
  readonly #input: MergeInput;
  readonly #snapshot: Snapshot;
  readonly #kernel: Kernel;
  readonly #thread: EditionThread;
  readonly #writer: SegmentWriter;
  /** The posting lists that are made from the text. Undefined if the lists of the inputs are copied. */
  #made: GramLists | undefined;
  readonly #sources: Source[] = [];
  #folds: number[] = [];

  constructor(input: MergeInput, writer: SegmentWriter, { snapshot, kernel, thread }: MergeTools) {
    this.#input = input;
    this.#snapshot = snapshot;
    this.#kernel = kernel;
    this.#thread = thread;
    this.#writer = writer;
  }

  /** Makes the posting lists from the text, instead of copying them. REQUIRES: no segment was added yet. */
  makeLists(): void {
    this.#made = createGramLists(this.#kernel, PAGE_BYTES + OVERLAP);
  }

  async addSegment(reader: SegmentReader): Promise<void> {
    if (this.#input.lender !== undefined) {
      const blobs = new Uint32Array(reader.header.blobs).map((_, blob) => blob);
      this.#sources.push({ reader, blobs, pages: new Uint32Array(), copied: blobs });
      return;
    }
    const live = this.#liveBlobs(reader);
    const hashes = reader.hashes(this.#snapshot);
    const blobs = new Uint32Array(reader.header.blobs).fill(NO_BLOB);
    const copied = blobs.slice();
    const pages = new Uint32Array(reader.header.pages).fill(NO_BLOB);
    for (let blob = 0; blob < reader.header.blobs; blob++) {
      if (!hasBit(live, blob)) continue;
      const hash = hashes.subarray(HASH_BYTES * blob, HASH_BYTES * (blob + 1));
      const before = this.#writer.blobs;
      blobs[blob] = this.#addBlob(reader, blob, hash, pages);
      if (this.#writer.blobs > before) copied[blob] = before;
      const wait = this.#thread.pause();
      if (wait) await wait;
    }
    this.#sources.push({ reader, blobs, pages, copied });
  }

  /** Returns the blobs of live files. A file is live if it belongs to some revision. */
  #liveBlobs(reader: SegmentReader): Bitset {
    const files = emptyBitset(reader.header.files);
    for (const { places } of this.#input.repositories)
      for (const place of places) {
        if (place.segment !== reader.segment) continue;
        for (const set of place.sets) if (set) placeBits(files, place.first, set, place.count);
      }
    const blobs = emptyBitset(reader.header.blobs);
    forEachBit(files, (file) => {
      const blob = reader.files.blobs[file]!;
      if (blob !== NO_BLOB) setBit(blobs, blob);
    });
    return blobs;
  }

  #addBlob(reader: SegmentReader, blob: number, hash: Uint8Array, pages: Uint32Array): number {
    const content = { hash, language: blobLanguage(reader, blob) };
    const known = this.#writer.findBlob(content);
    if (known !== undefined) return known;
    const firstPage = this.#writer.pages;
    const text = reader.blobText(this.#snapshot, blob);
    const added = this.#writer.addBlob(content, text);
    if (this.#made) {
      this.#addPages(this.#made, text, firstPage);
      return added;
    }
    const first = reader.firstPages[blob]!;
    for (let page = first; page < reader.firstPages[blob + 1]!; page++) {
      pages[page] = firstPage + page - first;
      if (hasBit(reader.folds, page)) this.#folds.push(pages[page]!);
    }
    return added;
  }

  #addPages(lists: GramLists, text: Uint8Array, firstPage: number): void {
    const { pageBytes } = this.#writer.layout;
    for (let from = 0, page = firstPage; from < text.length; from += pageBytes, page++)
      if (lists.add(text.subarray(from, from + pageBytes + OVERLAP))) this.#folds.push(page);
  }

  addFiles(): void {
    for (const source of this.#sources)
      for (const repository of this.#input.repositories)
        for (const place of repository.places)
          if (place.segment === source.reader.segment) this.#addPlace(source, repository, place);
  }

  #addPlace({ reader, blobs }: Source, { id, revisions }: MergedRepository, place: Place): void {
    const { header, files } = reader;
    const { starts, bytes } = reader.paths(this.#snapshot);
    const versions = readVersions(this.#snapshot, { ...place, repository: id });
    const live = emptyBitset(place.count);
    for (const set of place.sets) if (set) unite(live, set);
    forEachBit(live, (index) => {
      const file = place.first + index;
      const blob = files.blobs[file]!;
      this.#writer.addFile({
        repository: id,
        path: bytes.subarray(starts[file]!, starts[file + 1]!),
        blob: blob === NO_BLOB ? NO_BLOB : blobs[blob]!,
        language: header.languages[files.languages[file]!]!,
        flags: files.flags[file]!,
        version: versions.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
        revisions: revisions.filter((_, i) => place.sets[i] && hasBit(place.sets[i], index)),
      });
    });
  }

  /** Copies the known symbols as the first edition. Writes nothing if no symbols are known. */
  async copySymbols(target: SegmentTarget): Promise<Pick<MergedSegment, "symbols" | "hasSymbols">> {
    const known = this.#knownSymbols();
    if (known.readers.length === 0) return { symbols: 0, hasSymbols: false };
    const writer = new SymbolsWriter(target, FIRST_EDITION, 0);
    for (let blob = 0; blob < this.#writer.blobs; blob++) {
      const [reader, old] = [known.readers[known.places[blob]! - 1], known.blobs[blob]!];
      writer.add(reader?.origin(old), reader?.run(this.#snapshot, old) ?? new Uint8Array());
      const wait = this.#thread.pause();
      if (wait) await wait;
    }
    const edition = { edition: FIRST_EDITION, columns: writer.finish() };
    return {
      symbols: FIRST_EDITION,
      hasSymbols: await completeEdition(target, edition, this.#thread),
    };
  }

  /** Copies the word lists, if all segments have lists of one version. */
  async copyWords(target: SegmentTarget): Promise<Pick<MergedSegment, "words">> {
    const [version = 0, ...others] = this.#input.words;
    if (version === 0 || others.some((other) => other !== version)) return {};
    const sources = this.#sources.map(({ reader, copied }) => {
      const { content } = reader.header;
      const lists = openWords(this.#snapshot, { segment: content, version });
      if (!lists) throw corrupt(`the words of segment ${content} are missing`);
      return { blobs: copied, lists: lists.all(this.#snapshot) };
    });
    const writer = new WordListsWriter(target, version);
    for (const [stem, list] of mergedWords(sources, NO_BLOB)) {
      writer.add(stem, list);
      const wait = this.#thread.pause();
      if (wait) await wait;
    }
    writer.finish(this.#writer.blobs);
    return { words: version };
  }

  /**
   * For each new blob, finds a reader that has its symbols. `places` contains 1 + the index of this reader, or 0 if
   * there is none. `blobs` contains the number of the blob in the reader.
   */
  #knownSymbols(): { readers: SymbolsReader[]; places: Uint32Array; blobs: Uint32Array } {
    const readers: SymbolsReader[] = [];
    const places = new Uint32Array(this.#writer.blobs);
    const blobs = new Uint32Array(this.#writer.blobs);
    this.#sources.forEach((source, i) => {
      for (const symbols of this.#symbolsOf(source.reader, this.#input.symbols[i]!)) {
        readers.push(symbols);
        source.blobs.forEach((blob, old) => {
          if (blob === NO_BLOB || places[blob] !== 0 || symbols.states[old] === 0) return;
          places[blob] = readers.length;
          blobs[blob] = old;
        });
      }
    });
    return { readers, places, blobs };
  }

  /**
   * Opens the symbols of a segment. The unpublished next edition comes first, because it is newer than the current
   * edition.
   */
  #symbolsOf({ header }: SegmentReader, edition: number): SymbolsReader[] {
    const { content } = header;
    const next = { segment: content, edition: nextEdition(edition) };
    const symbols = [
      openUnfinished(this.#snapshot, next, header.blobs),
      edition > 0 ? openSymbols(this.#snapshot, content, edition) : undefined,
    ];
    return symbols.filter((one) => one !== undefined);
  }

  #lenderTables(lender: number): LenderTables {
    const header = readHeader(this.#snapshot, lender);
    if (!header) throw corrupt(`segment ${lender} is missing`);
    const files = readFiles(this.#snapshot, lender, header);
    return { header, files, paths: readPaths(this.#snapshot, lender, header) };
  }

  #copiedLists(): GramMerge {
    return new GramMerge(this.#sources, this.#snapshot, this.#writer.pages, this.#kernel);
  }

  finish(): WrittenSegment {
    const { segment, files } = this.#writer;
    if (files === 0) return { segment, files, textBytes: 0, sets: [] };
    if (this.#input.lender !== undefined)
      return this.#writer.finishBorrowing(this.#lenderTables(this.#input.lender));
    const folds = emptyBitset(this.#writer.pages);
    for (const page of this.#folds) setBit(folds, page);
    const lists = this.#made ?? this.#copiedLists();
    return this.#writer.finish(this.#kernel, (visit) => lists.forEach(visit), folds);
  }
}

/** Merges the posting lists of all sources, gram by gram, in ascending order. */
class GramMerge {
  readonly #sources: readonly Source[];
  readonly #snapshot: Snapshot;
  readonly #pages: number;
  readonly #kernel: Kernel;
  readonly #arena: Arena;

  constructor(sources: readonly Source[], snapshot: Snapshot, pages: number, kernel: Kernel) {
    this.#sources = sources;
    this.#snapshot = snapshot;
    this.#pages = pages;
    this.#kernel = kernel;
    this.#arena = new Arena(kernel);
  }

  forEach(visit: (gram: number, gaps: Uint8Array) => void): void {
    const walks = this.#sources.map(({ reader }) =>
      reader.postings.all(this.#snapshot)[Symbol.iterator](),
    );
    const heads = walks.map(
      (walk) => walk.next().value as { gram: number; list: PostingList } | undefined,
    );
    const words = Math.ceil(this.#pages / 32) + 4;
    const bits = this.#kernel.reserve(4 * words);
    const gaps = this.#kernel.reserve(5 * this.#pages + 16);
    for (;;) {
      const gram = Math.min(...heads.map((head) => head?.gram ?? Infinity));
      if (gram === Infinity) return;
      this.#kernel.bytes.fill(0, bits, bits + 4 * words);
      heads.forEach((head, i) => {
        if (head?.gram !== gram) return;
        this.#place(head.list, this.#sources[i]!, bits);
        heads[i] = walks[i]!.next().value as typeof head | undefined;
      });
      const length = this.#kernel.run.encodeGaps(bits, this.#pages, gaps);
      if (length > 0) visit(gram, this.#kernel.bytes.subarray(gaps, gaps + length));
    }
  }

  /** Sets the bits of a list's pages at their new numbers. */
  #place(list: PostingList, { reader, pages }: Source, bits: number): void {
    const memory = { kernel: this.#kernel, arena: this.#arena };
    const old = pagesOfList(list, reader.header.pages, memory);
    if (!old) throw corrupt(`a posting list of segment ${reader.segment}`);
    const { words } = this.#kernel;
    forEachBit(old, (page) => {
      const number = pages[page]!;
      if (number !== NO_BLOB) words[(bits >>> 2) + (number >>> 5)]! |= 1 << (number & 31);
    });
  }
}
