/**
 * Loading a grammar is not parsing with it: each must give one tree for one text, whatever it and
 * the others have parsed before, and know today's syntax.
 */

import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { createRuntime, type Runtime } from "../../../src/ingest/symbols/runtime.ts";
import { Decoder } from "../../../src/ingest/symbols/source-text.ts";
import { FIXTURES, FOLDER } from "./fixtures.ts";

/** ERROR and MISSING nodes in the fixtures, all others have none: what each grammar cannot parse. */
const KNOWN_ERRORS: Record<string, number> = {
  "sample.c": 3, // an annotation, which is cut away; a function whose head is in two branches of an #if
  "sample.cpp": 2, // a constrained template parameter with a default; `T y = {}`
  "sample.cs": 2, // `ref readonly` parameters
  "sample.css": 4, // layer() and supports() behind @import; media ranges; named containers
  "sample.ini": 1, // a colon between key and value
  "sample.zig": 1, // a container without fields
};

interface Parsed {
  readonly file: string;
  readonly runtime: Runtime;
  readonly bytes: Uint8Array;
}

const decoder = new Decoder();
const treeOf = ({ runtime, bytes }: Parsed) => runtime.show(decoder.decode(bytes));

let all: Parsed[];
beforeAll(async () => {
  all = [];
  for (const [file, language] of FIXTURES) {
    const grammar = languageQuery(language)?.grammar;
    if (grammar === undefined) continue; // a host of other languages
    const runtime = await createRuntime({ grammar, query: "(ERROR) @x", roleOf: () => "name" });
    all.push({ file, runtime, bytes: readFileSync(`${FOLDER}/${file}`) });
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
  const errors = all.map((parsed) => [
    parsed.file,
    treeOf(parsed).match(/\((?:ERROR|MISSING)/g)?.length ?? 0,
  ]);
  expect(Object.fromEntries(errors.filter(([, count]) => count !== 0))).toEqual(KNOWN_ERRORS);
});
