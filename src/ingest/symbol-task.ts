/**
 * Symbols of a range of a segment's blobs: those that the edition of before knows, with the grammars
 * of today, are copied; the rest is parsed. Blocks are written at the end, so a thread that dies
 * leaves nothing of the range.
 */

import { GrowableBytes } from "../base/growable.ts";
import type { Snapshot } from "../store/environment.ts";
import { checkLease } from "../store/lease.ts";
import { corrupt } from "../store/sealed.ts";
import { openSegment, type SegmentReader } from "../store/segment-reader.ts";
import { countSymbols, encodeSymbols } from "../store/symbol-run.ts";
import {
  openSymbols,
  SymbolsWriter,
  type Origin,
  type SymbolColumns,
  type SymbolsReader,
} from "../store/symbols.ts";
import { threadEnvironment } from "../store/thread-environment.ts";
import type { Task, TaskContext } from "../threads/task.ts";
import { createExtractor, type Extractor } from "./symbols/extract.ts";
import { grammarVersion } from "./symbols/languages.ts";

export interface SymbolsInput {
  readonly segment: number;
  /** The edition there is, 0 for none, and the one that is made. */
  readonly edition: number;
  readonly next: number;
  /** Blobs [from, to). */
  readonly from: number;
  readonly to: number;
  readonly owner: string;
  /** Nothing is parsed: a thread has died of it. */
  readonly isDeadly: boolean;
  /** One word of shared memory, for who asks when this thread has died: the blob that is being parsed, or NO_BLOB. */
  readonly parsing: Int32Array;
}

export const NO_BLOB = -1;

export interface SymbolsOutput {
  readonly columns: SymbolColumns;
  /** Definitions in files of blobs that were parsed now, by repository. */
  readonly found: ReadonlyMap<number, number>;
  /** Blobs that were parsed. */
  readonly parsed: number;
}

const NO_RUN = new Uint8Array();

/** The version by which symbols of a language are kept. */
const versionOf = (language: string): string => grammarVersion(language) ?? "";

/** Whether the grammars of today could find something else than what is stored. */
export const isOutdated = ({ language, version }: Origin): boolean =>
  versionOf(language) !== version;

export const symbolsTask: Task<SymbolsInput, SymbolsOutput> = async (input, context) => {
  const environment = threadEnvironment(context);
  const extractor = await context.memo("extractor", () => createExtractor());
  const snapshot = environment.snapshot();
  try {
    const range = new Range(input, snapshot, extractor);
    const target = {
      environment,
      segment: input.segment,
      checkLease: (writer: Parameters<typeof checkLease>[0]) => checkLease(writer, input.owner),
    };
    const writer = new SymbolsWriter(target, input.next, input.from);
    await range.parse(() => context.pause());
    for (let blob = input.from; blob < input.to; blob++) writer.add(...range.symbolsOf(blob));
    return { columns: writer.finish(), found: range.found, parsed: range.parsed };
  } finally {
    snapshot.close();
  }
};

class Range {
  readonly found = new Map<number, number>();
  parsed = 0;
  readonly #input: SymbolsInput;
  readonly #snapshot: Snapshot;
  readonly #extractor: Extractor;
  readonly #reader: SegmentReader;
  readonly #before: SymbolsReader | undefined;
  readonly #new = new Map<number, readonly [Origin, Uint8Array]>();

  constructor(input: SymbolsInput, snapshot: Snapshot, extractor: Extractor) {
    const { segment, edition } = input;
    const reader = openSegment(snapshot, segment);
    if (!reader) throw corrupt(`segment ${segment} is not there`);
    this.#input = input;
    this.#snapshot = snapshot;
    this.#extractor = extractor;
    this.#reader = reader;
    this.#before = edition > 0 ? openSymbols(snapshot, segment, edition) : undefined;
  }

  /** Language by language: a thread keeps few grammars, and loading one takes as long as many files. */
  async parse(pause: TaskContext["pause"]): Promise<void> {
    const byLanguage = new Map<string, number[]>();
    for (let blob = this.#input.from; blob < this.#input.to; blob++) {
      const language = this.#languageOf(blob);
      if (this.#isKnown(blob, language)) continue;
      const blobs = byLanguage.get(language);
      if (blobs) blobs.push(blob);
      else byLanguage.set(language, [blob]);
    }
    for (const [language, blobs] of byLanguage)
      for (const blob of blobs) {
        this.#input.parsing[0] = blob;
        this.#new.set(blob, await this.#extract(blob, language));
        this.#input.parsing[0] = NO_BLOB;
        const turn = pause();
        if (turn) await turn;
      }
  }

  /** The run is borrowed until the next read. REQUIRES: after parse(). */
  symbolsOf(blob: number): readonly [Origin | undefined, Uint8Array] {
    const before = this.#before;
    return this.#new.get(blob) ?? [before?.origin(blob), before!.run(this.#snapshot, blob)];
  }

  #isKnown(blob: number, language: string): boolean {
    const known = this.#before?.origin(blob);
    return !!known && !isOutdated(known) && (known.version !== "" || versionOf(language) === "");
  }

  async #extract(blob: number, language: string): Promise<readonly [Origin, Uint8Array]> {
    const version = versionOf(language);
    if (version === "") return [{ language, version, outcome: "none" }, NO_RUN];
    if (this.#input.isDeadly) return [{ language, version, outcome: "gave-up" }, NO_RUN];
    this.parsed++;
    await this.#extractor.prepare(language);
    const text = this.#reader.blobText(this.#snapshot, blob);
    const extraction = this.#extractor.extract(language, text);
    if (extraction.outcome !== "symbols")
      return [{ language, version, outcome: extraction.outcome }, NO_RUN];
    const run = new GrowableBytes(256);
    encodeSymbols(extraction.table, run);
    this.#count(blob, countSymbols(run.view));
    return [{ language, version, outcome: "symbols" }, run.view.slice()];
  }

  /** Of the first of its files whose language has a grammar, else of the first. */
  #languageOf(blob: number): string {
    const { header, files, blobFileStarts, blobFiles } = this.#reader;
    const languages = [...blobFiles.subarray(blobFileStarts[blob], blobFileStarts[blob + 1])].map(
      (file) => header.languages[files.languages[file]!]!,
    );
    return languages.find((language) => versionOf(language) !== "") ?? languages[0] ?? "";
  }

  #count(blob: number, symbols: number): void {
    const { header, blobFileStarts, blobFiles } = this.#reader;
    for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++) {
      const file = blobFiles[i]!;
      const owner = header.repositories.find(({ first, count }) => file < first + count)!;
      this.found.set(owner.repository, (this.found.get(owner.repository) ?? 0) + symbols);
    }
  }
}
