/**
 * Tests one language after the other, because loading a grammar takes longer than everything else. The fixture has the
 * symbols of its golden list. Whatever a file contains, the extractor answers in time, with symbols that can be stored.
 *
 * UPDATE_GOLDEN=1 writes the lists again. Read the diff as a programmer of that language would.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { RUNS, someOf } from "../../runs.ts";
import { tellFigure } from "../../figures.ts";
import { FIXTURES, FOLDER } from "./fixtures.ts";
import { showSymbols } from "./show.ts";

const MAX_MS = 300;
const GRACE_MS = 2_000; // for slow machines; without a limit, the time is minutes

/**
 * Returns the time that the thread has worked, if the system reports it, so that other work of the machine does not
 * count.
 */
const now = (): number => THREAD_TIMES.worked() ?? THREAD_TIMES.clock();

const limits = { ...LIMITS };
/** Sets the extractor's limit for this test. */
function limitTo(ms: number): void {
  limits.maxMs = ms;
  onTestFinished(() => void (limits.maxMs = LIMITS.maxMs));
}

let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor(limits);
});

async function linesOf(language: string, bytes: Uint8Array): Promise<string[]> {
  expect(await extractor.prepare(language), `an extractor for ${language}`).toBe(true);
  const found = extractor.extract(language, bytes);
  if (found.outcome !== "symbols") throw new Error(JSON.stringify(found));
  return showSymbols(found.table, bytes);
}

async function checkGolden(file: string, language: string): Promise<void> {
  const golden = `${FOLDER}/golden/${file}.symbols`;
  const lines = await linesOf(language, readFileSync(`${FOLDER}/${file}`));
  if (process.env["UPDATE_GOLDEN"])
    writeFileSync(golden, lines.map((line) => `${line}\n`).join(""));
  expect(lines).toEqual(readFileSync(golden, "utf8").trimEnd().split("\n"));
}

/** Resolves to kinds and names, without places and parents. */
const namesIn = async (language: string, source: string): Promise<string[]> =>
  (await linesOf(language, Buffer.from(source))).map((line) =>
    line.replace(/^\S+ (\S+) (?:.*\/)?/, "$1 "),
  );

/** Removes a name from a list. Returns whether it was in the list. */
function take(names: string[], name: string): boolean {
  const at = names.indexOf(name);
  if (at >= 0) names.splice(at, 1);
  return at >= 0;
}

const ERRORS = ["@@ ) ( = ]", "{", "("];

/** An error loses only symbols near it. */
async function checkErrors(file: string, language: string): Promise<void> {
  const source = readFileSync(`${FOLDER}/${file}`, "utf8");
  const once = await namesIn(language, source);
  // symbols that count once in a file do not occur twice
  const whole = languageQuery(language)?.once ? once : [...once, ...once];
  for (const error of ERRORS) {
    const left = await namesIn(language, `${source}\n\n${error}\n\n${source}`);
    const lost = whole.filter((name) => !take(left, name));
    expect([error, lost]).toEqual([error, []]);
  }
}

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

/** Tries a few cases of each file. `npx tsx fuzz/run.ts symbols` tries any number. */
async function checkSpoiled(file: string, language: string): Promise<void> {
  limitTo(MAX_MS);
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
    { numRuns: 3 * RUNS },
  );
}

test("a word as long as a file does not delay the deadline", async () => {
  limitTo(MAX_MS);
  // during error recovery, this lexer tries every letter of the word
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
 * A limit so short that parsing is soon given up. Whatever the text is, little is parsed, and the parser's memory stays
 * small.
 */
const SHORT_MS = 10;
/** How late parsing may end on a slow machine. Measured: 1 to 8. */
const MOST_LATE_MS = 200;
const MOST_MIB = 200;

const memory = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? 0) / 1_024;

/** Tries half of the pieces, each with every other language, or all with QUERN_RUNS. */
async function checkMegabytes(language: string, n: number): Promise<void> {
  limitTo(SHORT_MS);
  const before = memory();
  const told: string[] = [];
  for (const [piece, bytes] of someOf(HURTS, 2, n)) {
    expect(await extractor.prepare(language)).toBe(true);
    const start = now();
    const found = extractor.extract(language, bytes);
    const ms = now() - start;
    told.push(`${JSON.stringify(piece.slice(0, 4))} ${ms.toFixed(0)}`);
    expect(ms, piece).toBeLessThan(SHORT_MS + MOST_LATE_MS);
    if (found.outcome !== "symbols") expect(found).toMatchObject({ outcome: "gave-up" });
    await new Promise((resolve) => setImmediate(resolve)); // otherwise Node frees no memory
  }
  tellFigure(`${language}: ${told.join(", ")} ms, ${(memory() - before).toFixed(0)} MiB`);
  expect(memory() - before).toBeLessThan(MOST_MIB);
}

function testFixtures(fixtures: typeof FIXTURES): void {
  test.each(fixtures)("%s has the symbols of its golden list", checkGolden);
  test.each(someOf(fixtures, 3))("%s: an error loses only symbols near it", checkErrors);
  test.each(someOf(fixtures, 3, 1))("%s: a damaged text is handled in time", checkSpoiled);
}

for (const [n, { names }] of LANGUAGE_QUERIES.entries()) {
  testFixtures(FIXTURES.filter(([, language]) => names.includes(language)));
  test.runIf(process.platform === "linux")(
    `${names[0]}: a megabyte of slow pieces is given up in time`,
    () => checkMegabytes(names[0]!, n),
  );
}
testFixtures(FIXTURES.filter(([, language]) => languageQuery(language) === undefined));

test("every language has a fixture, and every fixture is tested", () => {
  const tested = new Set(FIXTURES.map(([, language]) => language));
  for (const { names } of LANGUAGE_QUERIES)
    expect(
      names.some((name) => tested.has(name)),
      names.join(),
    ).toBe(true);
  const files = readdirSync(FOLDER).filter((name) => name.startsWith("sample."));
  expect(files.sort()).toEqual(FIXTURES.map(([file]) => file).sort());
  for (const file of files) expect(existsSync(`${FOLDER}/golden/${file}.symbols`)).toBe(true);
});

test("docs/symbols.md names every language", () => {
  const page = readFileSync("docs/symbols.md", "utf8");
  const items = [...page.matchAll(/^- .*?tree-sitter-wasm.*?: (.*?)(?=\n(?:-|\n))/gms)];
  const named = new Set(items.flatMap(([, list]) => list!.split(/,\s+/)));
  const names = LANGUAGE_QUERIES.flatMap((query) => query.names);
  expect(names.filter((name) => !named.has(name))).toEqual([]);
});

test("every query is in the table of languages", () => {
  const files = readdirSync("src/ingest/symbols/queries").filter((name) => name.endsWith(".ts"));
  expect(LANGUAGE_QUERIES.length).toBe(files.length);
});
