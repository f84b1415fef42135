/**
 * Extracts definitions from the bytes of a file. Each thread has its own extractor, which works on one file at a
 * time.
 *
 * A grammar is loaded when a file first needs it. Each grammar has its own instance of the tree-sitter runtime. The
 * MAX_RUNTIMES most recently used runtimes stay loaded. If a runtime has trapped or uses more memory than MAX_HEAP,
 * the next prepare() replaces it. So memory is bounded for any number of files, and no file affects the next one.
 *
 * Memory is bounded only if the caller returns to the event loop between loads. Otherwise Node does not free the
 * memory of a dropped runtime. Loading 15 languages in turn, six times each, takes 200 MiB with such returns to the
 * event loop, and 460 MiB if only microtasks run between loads.
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
  /** quern has no query for the language. */
  | { readonly outcome: "none" }
  /**
   * 'too-long': extraction took more than maxMs of processor time. 'too-large': the file is larger than the limit for
   * its language.
   */
  | { readonly outcome: "gave-up"; readonly reason: "too-long" | "too-large" }
  /**
   * The grammar has trapped, cannot be loaded, or has returned impossible symbols. `detail` is a description for
   * people.
   */
  | { readonly outcome: "gave-up"; readonly reason: "failed"; readonly detail: string };

const failed = (detail: string): Extraction => ({ outcome: "gave-up", reason: "failed", detail });

/**
 * The `detail` of a failure if the extracted table is invalid. Such a failure is a bug in quern, and not in a
 * grammar.
 */
export const UNSOUND = "symbols that cannot be";

/**
 * Extracts definitions from one file at a time. When an extractor is disposed, the next extractor of the thread can
 * reuse some of its runtimes.
 */
export interface Extractor extends Disposable {
  /**
   * Loads the grammars that files of a language need. `language` is the name of the language in GitHub Linguist.
   * Resolves to false if quern has no query for the language. REQUIRES: the caller returns to the event loop between
   * loads, as described at the head of this file.
   */
  prepare(language: string): Promise<boolean>;
  /**
   * Extracts the definitions of a file. Does not throw, whatever `bytes` contains, and the returned table is always
   * valid for `bytes`. REQUIRES: prepare(language) was called since the previous extract(), and resolved to true.
   */
  extract(language: string, bytes: Uint8Array): Extraction;
  /** Drops all runtimes. */
  close(): void;
}

export interface ExtractorLimits {
  /**
   * The maximum processor time for one file, in milliseconds. The limit is generous, because results must not depend
   * on the speed of the machine. A file of `maxBytes` takes about 0.3 s.
   */
  readonly maxMs: number;
  readonly maxBytes: number;
}

export const LIMITS: ExtractorLimits = { maxMs: 3_000, maxBytes: 4 << 20 };

const ERRORS = "(ERROR) @torn";
/** If an ERROR node has at least this many UTF-16 units, definitions near the node may be wrong, too. */
const TORN_UNITS = 500;
/** The maximum number of runtimes that stay loaded. A runtime takes about 10 MB. Loading it takes 50 to 400 ms. */
const MAX_RUNTIMES = 10;
const MAX_HEAP = 48 << 20;
/** The maximum number of runtimes that a thread keeps for its next extractor. Three runtimes take about 30 MB. */
const MAX_SPARE = 3;
/**
 * When a thread has parsed this many UTF-16 units of a language, it loads the language's runtime again, with
 * optimisation. Loading takes as much time as the optimisation saves on 8 MB of C.
 */
const OPTIMISED_AFTER = 8 << 20;

/** Returns the query for a language, which is given by its name in GitHub Linguist. */
type Languages = (name: string) => LanguageQuery | undefined;

/** Creates an extractor with these limits, which asks `languages` for queries and `times` for the time. */
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

/**
 * The runtimes that disposed extractors of this thread have left. If a host closes an engine without workers and
 * opens another one, the new engine need not load the same grammars again.
 */
const spare = new LruCache<LanguageQuery, Loaded>({ most: MAX_SPARE });

/** Removes and returns the spare runtime for a query, if there is one. */
function takeSpare(query: LanguageQuery): Loaded | undefined {
  const loaded = spare.get(query);
  spare.delete(query);
  return loaded;
}

class TreeSitterExtractor implements Extractor {
  readonly #limits: ExtractorLimits;
  readonly #languages: Languages;
  readonly #times: Times;
  readonly #decoder = new Decoder();
  readonly #loaded = new LruCache<LanguageQuery, Loaded>({ most: MAX_RUNTIMES });

  /**
   * Languages whose grammar cannot be loaded, or whose grammar does not know a node that the query names. Extraction
   * fails for every file of such a language.
   */
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

  [Symbol.dispose](): void {
    const queries = [...this.#loaded.keys()]; // the keys are copied, because get() changes their order
    for (const query of queries) spare.set(query, this.#loaded.get(query)!);
    this.close();
  }

  async #load(query: LanguageQuery): Promise<void> {
    const kept = this.#loaded.get(query) ?? takeSpare(query);
    const isOptimised = kept !== undefined && isWorthOptimising(kept.runtime);
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

  /**
   * Parses the reworded text of a file. If the reworded text has syntax errors, the original text is parsed, too. The
   * original is used if it has no errors, or if it has more definitions. Returns undefined if the time limit is
   * reached before any text is parsed.
   */
  #run(loaded: Loaded, query: LanguageQuery, { bytes, isOver }: Timed): SymbolTable | undefined {
    const worded = reword(bytes, query);
    const older = worded && this.#read(loaded, query, { ...worded, isOver });
    if (older?.hasError === false) return older.table;
    const plain = this.#read(loaded, query, { bytes, isOver });
    if (older === undefined || plain === undefined) return (older ?? plain)?.table;
    const isRicher = plain.hasError && older.table.count >= plain.table.count;
    return isRicher ? older.table : plain.table;
  }

  /**
   * Parses a text without the ranges that the language's query cuts out. If the text has syntax errors, it is parsed
   * again in pieces. Returns undefined if the time limit is reached.
   */
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

  /** Parses a text, and builds its table of symbols. Returns undefined if the time limit is reached. */
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

  /**
   * Parses a text with syntax errors again in pieces. For each piece, the symbols are taken either from a parse of
   * the piece alone, or from the parse of the whole text. The parse of the piece is used if it finds more symbols. If
   * both find equally many, it is used only if the piece has no errors and is not inside a definition. `isCut` is true
   * if bodies were cut out of the text.
   */
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
      // if the @implementation around methods is in another piece, the bodies of the methods are not recognized; so
      // the symbols of a piece with errors are guesses
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

const isWorthOptimising = ({ isOptimised, unitsRead }: Runtime): boolean =>
  isOptimised || unitsRead >= OPTIMISED_AFTER;

async function load(query: LanguageQuery, isOptimised: boolean): Promise<Loaded> {
  const runtime = await createRuntime({
    grammar: query.grammar,
    query: `${query.query}\n${ERRORS}`,
    roleOf,
    isOptimised,
  });
  return { runtime, kinds: kindsOf(query, runtime.captures) };
}
