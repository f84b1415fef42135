/**
 * The limit of matches, time-outs, aborts and streams. The order of files is the same for any layout and number of
 * threads.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import { brokenInvariant, segmentsInScope } from "./invariants.ts";
import { openEngine, sharedEngine, temporaryFolder } from "./opened.ts";
import { RUNS } from "../runs.ts";

const WORDS = ["needle", "Needle", "needles", "hay", "stack", "the_needle", "x", "return"];

/** Returns the same 120 files each time, of all sizes, in 6 repositories. */
function corpus(): { name: string; files: { path: string; content: string }[] }[] {
  let seed = 7;
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const text = () =>
    Array.from({ length: next(20) === 0 ? 9000 : next(200) }, () =>
      next(6) === 0 ? "\n" : `${WORDS[next(WORDS.length)]} `,
    ).join("");
  return Array.from({ length: 6 }, (_, r) => ({
    name: `repo-${r}`,
    files: Array.from({ length: 20 }, (_, f) => ({
      path: `src/${f % 7}/f${f}.ts`,
      content: text(),
    })),
  }));
}

/** Opens an engine with this many threads, and with one segment, or one segment for each repository. */
async function engineOf(workers: number, together: boolean): Promise<Engine> {
  const engine = await openEngine({ workers });
  const sources = corpus().map((each) => documents(each));
  if (together) await engine.index(sources, { symbols: "skip" });
  else for (const source of sources.reverse()) await engine.index(source, { symbols: "skip" });
  return engine;
}

const REQUESTS: SearchRequest[] = [
  { query: "needle", matches: 1e6 },
  { query: "needle", matches: 37, contextLines: 1 },
  { query: "x -(hay)", matches: 1e6 },
  { query: "file:f1 or stack", matches: 200 },
  { query: "n[a-z]+le", matches: 100, isRegexEnabled: true },
  { query: "Needle", matches: 1, isCaseSensitivityEnabled: true, whole: true },
  { query: "repo:repo-3", matches: 7 },
];

/** Returns the parts of an answer that must not depend on threads and layout. Numbers of repositories may. */
function fixed({ files, stats, isSearchExhaustive }: SearchResponse): string {
  const { fileCount, totalMatchCount, actualMatchCount, filesConsidered, filesLoaded } = stats;
  const counts = { fileCount, totalMatchCount, actualMatchCount, filesConsidered, filesLoaded };
  const shown = files.map((file) => ({ ...file, repositoryId: 0 }));
  return JSON.stringify({ shown, isSearchExhaustive, ...counts, r: stats.regexpsConsidered });
}

test("files, order and counts are the same with 0, 1 and 3 threads and in any layout", async () => {
  const answers = new Map<string, string[]>();
  for (const [workers, together] of [
    [0, true],
    [1, false],
    [3, true],
    [3, false],
  ] as const) {
    const engine = await engineOf(workers, together);
    for (const request of REQUESTS) {
      const key = JSON.stringify(request);
      const answer = fixed(await engine.search(request));
      answers.set(key, [...(answers.get(key) ?? []), answer]);
    }
    await engine.close();
  }
  for (const [request, [first, ...others]] of answers)
    for (const other of others) expect(other, request).toBe(first);
});

const countOf = (file: FileResult): number =>
  file.chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0) ||
  file.fileName.matchRanges.length;

test("a limit returns whole files in rank order, and cuts the last one", async () => {
  const engine = await engineOf(0, true);
  const query = "needle or file:f3";
  const all = await engine.search({ query, matches: 1e6 });
  const segments = await segmentsInScope(engine, { query, matches: 0 });
  await fc.assert(
    fc.asyncProperty(fc.nat(all.stats.totalMatchCount + 10), async (matches) => {
      const answer = await engine.search({ query, matches });
      const { files, stats, isSearchExhaustive } = answer;
      expect(brokenInvariant(answer, segments)).toBeUndefined();
      const wanted = Math.min(matches, all.stats.totalMatchCount);
      expect(stats.actualMatchCount).toBe(wanted);
      expect(stats.totalMatchCount).toBe(all.stats.totalMatchCount);
      expect(stats.fileCount).toBe(all.stats.fileCount);
      expect(isSearchExhaustive).toBe(wanted === all.stats.totalMatchCount);
      expect(files.reduce((sum, file) => sum + countOf(file), 0)).toBe(wanted);
      expect(files.slice(0, -1)).toEqual(all.files.slice(0, Math.max(0, files.length - 1)));
      const [last, whole] = [files.at(-1), all.files[files.length - 1]];
      const ranges = last?.chunks.flatMap((chunk) => chunk.matchRanges) ?? [];
      const wholeRanges = whole?.chunks.flatMap((chunk) => chunk.matchRanges) ?? [];
      expect(ranges).toEqual(wholeRanges.slice(0, ranges.length));
    }),
    { numRuns: 10 * RUNS },
  );
});

/** A text whose third line has two matches. The last match is in the context of both. */
const CUT = "one\nneedle\ntwo\nneedle needle\nthree\nneedle\nfour\nfive\n";

test.each([
  [1, 0, ["needle\n"]],
  [2, 0, ["needle\n", "needle needle\n"]],
  [3, 0, ["needle\n", "needle needle\n"]],
  [1, 1, ["one\nneedle\ntwo\n"]],
  [2, 1, ["one\nneedle\ntwo\nneedle needle\nthree\n"]],
  [4, 1, ["one\nneedle\ntwo\nneedle needle\nthree\nneedle\nfour\n"]],
])(
  "a file that is cut after %i matches ends %i lines after the last of them",
  async (matches, contextLines, want) => {
    const engine = await openEngine();
    const files = [{ path: "a", content: CUT }];
    await engine.index(documents({ name: "r", files }), { symbols: "skip" });
    for (const query of ["needle", "need[l]e", "needle or five"]) {
      const request = { query, matches, contextLines, isRegexEnabled: query.includes("[") };
      const { files: found } = await engine.search(request);
      expect(
        found[0]!.chunks.map(({ content }) => content),
        query,
      ).toEqual(want);
    }
  },
);

const byName = (files: FileResult[]) =>
  files.toSorted((a, b) =>
    a.repository + a.fileName.text < b.repository + b.fileName.text ? -1 : 1,
  );

test.each([0, 2])("a stream returns the same files as a search, %i threads", async (workers) => {
  const engine = await engineOf(workers, false);
  for (const request of REQUESTS) {
    const whole = await engine.search(request);
    const files: FileResult[] = [];
    const events = [];
    for await (const event of engine.stream(request)) {
      events.push(event.type);
      if (event.type === "chunk") files.push(...event.files);
      else {
        const { accumulatedStats: stats, isSearchExhaustive } = event;
        const { actualMatchCount, totalMatchCount, fileCount } = stats;
        const segments = await segmentsInScope(engine, request);
        expect(brokenInvariant({ stats, isSearchExhaustive }, segments)).toBeUndefined();
        expect(totalMatchCount).toBe(whole.stats.totalMatchCount);
        expect(fileCount).toBe(whole.stats.fileCount);
        expect(actualMatchCount).toBe(whole.stats.actualMatchCount);
        expect(event.isSearchExhaustive).toBe(whole.isSearchExhaustive);
      }
    }
    expect(events.filter((type) => type === "final").length).toBe(1);
    expect(events.at(-1)).toBe("final");
    if (whole.isSearchExhaustive) expect(byName(files)).toEqual(byName(whole.files));
  }
});

const fillLarge = (engine: Engine) => {
  const line = "xyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyx\n";
  const content = line.repeat(20_000);
  const files = Array.from({ length: 24 }, (_, i) => ({ path: `${i}`, content: `${content}${i}` }));
  return engine.index(documents({ name: "large", files }), { symbols: "skip" });
};
const large = new Map(
  [0, 2].map((workers) => [workers, sharedEngine(fillLarge, { workers })] as const),
);

test.each([0, 2])("if time runs out, the answer is partial, %i threads", async (workers) => {
  const engine = large.get(workers)!();
  const request = { query: "(x*y)+|x", matches: 10, isRegexEnabled: true };
  await engine.search({ query: "nothing here", matches: 1 });
  const start = performance.now();
  const answer = await engine.search(request, { timeoutMs: 60 });
  const { stats, isSearchExhaustive, files } = answer;
  expect(performance.now() - start).toBeLessThan(3000);
  expect(stats.flushReason).toBe("FLUSH_REASON_TIMER_EXPIRED");
  expect(isSearchExhaustive).toBe(false);
  expect(stats.shardsSkipped + stats.filesSkipped).toBeGreaterThan(0);
  expect(brokenInvariant(answer, await segmentsInScope(engine, request))).toBeUndefined();
  if (stats.totalMatchCount > 0) expect(files.length).toBeGreaterThan(0);
});

test.each([0, 2])(
  "an abort rejects immediately and frees the threads, %i threads",
  async (workers) => {
    const engine = large.get(workers)!();
    const controller = new AbortController();
    const request = { query: "(x*y)+|x", matches: 10, isRegexEnabled: true };
    const aborted = engine.search(request, { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
    const start = performance.now();
    await engine.search({ query: "nothing here", matches: 1 });
    expect(performance.now() - start).toBeLessThan(2000);
  },
);

test("close() ends running calls", async () => {
  const engine = await openEngine({ workers: 1 });
  await fillLarge(engine);
  const searching = engine.search({ query: "(x*y)+|x", matches: 10, isRegexEnabled: true });
  const failed = expect(searching).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
  await engine.close();
  await engine.close();
  await failed;
});

test.each([0, 1])(
  "with %i workers, close() ends all running calls at any moment",
  async (workers) => {
    const path = temporaryFolder();
    const small = documents({ name: "r", files: [{ path: "a.c", content: "int x;\n" }] });
    await using first = await openEngine({ workers }, path);
    await first.index(small);
    await first.close();
    const drain = async (stream: AsyncIterable<unknown>) => {
      for await (const _ of stream);
    };
    for (let turns = 0; turns < 12; turns += 1 + workers) {
      const engine = await openEngine({ workers }, path);
      const request = { query: "x", matches: 10 };
      const calls = [
        engine.search(request),
        drain(engine.stream(request)),
        engine.explain({ query: "nothing", matches: 10 }),
        engine.repositories(),
        engine.read({ repository: "r", path: "a.c" }),
        engine.list({ repository: "r", path: "" }),
        engine.index(small),
        engine.compact(),
      ];
      const settled = Promise.allSettled<unknown>(calls);
      for (let turn = 0; turn < turns; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      await engine.close();
      for (const one of await settled)
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "ENGINE_CLOSED" });
    }
  },
);

test.each([0, 1])(
  "with %i workers, each part of a stream is received within a moment",
  async (workers) => {
    const engine = await openEngine({ workers });
    const files = Array.from({ length: 700 }, (_, i) => ({
      path: `${i}`,
      content: `needle ${i}\n`,
    }));
    const broad = { path: "broad", content: "needle\n".repeat(3_000) };
    await engine.index(documents({ name: "r", files: [...files, broad] }), { symbols: "skip" });
    const sizes: number[] = [];
    for await (const event of engine.stream({ query: "needle", matches: 10_000 }))
      if (event.type === "chunk") sizes.push(event.files.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(701);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64);
  },
);
