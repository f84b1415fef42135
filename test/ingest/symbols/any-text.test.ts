/** Whatever a file contains, each extractor answers in time, with symbols that can be stored. */

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { GrowableBytes } from "../../../src/base/growable.ts";
import { createExtractor, LIMITS, type Extractor } from "../../../src/ingest/symbols/extract.ts";
import { LANGUAGE_QUERIES, languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { THREAD_TIMES } from "../../../src/ingest/symbols/work-limit.ts";
import {
  decodeSymbols,
  encodeSymbols,
  newSymbolList,
  type SymbolTable,
} from "../../../src/store/symbols/symbol-run.ts";
import { RUNS } from "../../engine/opened.ts";
import { tellFigure } from "../../figures.ts";
import { FIXTURES, FOLDER } from "./fixtures.ts";

const MAX_MS = 300;
const GRACE_MS = 2_000; // of a slow machine; what has no bound takes minutes

/**
 * Returns the time that the thread has worked, if the system reports it, so that other work of the machine does not
 * count.
 */
const now = (): number => THREAD_TIMES.worked() ?? THREAD_TIMES.clock();

const limits = { ...LIMITS, maxMs: MAX_MS };
let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor(limits);
});

const sources = FIXTURES.map(([file]) => readFileSync(`${FOLDER}/${file}`));

/**
 * Spoils a whole text: it is cut off, a part is lost or repeated, or text of another language or arbitrary bytes are
 * inserted.
 */
function spoiled(source: Buffer): fc.Arbitrary<Buffer> {
  const place = fc.nat(source.length);
  const other = fc
    .tuple(fc.constantFrom(...sources), place, fc.nat(400))
    .map(([text, from, length]) => text.subarray(from, from + length));
  const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  const repeated = fc
    .tuple(fc.nat(source.length - 1), fc.integer({ min: 1, max: 30 }))
    .map(([from, length]) => Buffer.alloc(3_000, source.subarray(from, from + length)));
  const inserted = fc.oneof(fc.constant(Buffer.alloc(0)), other, noise, repeated);
  return fc.oneof(
    place.map((end) => source.subarray(0, end)),
    fc
      .tuple(place, place, inserted)
      .map(([end, start, text]) =>
        Buffer.concat([source.subarray(0, end), text, source.subarray(start)]),
      ),
  );
}

/** Stores the symbols and reads them back. Storing refuses impossible symbols. */
function stored(table: SymbolTable, textBytes: number): SymbolTable {
  const run = new GrowableBytes();
  encodeSymbols(table, run);
  const list = newSymbolList();
  decodeSymbols(run.view, textBytes, list);
  return { count: list.count, rows: list.rows.slice(0, table.rows.length) };
}

/** Tries a few cases of each file; `npx tsx fuzz/run.ts symbols` tries as many as one likes. */
async function checkSpoiled(file: string, language: string): Promise<void> {
  const source = readFileSync(`${FOLDER}/${file}`);
  await fc.assert(
    fc.asyncProperty(spoiled(source), async (bytes) => {
      expect(await extractor.prepare(language)).toBe(true);
      const start = now();
      const found = extractor.extract(language, bytes);
      expect(now() - start).toBeLessThan(MAX_MS + GRACE_MS);
      if (found.outcome === "symbols")
        expect(found.table).toEqual(stored(found.table, bytes.length));
      else expect(found).toEqual({ outcome: "gave-up", reason: "too-long" });
    }),
    { numRuns: 5 * RUNS },
  );
}

test("a word as long as a file is no way past the deadline", async () => {
  // while it looks for a way out of an error, this lexer tries every letter of the word
  const swift = Buffer.from(`class Shop {\n  convenience${"l".repeat(100_000)} init(\n}\n`);
  await extractor.prepare("Swift");
  const start = now();
  extractor.extract("Swift", swift);
  expect(now() - start).toBeLessThan(MAX_MS + GRACE_MS);
});

const MEGABYTE = 1 << 20;
/** Pieces that nest or repeat in most languages. For each there is a language whose parser takes longest for it. */
const HURTS = ["(", "{", "[", "-", "function f(){", "class A\n  def a\n"].map(
  (piece) => [piece, Buffer.from(piece.repeat(MEGABYTE / piece.length))] as const,
);
/**
 * So short a limit that parsing is soon given up: whatever the text is, little is parsed, and the parser's memory stays
 * small.
 */
const SHORT_MS = 10;
/** How late parsing may end on a slow machine. Measured: 1 to 8. */
const MOST_LATE_MS = 200;
const MOST_MIB = 200;

const memory = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) / 1_024;

async function checkMegabytes(language: string): Promise<void> {
  limits.maxMs = SHORT_MS;
  onTestFinished(() => void (limits.maxMs = MAX_MS));
  const before = memory();
  const told: string[] = [];
  for (const [piece, bytes] of HURTS) {
    expect(await extractor.prepare(language)).toBe(true);
    const start = now();
    const found = extractor.extract(language, bytes);
    const ms = now() - start;
    told.push(`${JSON.stringify(piece.slice(0, 4))} ${ms.toFixed(0)}`);
    expect(ms, piece).toBeLessThan(SHORT_MS + MOST_LATE_MS);
    if (found.outcome !== "symbols") expect(found).toMatchObject({ outcome: "gave-up" });
    await new Promise((resolve) => setImmediate(resolve)); // else Node frees no memory
  }
  tellFigure(`${language}: ${told.join(", ")} ms, ${(memory() - before).toFixed(0)} MiB`);
  expect(memory() - before).toBeLessThan(MOST_MIB);
}

// language by language, since loading a grammar takes longer than all that is read with it
for (const { names } of LANGUAGE_QUERIES) {
  const own = FIXTURES.filter(([, language]) => names.includes(language));
  test.each(own)("%s, spoiled", checkSpoiled);
  test.runIf(process.platform === "linux")(`a megabyte of what hurts ${names[0]}`, () =>
    checkMegabytes(names[0]!),
  );
}

const EMBEDDING = FIXTURES.filter(([, language]) => languageQuery(language) === undefined);
test.each(EMBEDDING)("%s, spoiled", checkSpoiled);
