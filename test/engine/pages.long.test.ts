/**
 * Pages of results. Pages of one state are together the whole answer. If the state changes in between, nothing that
 * stayed is lost or repeated.
 */

import fc from "fast-check";
import { pack, unpack } from "msgpackr";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import type { Corpus } from "../oracle/corpus.ts";
import { fileKey } from "../oracle/oracle.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, moveViewer } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";

const contexts = (name: string) => CONTEXTS[name];

const rangesIn = (file: FileResult): string[] =>
  (file.chunks.length > 0
    ? file.chunks.flatMap(({ matchRanges }) => matchRanges)
    : file.fileName.matchRanges
  ).map(
    ({ start, end }) => `${start.byteOffset}@${start.lineNumber}:${start.column}-${end.byteOffset}`,
  );

/** Yields pages whose sizes are taken in turn from the list. */
async function* pages(
  engine: Engine,
  request: SearchRequest,
  { sizes, ...options }: SearchOptions & { readonly sizes: readonly number[] },
): AsyncGenerator<SearchResponse> {
  let after: string | undefined = "";
  for (let page = 0; after !== undefined; page++) {
    const matches = sizes[page % sizes.length]!;
    const response: SearchResponse = await engine.search({ ...request, matches, after }, options);
    const isFull = response.stats.actualMatchCount === matches || options.maxBytes !== undefined;
    if (response.nextCursor !== undefined && !isFull)
      expect.fail("a page that is not full, and more");
    yield response;
    after = response.nextCursor;
  }
}

interface Part {
  readonly key: string;
  readonly ranges: string[];
}

/** Returns the files in order, and joins the parts of a file that two pages share. */
function joined(files: readonly FileResult[]): Part[] {
  const parts: Part[] = [];
  for (const file of files) {
    const key = fileKey(file);
    const last = parts.at(-1);
    if (last?.key === key) last.ranges.push(...rangesIn(file));
    else parts.push({ key, ranges: rangesIn(file) });
  }
  return parts;
}

const inAnyOrder = (parts: readonly Part[]) =>
  parts.map(({ key, ranges }) => ({ key, ranges: ranges.toSorted() }));

const WORKERS = [
  { workers: 0, states: 4 },
  { workers: 1, states: 2 },
  { workers: 3, states: 3 },
];

const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 4, max: 40 })), {
  minLength: 1,
  maxLength: 4,
});
const perFile = fc.option(fc.integer({ min: 1, max: 4 }));

test.each(someOf(WORKERS, 2))(
  "the pages of one state together are the whole answer, $workers workers",
  async (given) => {
    const engine = await openEngine({ workers: given.workers, contexts });
    const check = async ({ corpus, asked }: SearchState, some: number[], most: number | null) => {
      const there = await bringTo(engine, corpus);
      for (const one of asked) {
        const { viewer } = moveViewer(one.options, corpus, there);
        const viewing = viewer ? { viewer } : {};
        // several thousand ranges in one file would take as many pages
        const request = { ...one.request, matches: 400, ...(most && { matchesPerFile: most }) };
        const all = await engine.search(request, viewing);
        const files: FileResult[] = [];
        const seen = { ranges: 0 };
        for await (const page of pages(engine, request, { ...viewing, sizes: some })) {
          const { fileCount, totalMatchCount } = all.stats;
          expect(page.stats).toMatchObject({ fileCount, totalMatchCount });
          expect(page.indexChanged).toBeUndefined();
          files.push(...page.files);
          seen.ranges += page.stats.actualMatchCount;
          if (seen.ranges > 400) break;
        }
        const expected = await engine.search({ ...request, matches: seen.ranges }, viewing);
        if (seen.ranges <= 400) expect(seen.ranges).toBe(all.stats.actualMatchCount);
        const compared = most === null ? (parts: Part[]) => parts : inAnyOrder;
        expect(compared(joined(files))).toEqual(compared(joined(expected.files)));
      }
    };
    const property = fc.asyncProperty(searchStates(4), sizes, perFile, check);
    await fc.assert(property, { numRuns: given.states * RUNS });
  },
);

// ── the index changes between two pages ──

interface Change {
  readonly before: SearchState;
  readonly after: SearchState;
}

const changes: fc.Arbitrary<Change> = fc.record({
  before: searchStates(4, { pages: false }),
  after: searchStates(1, { pages: false }),
});

/** Returns a state with some files of one state and some of the other. */
function mixed(before: Corpus, after: Corpus): Corpus {
  const kept = before.repositories.map((repository) => {
    const other = after.repositories.find(({ name }) => name === repository.name);
    if (!other) return repository;
    const [revision] = repository.revisions;
    const files = new Map(other.revisions[0]!.files.map((file) => [file.path, file]));
    revision!.files.forEach((file, i) => i % 2 === 0 && files.set(file.path, file));
    return { ...repository, revisions: [{ ...revision!, files: [...files.values()] }] };
  });
  return {
    repositories: [
      ...kept.slice(0, 2),
      ...after.repositories.filter(({ name }) => !kept.some((one) => one.name === name)),
    ],
  };
}

const contentOf = async (engine: Engine, request: SearchRequest) => {
  const { files } = await engine.search({ ...request, matches: 1e9, whole: true });
  return new Map(files.map((file) => [fileKey(file), `${file.content} ${rangesIn(file).join()}`]));
};

/** Draws cases in which the index changes between two pages. */
const CHANGES = { seed: 1, numRuns: 1 };

test("files that are unchanged between two pages are returned once", async () => {
  const engine = await openEngine({ contexts });
  const seen = { changed: 0, expired: 0 };
  const check = async ({ before, after }: Change, size: number) => {
    const next = mixed(before.corpus, after.corpus);
    for (const { request } of before.asked) {
      await bringTo(engine, before.corpus);
      const old = await contentOf(engine, request);
      const first = await engine.search({ ...request, matches: size, after: "" });
      const { nextCursor } = first;
      if (nextCursor === undefined) continue;
      await bringTo(engine, next);
      if (!next.repositories.some(({ name }) => name === first.files.at(-1)!.repository)) {
        seen.expired++;
        await expect(engine.search({ ...request, after: nextCursor })).rejects.toThrow(
          expect.objectContaining({ code: "CURSOR_EXPIRED" }),
        );
        continue;
      }
      const now = await contentOf(engine, request);
      const rest = await engine.search({ ...request, matches: 1e9, after: nextCursor });
      if (rest.indexChanged) seen.changed++;
      const shown = joined([...first.files, ...rest.files]);
      for (const [key, content] of now) {
        const parts = shown.filter((part) => part.key === key);
        if (old.get(key) === content) expect(parts.length, key).toBe(1);
      }
      for (const { key } of joined(rest.files)) expect([...now.keys()]).toContain(key);
    }
  };
  const size = fc.integer({ min: 1, max: 5 });
  const examples = fc.sample(fc.tuple(changes, size), CHANGES);
  await fc.assert(fc.asyncProperty(changes, size, check), { examples, numRuns: 8 * RUNS });
  expect(seen.changed).toBeGreaterThan(0);
});

async function notes(): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(NOTES);
  return engine;
}

const NOTES = documents({
  name: "notes",
  files: [
    { path: "a.txt", content: "needle\nneedle\n" },
    { path: "b.txt", content: "needle\n" },
  ],
});
const MORE = documents({ name: "more", files: [{ path: "c.txt", content: "needle\n" }] });
const REQUEST = { query: "needle", matches: 1 };

const firstCursor = async (engine: Engine): Promise<string> =>
  (await engine.search({ ...REQUEST, after: "" })).nextCursor!;

test("a page costs no more than the first one", async () => {
  const engine = await openEngine();
  const content = "a line\nneedle\n".repeat(10);
  const files = Array.from({ length: 200 }, (_, i) => ({
    path: `f${i}.txt`,
    content: `${1000 + i}\n${content}`,
  }));
  await engine.index(documents({ name: "many", files }));
  const costs: string[] = [];
  for await (const { stats } of pages(
    engine,
    { ...REQUEST, isRegexEnabled: true, query: "ne+dle" },
    { sizes: [250] },
  ))
    costs.push(`${stats.filesConsidered} files, ${stats.contentBytesLoaded} bytes`);
  expect(costs.length).toBe(8);
  expect(new Set(costs).size).toBe(1);
});

test.each([
  [1, 14],
  [2_000, 40],
  [20_000, 40],
])("pages that are full at %i bytes continue there", async (maxBytes, fileCount) => {
  const engine = await openEngine();
  const files = Array.from({ length: fileCount }, (_, i) => ({
    path: `f${i}.txt`,
    content: "needle\n".repeat(1 + (i % 7) * 5),
  }));
  await engine.index(documents({ name: "many", files }));
  const whole = await engine.search({ ...REQUEST, matches: 1e6 });
  const shown: FileResult[] = [];
  let count = 0;
  for await (const page of pages(engine, REQUEST, { sizes: [1e6], maxBytes })) {
    shown.push(...page.files);
    count++;
  }
  expect(joined(shown)).toEqual(joined(whole.files));
  expect(count).toBeGreaterThan(3);
});

test("without `after`, a response has neither field", async () => {
  const engine = await notes();
  const response = await engine.search(REQUEST);
  expect(Object.keys(response)).toEqual(["stats", "files", "repositoryInfo", "isSearchExhaustive"]);
});

test("the last page has no cursor, and neither has a page of an empty answer", async () => {
  const engine = await notes();
  const cursorOf = async (matches: number) =>
    (await engine.search({ ...REQUEST, matches, after: "" })).nextCursor;
  expect([await cursorOf(3), await cursorOf(4), await cursorOf(0)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await cursorOf(2)).toEqual(expect.any(String));
});

test("a page says that the index has changed only if the viewer may see the change", async () => {
  const engine = await notes();
  const viewer = { repositoryIds: new Set((await engine.repositories()).map(({ id }) => id)) };
  const after = (await engine.search({ ...REQUEST, after: "" }, { viewer })).nextCursor!;
  const all = await firstCursor(engine);
  await engine.index(MORE);
  expect(await engine.search({ ...REQUEST, after }, { viewer })).not.toHaveProperty("indexChanged");
  expect(await engine.search({ ...REQUEST, after: all })).toHaveProperty("indexChanged", true);
});

/** Returns the same cursor with one of its fields changed. */
function changed(cursor: string, field: number, value: unknown): string {
  const fields = unpack(Buffer.from(cursor, "base64url")) as unknown[];
  fields[field] = value;
  return pack(fields).toString("base64url");
}

test.each<[what: string, spoil: (cursor: string) => string, code: string, message: RegExp]>([
  ["no cursor", () => "page 2", "INVALID_REQUEST", /nextCursor of a response, not "page 2"/],
  ["half a cursor", (cursor) => cursor.slice(0, 20), "INVALID_REQUEST", /nextCursor of a response/],
  [
    "a cursor with something behind it",
    (cursor) => `${cursor}AAAA`,
    "INVALID_REQUEST",
    /nextCursor/,
  ],
  ["a score that is none", (cursor) => changed(cursor, 3, "x"), "INVALID_REQUEST", /nextCursor/],
  [
    "a short hash",
    (cursor) => changed(cursor, 6, new Uint8Array(3)),
    "INVALID_REQUEST",
    /nextCursor/,
  ],
  ["no ranges", (cursor) => changed(cursor, 7, -1), "INVALID_REQUEST", /nextCursor/],
  [
    "another query's",
    (cursor) => changed(cursor, 1, new Uint8Array(8)),
    "INVALID_REQUEST",
    /another request/,
  ],
  ["another version's", (cursor) => changed(cursor, 0, 99), "CURSOR_EXPIRED", /another version/],
  [
    "of a repository that is gone",
    (cursor) => changed(cursor, 4, "gone"),
    "CURSOR_EXPIRED",
    /a repository that no longer exists/,
  ],
])("%s is rejected", async (_, spoil, code, message) => {
  const engine = await notes();
  const after = spoil(await firstCursor(engine));
  await expect(engine.search({ ...REQUEST, after })).rejects.toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
  );
});

test("a cursor does not reveal whether a hidden repository exists", async () => {
  const engine = await notes();
  await engine.index(MORE);
  const [more] = (await engine.repositories()).filter(({ name }) => name === "more");
  const viewer = { repositoryIds: new Set([more!.id]) };
  const refusal = (name: string) => async () => {
    const cursor = changed(await firstCursor(engine), 4, name);
    return engine
      .search({ ...REQUEST, after: cursor }, { viewer })
      .catch((error: Error) => error.message.replace(name, "X"));
  };
  expect(await refusal("notes")()).toBe(await refusal("nowhere")());
});

test("streams have no pages", async () => {
  const engine = await notes();
  const first = engine
    .stream({ ...REQUEST, after: "" })
    [Symbol.asyncIterator]()
    .next();
  await expect(first).rejects.toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
});
