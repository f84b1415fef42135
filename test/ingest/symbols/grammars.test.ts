/**
 * A grammar may load and still not parse. Each must always give the same tree for the same text, whatever it and the
 * others have parsed before, and must know current syntax.
 */

import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { createExtractor } from "../../../src/ingest/symbols/extract.ts";
import { languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { asRead } from "./as-read.ts";
import { FIXTURES, FOLDER } from "./fixtures.ts";
import { showSymbols } from "./show.ts";
import { openGrammar, type Parse } from "./syntax.ts";

/** The fixtures that a grammar cannot fully parse. */
const KNOWN_ERRORS = [
  "sample.gleam", // a guard with a float, and attributes after it
];

/**
 * Newer syntax that no fixture has: whether its tree has errors, and the symbols that are found. docs/symbols.md
 * lists the syntax with errors.
 */
const NEWER_SYNTAX: readonly (readonly [
  language: string,
  source: string,
  hasError: boolean,
  symbols: string,
])[] = [
  [
    "C++",
    "export module shop;\nexport class Queue {};\nint after() { return 0; }\n",
    false,
    "2:14 class Queue, 3:5 function after",
  ],
  [
    "Perl",
    "class Point {\n  field $x;\n  method m { 1 }\n}\n\nsub after { 1 }\n",
    true,
    "6:5 function after",
  ],
  [
    "Perl",
    "sub f {\n  try { g() } catch ($e) { warn $e }\n}\n\nsub after { 1 }\n",
    true,
    "1:5 function f, 5:5 function after",
  ],
];

interface Parsed {
  readonly file: string;
  readonly parse: Parse;
  readonly bytes: Uint8Array;
}

let all: Parsed[];
beforeAll(async () => {
  all = [];
  for (const [file, language] of FIXTURES) {
    const query = languageQuery(language);
    if (query === undefined) continue; // a language that only embeds others
    const parse = await openGrammar(query.grammar);
    all.push({ file, parse, bytes: asRead(query, readFileSync(`${FOLDER}/${file}`)) });
  }
});

test("a text always has the same tree, whatever was parsed before", () => {
  const first = all.map(({ parse, bytes }) => parse(bytes).nodes);
  for (let round = 0; round < 3; round++)
    all.toReversed().forEach(({ file, parse, bytes }, index) => {
      expect(parse(bytes).nodes === first[all.length - 1 - index], file).toBe(true);
    });
});

test("the fixtures' syntax is parsed without errors", () => {
  const torn = all.filter(({ parse, bytes }) => parse(bytes).hasError);
  expect(torn.map(({ file }) => file)).toEqual(KNOWN_ERRORS);
});

test.each(NEWER_SYNTAX)(
  "newer syntax in %s is parsed as documented: %s",
  async (language, source, hasError, symbols) => {
    const bytes = Buffer.from(source);
    const [file] = FIXTURES.find(([, name]) => name === language)!;
    const { parse } = all.find((one) => one.file === file)!;
    expect(parse(asRead(languageQuery(language)!, bytes)).hasError).toBe(hasError);
    const extractor = await createExtractor();
    await extractor.prepare(language);
    const found = extractor.extract(language, bytes);
    if (found.outcome !== "symbols") throw new Error(found.outcome);
    expect(showSymbols(found.table, bytes).join(", ")).toBe(symbols);
  },
);
