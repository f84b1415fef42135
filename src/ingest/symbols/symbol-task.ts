/**
 * Finds the symbols of a range of a segment's blobs. Symbols that were already extracted with the current grammars
 * are copied. Their source is the previous edition, or the same content and language in another segment. Blobs without such symbols
 * are parsed. The symbols are written at the end, together with the record that the range is done. So a thread that
 * dies leaves no partial result.
 *
 * A failure affects only one blob. Symbols that are to be copied are first decoded, as in a search. If decoding
 * fails, the blob is parsed. If a parser throws, the blob gets no symbols. If the text of a blob is damaged, the
 * blob's files are listed as damaged.
 */

import { throwIfOutOfFiles } from "../../base/out-of-files.ts";
import { GrowableBytes } from "../../base/growable.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { corrupt, unlessCorrupt } from "../../store/format/sealed.ts";
import {
  blobLanguage,
  openSegment,
  type SegmentReader,
} from "../../store/segments/segment-reader.ts";
import { segmentTarget, type SegmentTarget } from "../../store/segments/segment-target.ts";
import { NO_BLOB } from "../../store/format/format.ts";
import { repositoryOf, type PathTable } from "../../store/segments/segment-tables.ts";
import type { Origin, SymbolColumns } from "../../store/symbols/symbol-columns.ts";
import {
  countSymbols,
  decodeSymbols,
  encodeSymbols,
  newSymbolList,
} from "../../store/symbols/symbol-run.ts";
import { openSymbols, SymbolsWriter, type SymbolsReader } from "../../store/symbols/symbols.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import type { Task, TaskContext } from "../../threads/task.ts";
import type { FileWithoutSymbols } from "../run/report.ts";
import { createExtractor, type Extraction, type Extractor } from "./extract.ts";
import { grammarVersion } from "./languages.ts";

export interface Edition {
  readonly segment: number;
  /** The number of an edition, which is a set of symbols of the segment. 0 if the segment has no symbols. */
  readonly edition: number;
}

/** The input of the task. `edition` is the edition that is published so far. */
export interface SymbolsInput extends Edition {
  /** The edition to which the task writes. */
  readonly next: number;
  /** The blobs in [from, to). */
  readonly from: number;
  readonly to: number;
  /**
   * For each blob of the range, the place of the same content and language in another segment that has its symbols. A
   * place is two numbers: the index of the segment in `others`, or NOWHERE, and the blob's number in that segment. Empty if no
   * places are known.
   */
  readonly places: Int32Array;
  readonly others: readonly Edition[];
  readonly owner: string;
  /** True if the range is a single blob that has killed a thread. Such a blob is not parsed. */
  readonly isDeadly: boolean;
  /**
   * A word of shared memory that contains the number of the blob that is being parsed, or NOT_PARSING. If this thread
   * dies, the calling thread reads the number.
   */
  readonly parsing: Int32Array;
}

export const NOT_PARSING = -1;
export const NOWHERE = -1;

/** The result for one repository. It includes only files whose content was parsed in this run. */
export interface FoundSymbols {
  /**
   * The number of definitions. If several files have the same content, its definitions count once for each of these
   * files.
   */
  symbols: number;
  readonly withoutSymbols: FileWithoutSymbols[];
}

export interface SymbolsOutput {
  readonly columns: SymbolColumns;
  /** The results for each repository, by repository id. */
  readonly found: ReadonlyMap<number, FoundSymbols>;
}

interface GivenUp {
  readonly outcome: "gave-up";
  readonly reason: "killed-thread" | "failed";
}

/**
 * The origin of a blob's symbols, and the symbols as they are stored. The origin is undefined if the symbols are
 * unknown.
 */
type Known = readonly [Origin | undefined, Uint8Array];

const NO_RUN = new Uint8Array();
const UNKNOWN: Known = [undefined, NO_RUN];

/**
 * Returns the version with which symbols of a language are stored, or "" if quern has no grammar for the language.
 */
export const versionOf = (language: string): string => grammarVersion(language) ?? "";

/**
 * Returns whether the stored symbols of a blob were extracted with a version of the grammar that is not the current
 * one.
 */
export const isOutdated = ({ language, version }: Origin): boolean =>
  versionOf(language) !== version;

/** Returns whether the stored symbols of a blob are up to date. */
export const isCurrent = (known: Origin | undefined): boolean => !!known && !isOutdated(known);

export const symbolsTask: Task<SymbolsInput, SymbolsOutput> = async (input, context) => {
  const extractor = await context.memo("extractor", () => createExtractor());
  const target = segmentTarget(threadEnvironment(context), input.segment, input.owner);
  return findInRange(input, { target, extractor, pause: () => context.pause() });
};

/** Finds the symbols of a range of blobs, and writes them to the target. */
export async function findInRange(
  input: SymbolsInput,
  tools: {
    readonly target: SegmentTarget;
    readonly extractor: Extractor;
    readonly pause: TaskContext["pause"];
  },
): Promise<SymbolsOutput> {
  const { target, extractor, pause } = tools;
  const snapshot = target.environment.snapshot();
  try {
    const range = new Range(input, snapshot, extractor);
    const writer = new SymbolsWriter(target, input.next, input.from);
    await range.parse(pause);
    for (let blob = input.from; blob < input.to; blob++) writer.add(...range.symbolsOf(blob));
    return { columns: writer.finish({ isRange: true }), found: range.found };
  } finally {
    snapshot.close();
  }
}

class Range {
  readonly found = new Map<number, FoundSymbols>();
  readonly #input: SymbolsInput;
  readonly #snapshot: Snapshot;
  readonly #extractor: Extractor;
  readonly #reader: SegmentReader;
  readonly #before: SymbolsReader | undefined;
  readonly #others = new Map<number, SymbolsReader>();
  readonly #new = new Map<number, Known>();
  readonly #list = newSymbolList();

  constructor(input: SymbolsInput, snapshot: Snapshot, extractor: Extractor) {
    const { segment, edition } = input;
    const reader = openSegment(snapshot, segment);
    if (!reader) throw corrupt(`segment ${segment} is missing`);
    this.#input = input;
    this.#snapshot = snapshot;
    this.#extractor = extractor;
    this.#reader = reader;
    this.#before =
      edition > 0 ? unlessCorrupt(() => openSymbols(snapshot, segment, edition)) : undefined;
  }

  /**
   * Parses all blobs whose symbols cannot be copied. The blobs are parsed one language after another, because a
   * thread keeps few grammars in memory, and loading a grammar takes as long as parsing many files.
   */
  async parse(pause: TaskContext["pause"]): Promise<void> {
    const byLanguage = new Map<string, number[]>();
    for (let blob = this.#input.from; blob < this.#input.to; blob++) {
      const language = blobLanguage(this.#reader, blob);
      if (isCurrent(this.#before?.origin(blob)) && this.#isKept(blob)) continue;
      const copied = this.#copied(blob);
      if (copied) {
        this.#new.set(blob, copied);
        continue;
      }
      const blobs = byLanguage.get(language);
      if (blobs) blobs.push(blob);
      else byLanguage.set(language, [blob]);
    }
    for (const [language, blobs] of byLanguage)
      for (const blob of blobs) {
        this.#input.parsing[0] = blob;
        this.#new.set(blob, await this.#extract(blob, language));
        this.#input.parsing[0] = NOT_PARSING;
        const wait = pause();
        if (wait) await wait;
      }
  }

  /** Returns the symbols of a blob, which are valid until the next read. REQUIRES: parse() was called. */
  symbolsOf(blob: number): Known {
    const before = this.#before;
    return this.#new.get(blob) ?? [before?.origin(blob), before!.run(this.#snapshot, blob)];
  }

  /** Returns whether the symbols that the previous edition has for a blob can be read. */
  #isKept(blob: number): boolean {
    return (
      unlessCorrupt(() => this.#verified(blob, this.#before!.run(this.#snapshot, blob))) !==
      undefined
    );
  }

  /**
   * Returns the symbols that another segment has for the same content. Returns undefined if no segment has symbols
   * for it, or if the symbols are damaged.
   */
  #copied(blob: number): Known | undefined {
    const at = 2 * (blob - this.#input.from);
    const [position, there] = this.#input.places.subarray(at, at + 2);
    if (position === undefined || position === NOWHERE) return undefined;
    return unlessCorrupt(() => {
      const other = this.#other(position);
      const origin = other?.origin(there!);
      return origin && [origin, this.#verified(blob, other!.run(this.#snapshot, there!).slice())];
    });
  }

  /**
   * Returns `run`, the stored symbols of a blob. Throws INDEX_CORRUPT if the symbols or the text of the blob cannot
   * be read, because the lists of names are made from both.
   */
  #verified(blob: number, run: Uint8Array): Uint8Array {
    if (run.length === 0) return run;
    decodeSymbols(run, this.#bytesOf(blob), this.#list);
    this.#reader.blobText(this.#snapshot, blob);
    return run;
  }

  #bytesOf(blob: number): number {
    const { blobStarts } = this.#reader;
    return blobStarts[blob + 1]! - blobStarts[blob]!;
  }

  #other(position: number): SymbolsReader | undefined {
    const { segment, edition } = this.#input.others[position]!;
    const opened = this.#others.get(position) ?? openSymbols(this.#snapshot, segment, edition);
    if (opened) this.#others.set(position, opened);
    return opened;
  }

  async #extract(blob: number, language: string): Promise<Known> {
    const version = versionOf(language);
    if (version === "") return [{ language, version, outcome: "none" }, NO_RUN];
    const text = unlessCorrupt(() => this.#reader.blobText(this.#snapshot, blob));
    if (!text) {
      this.#tellGivenUp(blob, "damaged");
      return UNKNOWN;
    }
    const extraction = await this.#parse(language, text);
    const { outcome } = extraction;
    if (outcome === "gave-up") this.#tellGivenUp(blob, extraction.reason);
    if (outcome !== "symbols") return [{ language, version, outcome }, NO_RUN];
    const run = new GrowableBytes(256);
    encodeSymbols(extraction.table, run);
    const symbols = countSymbols(run.view);
    for (const [, found] of this.#filesOf(blob)) found.symbols += symbols;
    return [{ language, version, outcome }, run.view.slice()];
  }

  async #parse(language: string, text: Uint8Array): Promise<Extraction | GivenUp> {
    if (this.#input.isDeadly) return { outcome: "gave-up", reason: "killed-thread" };
    try {
      await this.#extractor.prepare(language);
      return this.#extractor.extract(language, text);
    } catch (error) {
      throwIfOutOfFiles(error); // the next run tries again
      return { outcome: "gave-up", reason: "failed" };
    }
  }

  #tellGivenUp(blob: number, reason: FileWithoutSymbols["reason"]): void {
    const paths = this.#reader.paths(this.#snapshot);
    for (const [file, { withoutSymbols }] of this.#filesOf(blob))
      withoutSymbols.push({ path: pathOf(paths, file), reason });
  }

  /** Yields each file of a blob, with the result for the repository of the file. */
  *#filesOf(blob: number): Generator<readonly [file: number, FoundSymbols]> {
    const { header, blobFileStarts, blobFiles } = this.#reader;
    for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++) {
      const file = blobFiles[i]!;
      yield [file, foundIn(this.found, repositoryOf(header, file))];
    }
  }
}

/** Returns the files of a damaged segment that would have symbols, with the reason 'damaged', by repository id. */
export function filesWithoutSymbols(
  snapshot: Snapshot,
  segment: number,
): ReadonlyMap<number, FoundSymbols> {
  const found = new Map<number, FoundSymbols>();
  const reader = openSegment(snapshot, segment);
  if (!reader) return found;
  const { header, files } = reader;
  const paths = reader.paths(snapshot);
  for (let file = 0; file < header.files; file++) {
    const language = header.languages[files.languages[file]!]!;
    if (files.blobs[file] === NO_BLOB || versionOf(language) === "") continue;
    const { withoutSymbols } = foundIn(found, repositoryOf(header, file));
    withoutSymbols.push({ path: pathOf(paths, file), reason: "damaged" });
  }
  return found;
}

function foundIn(all: Map<number, FoundSymbols>, repository: number): FoundSymbols {
  const found = all.get(repository) ?? { symbols: 0, withoutSymbols: [] };
  all.set(repository, found);
  return found;
}

const pathOf = ({ bytes, starts }: PathTable, file: number): string =>
  Buffer.from(bytes.subarray(starts[file], starts[file + 1])).toString();
