/**
 * A grammar that loads may still not parse. Each must always give the same tree for the same text, whatever it and the
 * others have parsed before, and must know current syntax.
 */

import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { createExtractor } from "../../../src/ingest/symbols/extract.ts";
import { languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { createRuntime, type Runtime } from "../../../src/ingest/symbols/runtime.ts";
import { Decoder } from "../../../src/ingest/symbols/source-text.ts";
import { asRead } from "./as-read.ts";
import { FIXTURES, FOLDER } from "./fixtures.ts";
import { showSymbols } from "./show.ts";

/**
 * The numbers of ERROR and MISSING nodes in the fixtures that a grammar cannot fully parse. All other fixtures have
 * none.
 */
const KNOWN_ERRORS: Record<string, number> = {
  "sample.gleam": 1, // a guard with a float, and attributes behind it
};

/**
 * Newer syntax that no fixture has: the number of errors in its tree, and the symbols that are found. docs/symbols.md
 * lists the syntax with errors.
 */
const NEWER_SYNTAX: readonly (readonly [
  language: string,
  source: string,
  errors: number,
  symbols: string,
])[] = [
  [
    "C++",
    "export module shop;\nexport class Queue {};\nint after() { return 0; }\n",
    0,
    "2:14 class Queue, 3:5 function after",
  ],
  [
    "Perl",
    "class Point {\n  field $x;\n  method m { 1 }\n}\n\nsub after { 1 }\n",
    1,
    "6:5 function after",
  ],
  [
    "Perl",
    "sub f {\n  try { g() } catch ($e) { warn $e }\n}\n\nsub after { 1 }\n",
    1,
    "1:5 function f, 5:5 function after",
  ],
];

interface Parsed {
  readonly file: string;
  readonly runtime: Runtime;
  readonly bytes: Uint8Array;
}

const decoder = new Decoder();
const treeOf = ({ runtime, bytes }: Parsed) => runtime.show(decoder.decode(bytes));

const errorsOf = (parsed: Parsed) => treeOf(parsed).match(/\((?:ERROR|MISSING)/g)?.length ?? 0;

let all: Parsed[];
beforeAll(async () => {
  all = [];
  for (const [file, language] of FIXTURES) {
    const query = languageQuery(language);
    if (query === undefined) continue; // a host of other languages
    const { grammar } = query;
    const runtime = await createRuntime({ grammar, query: "(ERROR) @x", roleOf: () => "name" });
    all.push({ file, runtime, bytes: asRead(query, readFileSync(`${FOLDER}/${file}`)) });
  }
});

test("a text has one tree, between others and again", () => {
  const first = all.map(treeOf);
  for (let round = 0; round < 3; round++)
    all.toReversed().forEach((parsed, index) => {
      expect(treeOf(parsed) === first[all.length - 1 - index], parsed.file).toBe(true);
    });
});

test("today's syntax parses", () => {
  const errors = all.map((parsed) => [parsed.file, errorsOf(parsed)]);
  expect(Object.fromEntries(errors.filter(([, count]) => count !== 0))).toEqual(KNOWN_ERRORS);
});

test.each(NEWER_SYNTAX)("%s: %s", async (language, source, errors, symbols) => {
  const bytes = Buffer.from(source);
  const [file] = FIXTURES.find(([, name]) => name === language)!;
  const parsed = all.find((one) => one.file === file)!;
  expect(errorsOf({ ...parsed, bytes: asRead(languageQuery(language)!, bytes) })).toBe(errors);
  const extractor = await createExtractor();
  await extractor.prepare(language);
  const found = extractor.extract(language, bytes);
  if (found.outcome !== "symbols") throw new Error(found.outcome);
  expect(showSymbols(found.table, bytes).join(", ")).toBe(symbols);
});
