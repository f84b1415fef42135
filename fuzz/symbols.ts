/**
 * Fuzzes the extraction of symbols with changed real files. It covers the grammar of each language and its rewordings,
 * whose words are inserted into the text. An input is a byte for the language's position in LANGUAGES, followed by a
 * text. The extractor must end in time, with a table that can be stored and read back unchanged. A rewording must be as
 * long as the text that it replaces. If a grammar traps, the file has no symbols, and the next file of its language
 * must still have the symbols that it had before.
 *
 * `npx tsx fuzz/run.ts symbols --files PATH --cases 1000000` uses the files of that folder. For a language without such
 * files, and without `--files`, it uses the language's fixture in corpus/languages. LANGUAGE_CASES consecutive cases
 * have the same language, because loading a grammar takes as long as a thousand small cases.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { GrowableBytes } from "../src/base/growable.ts";
import { languageOf } from "../src/ingest/classification/languages.ts";
import {
  createExtractor,
  LIMITS,
  type Extraction,
  type Extractor,
} from "../src/ingest/symbols/extract.ts";
import { languageQuery } from "../src/ingest/symbols/languages.ts";
import { reword } from "../src/ingest/symbols/queries/shared/rewording.ts";
import {
  decodeSymbols,
  encodeSymbols,
  isSoundTable,
  newSymbolList,
  type SymbolTable,
} from "../src/store/symbols/symbol-run.ts";
import { FIXTURES, FOLDER } from "../test/ingest/symbols/fixtures.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

const LANGUAGE_CASES = 2_000;
/**
 * Parts of real files, of 16 bytes to 2 KiB. Short parts are as frequent as long ones, because many small cases find
 * more than a few large ones.
 */
const [LEAST_BITS, MOST_BITS] = [4, 11];
const MOST_FILES = 400; // the number of consecutive cases of a language
const MOST_FILE_BYTES = 1 << 18;

/** Names of languages as in GitHub Linguist. REQUIRES: fewer than 256. */
const LANGUAGES = [...new Set(FIXTURES.map(([, language]) => language))];

/** The seeds of each language, in the order of LANGUAGES. */
type Texts = readonly (readonly Buffer[])[];

export async function openSymbolsTarget(folders: readonly string[] = []): Promise<Target> {
  const texts = textsOf(folders);
  const extractor = await createExtractor({ ...LIMITS, maxMs: 300 });
  return {
    make(random, seeds, seed) {
      const at = Math.floor(seed / LANGUAGE_CASES) % LANGUAGES.length;
      const text = changed(random, at, texts, seeds);
      return Buffer.concat([Uint8Array.of(at), text]);
    },
    async check(input) {
      const language = LANGUAGES[(input[0] ?? 0) % LANGUAGES.length]!;
      const bytes = input.subarray(1);
      const query = languageQuery(language); // not a file that contains other languages, such as HTML
      if (query) checkWording(reword(bytes, query)?.bytes, bytes);
      holds(await extractor.prepare(language), `${language} has no extractor`);
      const found = extractor.extract(language, bytes);
      if (found.outcome === "symbols") checkTable(found.table, bytes.length);
      else if (isTrap(found)) await checkFixture(extractor, language);
      else holds(found.outcome === "gave-up" && found.reason === "too-long", JSON.stringify(found));
    },
  };
}

/** Returns true if the grammar failed because it accessed memory outside its own. */
const isTrap = (found: Extraction): boolean =>
  found.outcome === "gave-up" && found.reason === "failed" && /RuntimeError/.test(found.detail);

/** Checks that no file affects the next one. The fixture must have the same symbols as with a new extractor. */
async function checkFixture(extractor: Extractor, language: string): Promise<void> {
  const [file] = FIXTURES.find(([, one]) => one === language)!;
  const bytes = readFileSync(`${FOLDER}/${file}`);
  const tables = [extractor, await createExtractor()].map(async (one) => {
    await one.prepare(language);
    const found = one.extract(language, bytes);
    return found.outcome === "symbols" ? [...found.table.rows].join() : found.outcome;
  });
  const [after, fresh] = await Promise.all(tables);
  holds(after === fresh, `behind a trap ${file} has ${after}, and not ${fresh}`);
}

function checkWording(older: Uint8Array | undefined, bytes: Uint8Array): void {
  if (older) holds(older.length === bytes.length, `reworded ${bytes.length} to ${older.length}`);
}

function checkTable(table: SymbolTable, textBytes: number): void {
  holds(isSoundTable(table, textBytes), `a table that cannot be: ${[...table.rows].join()}`);
  const run = new GrowableBytes();
  encodeSymbols(table, run);
  const list = newSymbolList();
  decodeSymbols(run.view, textBytes, list);
  const read = list.rows.subarray(0, table.count === 0 ? 0 : table.rows.length);
  const kept = table.count === 0 ? [] : [...table.rows]; // parents are not stored alone
  holds(
    list.count === table.count && Buffer.from(read).equals(Buffer.from(Int32Array.from(kept))),
    `stored ${kept.join()}, read ${read.join()}`,
  );
}

/** Returns a changed part of a real text, with some characteristic words of its language. */
function changed(random: Random, at: number, texts: Texts, seeds: readonly Buffer[]): Buffer {
  const own = [
    ...texts[at]!,
    ...seeds.filter(([first]) => first === at).map((one) => one.subarray(1)),
  ];
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const whole = pick(own);
  const from = random(3) === 0 ? 0 : random(whole.length);
  const length = random(2 ** (LEAST_BITS + random(1 + MOST_BITS - LEAST_BITS)));
  let text = whole.subarray(from, from + 1 + length);
  const words = wordsOf(LANGUAGES[at]!);
  for (let left = words.length === 0 ? 0 : random(4); left > 0; left--) {
    const place = random(text.length + 1);
    const word = Buffer.from(pick(words).repeat(pick([1, 1, 1, 9])));
    text = Buffer.concat([text.subarray(0, place), word, text.subarray(place)]);
  }
  return random(8) === 0 ? text : mutate(random, text, random(2) === 0 ? own : texts.flat());
}

const words = new Map<string, string[]>();

/** Words that the rules for newer syntax look for, and parts of their expressions. */
function wordsOf(language: string): string[] {
  const known = words.get(language);
  if (known) return known;
  const { rewordings = [], frame } = languageQuery(language) ?? {};
  const made = rewordings.flatMap(({ words: own, newer }) => [
    ...own,
    ...(newer.source.match(/\w{2,}/g) ?? []),
  ]);
  if (frame)
    made.push(...frame.words, ...frame.words.map((word) => `\n${word}`), frame.before, frame.after);
  words.set(language, made);
  return made;
}

function textsOf(folders: readonly string[]): Texts {
  const texts = LANGUAGES.map((language) =>
    FIXTURES.filter(([, one]) => one === language).map(([file]) =>
      readFileSync(`${FOLDER}/${file}`),
    ),
  );
  for (const folder of folders)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      if (statSync(path).size > MOST_FILE_BYTES) continue;
      const bytes = readFileSync(path);
      const of = texts[LANGUAGES.indexOf(languageOf(path, bytes))];
      if (of && of.length < MOST_FILES && bytes.length > 0) of.push(bytes);
    }
  return texts;
}
