/**
 * From a file's bytes to its definitions. An extractor belongs to one thread and works on one file
 * at a time; each thread that extracts has its own.
 *
 * Grammars are loaded when a file first needs them and kept, the most recently used ones, up to
 * MAX_RUNTIMES. A runtime whose memory has grown over MAX_HEAP, or that has trapped, is loaded
 * anew by the next prepare(). So memory is bounded
 * whatever the number of files, and no file spoils the next: provided that the caller lets the event
 * loop turn between loads, since only then does Node free the memory of a runtime that was dropped. Six
 * rounds of 15 languages take 200 MiB with such turns, and 460 with microtasks alone.
 */

import { assert } from "../../base/errors.ts";
import { LruCache } from "../../base/lru-cache.ts";
import { isSoundTable, ROW, SYMBOL_ROW, type SymbolTable } from "../../store/symbols/symbol-run.ts";
import { roleOf } from "./captures.ts";
import { cut, uncut } from "./queries/shared/cuts.ts";
import { embeddedParts, embeddedLanguages } from "./embedded.ts";
import { languageQuery } from "./languages.ts";
import type { LanguageQuery } from "./queries/shared/language.ts";
import { kindsOf, matchesWithin, nest, type Kinds, type Nested } from "./nesting.ts";
import { pieceStarts } from "./pieces.ts";
import { reword, withFrame, type Frame } from "./queries/shared/rewording.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { Decoder } from "./source-text.ts";
import { contentOf, joinTables, replacePieces, shiftTable, type Piece } from "./table.ts";
import { startLimit, THREAD_TIMES, type Times } from "./work-limit.ts";

export type Extraction =
  | { readonly outcome: "symbols"; readonly table: SymbolTable }
  /** The language has no extractor. */
  | { readonly outcome: "none" }
  /** 'too-long': the thread has worked on it for maxMs; 'too-large': over the language's limit; 'failed': the grammar trapped, does not load, or led to symbols that cannot be. */
  | { readonly outcome: "gave-up"; readonly reason: "too-long" | "too-large" }
  /** `detail`: for people. */
  | { readonly outcome: "gave-up"; readonly reason: "failed"; readonly detail: string };

const failed = (detail: string): Extraction => ({ outcome: "gave-up", reason: "failed", detail });

/** Of a table that breaks its contract: a bug of ours, not of a grammar. */
export const UNSOUND = "symbols that cannot be";

export interface Extractor {
  /** REQUIRES: a turn of the event loop between loads, see above. Loads what files of the language need; false when there is no extractor for it. `language` is linguist's name. */
  prepare(language: string): Promise<boolean>;
  /** Never throws for what is in the file. A table it answers keeps its contract for these bytes. REQUIRES: prepare(language) resolved to true after the last extract(). */
  extract(language: string, bytes: Uint8Array): Extraction;
  close(): void;
}

export interface ExtractorLimits {
  /** Of one file, of the thread's work. Generous, because what is found must not depend on the machine: a file of maxBytes takes some 0.3 s. */
  readonly maxMs: number;
  readonly maxBytes: number;
  /** UTF-16 units of a language's text after which V8 may optimise; default OPTIMISED_AFTER. */
  readonly optimisedAfter?: number;
}

export const LIMITS: ExtractorLimits = { maxMs: 3_000, maxBytes: 4 << 20 };

const ERRORS = "(ERROR) @torn";
/** Around an ERROR of this length what was found may be wrong, too. */
const TORN_UNITS = 500;
/** Some 10 MB each. A language that is not among them costs 50 to 400 ms to load again. */
const MAX_RUNTIMES = 10;
const MAX_HEAP = 48 << 20;
/** Of a language's text in one thread. Loading a grammar again and optimising costs what 8 MB of C save. */
const OPTIMISED_AFTER = 8 << 20;

/** Where queries are found by linguist's names. */
type Languages = (name: string) => LanguageQuery | undefined;

/** The defaults are for everything but tests. */
export function createExtractor(
  limits: ExtractorLimits = LIMITS,
  languages: Languages = languageQuery,
  times: Times = THREAD_TIMES,
): Promise<Extractor> {
  return Promise.resolve(new TreeSitterExtractor(limits, languages, times));
}

interface Loaded {
  readonly runtime: Runtime;
  readonly kinds: Kinds;
}

interface Timed {
  readonly bytes: Uint8Array;
  readonly isOver: () => boolean;
  readonly frame?: Frame | undefined;
}

class TreeSitterExtractor implements Extractor {
  readonly #limits: ExtractorLimits;
  readonly #languages: Languages;
  readonly #times: Times;
  readonly #decoder = new Decoder();
  readonly #loaded = new LruCache<LanguageQuery, Loaded>({ most: MAX_RUNTIMES });

  /** Whose grammar does not load, or does not know the query's nodes: each of their files fails. */
  readonly #broken = new Set<LanguageQuery>();

  constructor(limits: ExtractorLimits, languages: Languages, times: Times) {
    this.#limits = limits;
    this.#languages = languages;
    this.#times = times;
  }

  async prepare(language: string): Promise<boolean> {
    const needed = embeddedLanguages(language) ?? [language];
    for (const name of needed) {
      const query = this.#languages(name);
      if (query === undefined) return false;
      if (!this.#broken.has(query)) await this.#load(query).catch(() => this.#broken.add(query));
    }
    return true;
  }

  extract(language: string, bytes: Uint8Array): Extraction {
    const isOver = startLimit(this.#limits.maxMs, this.#times);
    const extraction = this.#extractAll(language, bytes, isOver);
    const isSound =
      extraction.outcome !== "symbols" || isSoundTable(extraction.table, bytes.length);
    return isSound ? extraction : failed(UNSOUND);
  }

  #extractAll(language: string, bytes: Uint8Array, isOver: () => boolean): Extraction {
    const parts = embeddedParts(language, bytes);
    if (parts === undefined) return this.#extractPart(language, bytes, isOver);
    const tables: SymbolTable[] = [];
    for (const part of parts) {
      const inner = bytes.subarray(part.start, part.end);
      const found = this.#extractPart(part.language, inner, isOver);
      if (found.outcome !== "symbols") return found;
      tables.push(shiftTable(found.table, part.start));
    }
    return { outcome: "symbols", table: joinTables(tables) };
  }

  close(): void {
    this.#loaded.clear();
  }

  async #load(query: LanguageQuery): Promise<void> {
    const kept = this.#loaded.get(query);
    const { optimisedAfter = OPTIMISED_AFTER } = this.#limits;
    const isOptimised = kept !== undefined && isWorthOptimising(kept.runtime, optimisedAfter);
    const isKept =
      kept && kept.runtime.heapBytes <= MAX_HEAP && kept.runtime.isOptimised === isOptimised;
    this.#loaded.set(query, isKept ? kept : await load(query, isOptimised));
  }

  #extractPart(language: string, bytes: Uint8Array, isOver: () => boolean): Extraction {
    const query = this.#languages(language);
    if (query === undefined) return { outcome: "none" };
    if (bytes.length > Math.min(this.#limits.maxBytes, query.maxBytes ?? Infinity))
      return { outcome: "gave-up", reason: "too-large" };
    if (this.#broken.has(query)) return failed("its grammar does not load");
    const loaded = this.#loaded.get(query);
    assert(loaded !== undefined, `extract() of ${language} without prepare()`);
    try {
      const table = this.#run(loaded, query, { bytes, isOver });
      return table ? { outcome: "symbols", table } : { outcome: "gave-up", reason: "too-long" };
    } catch (error) {
      this.#loaded.delete(query);
      return failed(String(error));
    }
  }

  /** In older words, or as it stands: where it has none, is sound only so, or shows more so. Undefined when the time is over. */
  #run(loaded: Loaded, query: LanguageQuery, { bytes, isOver }: Timed): SymbolTable | undefined {
    const worded = reword(bytes, query);
    const older = worded && this.#read(loaded, query, { ...worded, isOver });
    if (older?.hasError === false) return older.table;
    const plain = this.#read(loaded, query, { bytes, isOver });
    if (older === undefined || plain === undefined) return (older ?? plain)?.table;
    const isRicher = plain.hasError && older.table.count >= plain.table.count;
    return isRicher ? older.table : plain.table;
  }

  /** Undefined when the time is over. */
  #read(loaded: Loaded, query: LanguageQuery, { bytes, ...timed }: Timed): Reading | undefined {
    const cuts = query.cuts?.(bytes) ?? [];
    const kept = cuts.length === 0 ? bytes : cut(bytes, cuts);
    const whole = this.#parse(loaded, { bytes: kept, ...timed });
    if (whole === undefined) return undefined;
    const isTorn = cuts.length > 0 ? whole.tornUnits >= TORN_UNITS : whole.hasError;
    const table = isTorn
      ? this.#mend(loaded, { bytes: kept, ...timed }, whole.table, cuts.length > 0)
      : whole.table;
    const back = uncut(cuts);
    for (let at = 0; cuts.length > 0 && at < table.rows.length; at += SYMBOL_ROW) {
      table.rows[at + ROW.start] = back(table.rows[at + ROW.start]!);
      table.rows[at + ROW.end] = back(table.rows[at + ROW.end]!);
    }
    return { table, hasError: whole.hasError };
  }

  /** Undefined when the time is over. */
  #parse({ runtime, kinds }: Loaded, { bytes, isOver, frame }: Timed): Nested | undefined {
    const text = this.#decoder.decode(frame ? withFrame(bytes, frame) : bytes);
    const matches = runtime.match(text, isOver);
    const nested =
      matches &&
      nest(
        frame
          ? matchesWithin(matches, frame.before.length, text.length - frame.after.length)
          : matches,
        kinds,
        {
          byteOf: (unit) => text.byteOf(unit),
          nameOf: (start, end) => text.slice(start, end - start),
        },
        isOver,
      );
    if (nested === undefined || frame === undefined) return nested;
    return { ...nested, table: shiftTable(nested.table, -frame.before.length) };
  }

  /** With the symbols of each piece by itself, where those are more, or as many and the piece is sound and in no definition. `isCut`: bodies were taken out. */
  #mend(
    loaded: Loaded,
    { bytes, ...timed }: Timed,
    whole: SymbolTable,
    isCut: boolean,
  ): SymbolTable {
    const starts = pieceStarts(bytes);
    const better: Piece[] = [];
    for (const [index, from] of starts.entries()) {
      const to = starts[index + 1] ?? bytes.length;
      const piece = this.#parse(loaded, { bytes: bytes.subarray(from, to), ...timed });
      if (piece === undefined) break;
      const { count, isNested } = contentOf(whole, from, to);
      const found = piece.table.count;
      const isAsGood = found === count && !piece.hasError && !isNested;
      // of a method without its @implementation the body is no method's: what a broken piece finds is guesswork
      const isBetter = !(isCut && piece.hasError && count > 0) && (found > count || isAsGood);
      if (isBetter) better.push({ from, to, table: shiftTable(piece.table, from) });
    }
    return better.length === 0 ? whole : replacePieces(whole, better);
  }
}

interface Reading {
  readonly table: SymbolTable;
  readonly hasError: boolean;
}

const isWorthOptimising = ({ isOptimised, unitsRead }: Runtime, after: number): boolean =>
  isOptimised || unitsRead >= after;

async function load(query: LanguageQuery, isOptimised: boolean): Promise<Loaded> {
  const runtime = await createRuntime({
    grammar: query.grammar,
    query: `${query.query}\n${ERRORS}`,
    roleOf,
    isOptimised,
  });
  return { runtime, kinds: kindsOf(query, runtime.captures) };
}
