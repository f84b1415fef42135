/** Facets: exact counts of the files that match, by repository, language and folder. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { FileResult, Facet } from "../../src/search/messages/response.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, moveViewer } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";

const show = ({ values, more }: Facet): string =>
  [
    ...values.map(({ value, fileCount }) => `${value} ${fileCount}`),
    ...(more ? [`+${more}`] : []),
  ].join(", ");

const SHOP = documents({
  name: "shop",
  files: [
    { path: "README.md", content: "retry" },
    { path: "src/cart.ts", content: "retry" },
    { path: "src/pay/card.ts", content: "retry" },
    { path: "src/pay/deep/bank.go", content: "retry" },
    { path: "src/pay.ts", content: "nothing" },
    { path: "srcs/é/x.unheard-of", content: "retry" },
  ],
});
const SITE = documents({ name: "site", files: [{ path: "a/b.ts", content: "retry" }] });

test.each<[query: string, most: number, repositories: string, languages: string, folders: string]>([
  [
    "retry repo:shop",
    10,
    "shop 5",
    "TypeScript 2, Go 1, Markdown 1",
    "src 3, src/pay 2, srcs 1, srcs/é 1",
  ],
  ["retry", 10, "shop 5, site 1", "TypeScript 3, Go 1, Markdown 1", ""],
  ["retry", 1, "shop 5, +1", "TypeScript 3, +2", ""],
  [
    "retry repo:shop",
    3,
    "shop 5",
    "TypeScript 2, Go 1, Markdown 1",
    "src 3, src/pay 2, srcs 1, +1",
  ],
  ["file:README repo:shop", 9, "shop 1", "Markdown 1", ""],
  ["unheard-of", 9, "", "", ""],
])("%s, %i values", async (query, facets, repositories, languages, folders) => {
  const engine = await openEngine();
  await engine.index([SHOP, SITE]);
  const found = (await engine.search({ query, matches: 1, facets })).facets!;
  expect([found.repositories, found.languages, found.folders].map(show)).toEqual([
    repositories,
    languages,
    folders,
  ]);
});

test("facets are counted only on request, are the same on each page, and are unavailable in streams", async () => {
  const engine = await openEngine();
  await engine.index([SHOP, SITE]);
  const request = { query: "retry", matches: 1 };
  expect(await engine.search(request)).not.toHaveProperty("facets");
  const first = await engine.search({ ...request, facets: 5, after: "" });
  const second = await engine.search({ ...request, facets: 5, after: first.nextCursor! });
  expect(second.files).not.toEqual(first.files);
  expect(second.facets).toEqual(first.facets);
  const events = engine.stream({ ...request, facets: 5 })[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringMatching(/^facets: /) as string,
  });
});

// ── any query, compared with the files themselves ──

function countBy(files: readonly FileResult[], valuesOf: (file: FileResult) => string[]): Facet {
  const counts = new Map<string, number>();
  for (const value of files.flatMap(valuesOf)) counts.set(value, (counts.get(value) ?? 0) + 1);
  const values = [...counts].map(([value, fileCount]) => ({ value, fileCount }));
  values.sort((a, b) => b.fileCount - a.fileCount || (a.value < b.value ? -1 : 1));
  return { values, more: 0 };
}

function foldersOf({ fileName: { text } }: FileResult): string[] {
  const names = text.split("/").slice(0, -1);
  return [names.slice(0, 1), names.slice(0, 2)]
    .filter((some, level) => some.length === level + 1)
    .map((some) => some.join("/"));
}

const WORKERS = [
  { workers: 0, states: 6 },
  { workers: 3, states: 2 },
];

test.each(someOf(WORKERS, 2))("any query, $workers workers", async (given) => {
  const contexts = (name: string) => CONTEXTS[name];
  const engine = await openEngine({ workers: given.workers, contexts });
  const check = async ({ corpus, asked }: SearchState, most: number) => {
    const there = await bringTo(engine, corpus);
    for (const { request, options } of asked) {
      const { viewer } = moveViewer(options, corpus, there);
      const viewing = viewer ? { viewer } : {};
      const { files } = await engine.search({ ...request, matches: 1e9 }, viewing);
      const isOne = new Set(files.map(({ repository }) => repository)).size === 1;
      const twin = {
        repositories: countBy(files, ({ repository }) => [repository]),
        languages: countBy(files, ({ language }) => (language === "" ? [] : [language])),
        folders: countBy(isOne ? files : [], foldersOf),
      };
      const asksFor = async (facets: number) =>
        (await engine.search({ ...request, matches: 0, facets }, viewing)).facets;
      expect(await asksFor(1000)).toEqual(twin);
      const { values } = twin.repositories;
      const cut = { values: values.slice(0, most), more: Math.max(0, values.length - most) };
      expect((await asksFor(most))!.repositories).toEqual(cut);
    }
  };
  const property = fc.asyncProperty(searchStates(6), fc.integer({ min: 1, max: 3 }), check);
  await fc.assert(property, { numRuns: given.states * RUNS });
});
