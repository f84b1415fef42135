/**
 * Compares each language's fixture with its golden list. UPDATE_GOLDEN=1 writes the lists again. Then read the diff as
 * a programmer of that language would.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { createExtractor, type Extractor } from "../../../src/ingest/symbols/extract.ts";
import { LANGUAGE_QUERIES } from "../../../src/ingest/symbols/languages.ts";
import { FIXTURES, FOLDER } from "./fixtures.ts";
import { showSymbols } from "./show.ts";

let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor();
});

async function linesOf(file: string, language: string): Promise<string[]> {
  const bytes = readFileSync(`${FOLDER}/${file}`);
  expect(await extractor.prepare(language), `an extractor for ${language}`).toBe(true);
  const found = extractor.extract(language, bytes);
  if (found.outcome !== "symbols") throw new Error(`${file}: ${JSON.stringify(found)}`);
  return showSymbols(found.table, bytes);
}

test.each(FIXTURES)("%s has the symbols of its golden list", async (file, language) => {
  const golden = `${FOLDER}/golden/${file}.symbols`;
  const lines = await linesOf(file, language);
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, lines.map((line) => `${line}\n`).join(""));
  expect(lines).toEqual(readFileSync(golden, "utf8").trimEnd().split("\n"));
});

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

test("every query is in the table", () => {
  const files = readdirSync("src/ingest/symbols/queries").filter((name) => name.endsWith(".ts"));
  expect(LANGUAGE_QUERIES.length).toBe(files.length);
});
