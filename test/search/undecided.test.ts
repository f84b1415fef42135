/** A search whose answer depends on symbols that are not known yet does not claim to be exhaustive. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = (name: string, files: Record<string, string>): Source =>
  documents({ name, files: Object.entries(files).map(([path, content]) => ({ path, content })) });

const path = mkdtempSync(join(tmpdir(), "quern-undecided-"));
let engine: Engine;
beforeAll(async () => {
  engine = await open(path, { workers: 1, warmUp: false });
  await engine.index(source("known", { "a.ts": "function first() {}\n", "a.txt": "first\n" }));
  await engine.index(
    source("new", {
      "b.ts": "function first() {}\n",
      "c.ts": "function second() {}\n",
      "c.txt": "words\n",
    }),
    { symbols: "skip" },
  );
});
afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true, force: true });
});

const ROWS: readonly (readonly [query: string, undecided: number, found: number])[] = [
  ["first", 0, 3],
  ["lang:TypeScript", 0, 3],
  ["sym:first", 1, 1],
  ["sym:second", 1, 0],
  ["sym:absent", 0, 0], // no text holds it
  ["sym:^.", 3, 1],
  ["repo:known sym:first", 0, 1],
  ["repo:new sym:first", 1, 0],
  ["sym:first file:c", 0, 0],
  ["sym:first file:b", 1, 0],
  ["sym:. file:new", 0, 0], // the name of a repository is no path
  ["sym:. file:ts -file:c", 1, 1],
  ["sym:absent or file:c", 0, 2],
  ["sym:first second", 0, 0],
  ["first -sym:first", 1, 2], // found, and perhaps wrongly
  ["sym:first or sym:second", 2, 1],
  ["first or sym:first", 1, 3], // its ranges could be others
  ["words -sym:first", 0, 1],
];

test.each(ROWS)("%s: undecided %i", async (query, undecided, found) => {
  const { stats, files, isSearchExhaustive } = await engine.search({ query, matches: 100 });
  expect([stats.filesSkipped, files.length]).toEqual([undecided, found]);
  expect(isSearchExhaustive).toBe(undecided === 0);
  for await (const event of engine.stream({ query, matches: 100 }))
    if (event.type === "final") expect(event.isSearchExhaustive).toBe(undecided === 0);
  const { segments } = await engine.explain({ query, matches: 100 });
  const told = segments.map(({ filesWithoutSymbols = 0 }) => filesWithoutSymbols);
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(undecided);
});

test("nothing is told of repositories that the viewer may not see", async () => {
  const repositories = await engine.repositories();
  const id = repositories.find(({ name }) => name === "known")!.id;
  const viewer = { repositoryIds: new Set([id]) };
  const answer = await engine.search({ query: "sym:^.", matches: 100 }, { viewer });
  expect([answer.stats.filesSkipped, answer.isSearchExhaustive]).toEqual([0, true]);
});

test("over HTTP, and once the symbols are known", async () => {
  const handler = createHandler(engine, { anonymous: "all" });
  const ask = async (symbolName: string) => {
    const init = { method: "POST", body: JSON.stringify({ symbolName }) };
    const headers = { "Content-Type": "application/json" };
    const request = new Request("http://localhost/api/find_definitions", { ...init, headers });
    return (await (await handler(request)).json()) as object;
  };
  expect(await ask("first")).toMatchObject({
    stats: { matchCount: 1 },
    isSearchExhaustive: false,
  });
  await engine.index(source("new", { "b.ts": "function first() {}\n" }));
  expect(await ask("first")).toMatchObject({ stats: { matchCount: 2 }, isSearchExhaustive: true });
  for (const [query] of ROWS) {
    const { isSearchExhaustive } = await engine.search({ query, matches: 100 });
    expect([query, isSearchExhaustive]).toEqual([query, true]);
  }
});
