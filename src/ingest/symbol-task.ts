/**
 * Symbols of a stretch of a segment's blobs: those that the edition of before knows, with the grammars
 * of today, are copied; the rest is parsed. Blocks are written at the end, so a thread that dies
 * leaves nothing of the stretch.
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
import type { Task } from "../threads/task.ts";
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
}

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
    const stretch = new Stretch(input, snapshot, extractor);
    const target = {
      environment,
      segment: input.segment,
      checkLease: (writer: Parameters<typeof checkLease>[0]) => checkLease(writer, input.owner),
    };
    const writer = new SymbolsWriter(target, input.next, input.from);
    for (let blob = input.from; blob < input.to; blob++) {
      const [origin, run] = await stretch.symbolsOf(blob);
      writer.add(origin, run);
      const turn = context.pause();
      if (turn) await turn;
    }
    return { columns: writer.finish(), found: stretch.found, parsed: stretch.parsed };
  } finally {
    snapshot.close();
  }
};

class Stretch {
  readonly found = new Map<number, number>();
  parsed = 0;
  readonly #input: SymbolsInput;
  readonly #snapshot: Snapshot;
  readonly #extractor: Extractor;
  readonly #reader: SegmentReader;
  readonly #before: SymbolsReader | undefined;

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

  /** The run is borrowed until the next read. */
  async symbolsOf(blob: number): Promise<readonly [Origin, Uint8Array]> {
    const language = this.#languageOf(blob);
    const known = this.#before?.origin(blob);
    const isKnown = known && !isOutdated(known) && (known.version !== "" || !versionOf(language));
    if (isKnown) return [known, this.#before!.run(this.#snapshot, blob)];
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
    return [{ language, version, outcome: "symbols" }, run.view];
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
