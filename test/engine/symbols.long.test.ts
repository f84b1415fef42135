/** Symbols through the whole engine: found after content, kept, merged, searched, shown and ranked. */

import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Engine, OpenOptions } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import { RUNS } from "../runs.ts";

const base = mkdtempSync(join(tmpdir(), "quern-symbols-"));
const engines: Engine[] = [];
let opened = 0;

async function openAt(path: string, options: OpenOptions = {}): Promise<Engine> {
  const engine = await open(path, { workers: 0, warmUp: false, ...options });
  engines.push(engine);
  return engine;
}

const freshPath = (): string => join(base, String(++opened));

afterEach(async () => {
  for (const engine of engines.splice(1)) await engine.close();
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
  rmSync(base, { recursive: true, force: true });
});

const source = (name: string, files: Record<string, string>) =>
  documents({
    name,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  });

const SHAPES = `export class Shape {
  area(): number { return 0; }
  static parse(text: string): Shape { return new Shape(); }
}
export function parseShape(text: string) { return Shape.parse(text); }
export const SHAPES = [parseShape("a"), parseShape("b")];
`;
const USES = "import { parseShape } from './shapes';\nparseShape('x'); parseShape('y');\n";

let engine: Engine;
beforeAll(async () => {
  engine = await openAt(freshPath(), { workers: 1 });
  await engine.index(
    source("shapes", {
      "lib/shapes.ts": SHAPES,
      "lib/uses.ts": USES,
      "notes.txt": "Shape parseShape area\n",
      "main.c":
        "struct shape { int area; };\nint shape_area(struct shape *s) { return s->area; }\n",
    }),
  );
});

/** Resolves to one line per file: the path, then each range as `text` or `text=kind name in parent`. */
async function show(request: Partial<SearchRequest>, within = engine): Promise<string[]> {
  const { files } = await within.search({ query: "", matches: 1000, ...request });
  return files.map(({ fileName, chunks }) => {
    const shown = chunks.map(({ content, contentStart, matchRanges, symbols = [] }) => {
      const bytes = Buffer.from(content);
      const texts = matchRanges.map(({ start, end }) =>
        bytes
          .subarray(
            start.byteOffset - contentStart.byteOffset,
            end.byteOffset - contentStart.byteOffset,
          )
          .toString(),
      );
      const names = symbols.map(
        ({ symbol, kind, parent }) =>
          `${kind} ${symbol}${parent ? ` in ${parent.kind} ${parent.symbol}` : ""}`,
      );
      return names.length > 0 ? `${texts.join(",")} = ${names.join(", ")}` : texts.join(",");
    });
    return `${fileName.text}: ${shown.join("; ")}`;
  });
}

test.each<[query: string, caseSensitive: boolean, expected: string[]]>([
  ["sym:^parse$", false, ["lib/shapes.ts: parse = method parse in class Shape"]],
  [
    "sym:^parse",
    false,
    ["lib/shapes.ts: parse = method parse in class Shape; parse = function parseShape"],
  ],
  ["sym:Shape$", true, ["lib/shapes.ts: Shape = class Shape; Shape = function parseShape"]],
  [
    "sym:(area|SHAPES)$",
    true,
    [
      "lib/shapes.ts: area = method area in class Shape; SHAPES = constant SHAPES",
      "main.c: area = field area in struct shape; area = function shape_area",
    ],
  ],
  ["sym:^SHAPE$", true, []],
  ["sym:^SHAPE$", false, ["lib/shapes.ts: Shape = class Shape", "main.c: shape = struct shape"]],
  ["sym:uses", false, []],
  ["sym:parse file:uses", false, []],
])("finds %s, case %s", async (query, isCaseSensitivityEnabled, expected) => {
  const shown = await show({ query, isCaseSensitivityEnabled });
  expect(shown.sort()).toEqual(expected.sort());
});

test("a range in a definition's name has it as its symbol, whatever found the range", async () => {
  expect(await show({ query: "parseShape file:shapes", isCaseSensitivityEnabled: true })).toEqual([
    "lib/shapes.ts: parseShape = function parseShape; parseShape,parseShape",
  ]);
  expect(await show({ query: "class.Sha|ape", isRegexEnabled: true })).toContain(
    "main.c: ape = struct shape; ape,ape = function shape_area",
  );
  // half of the range is inside the name
  expect(await show({ query: '"class Shape"' })).toEqual(["lib/shapes.ts: class Shape"]);
});

test("definitions come first: the name, then its beginning or end, then what is inside", async () => {
  const name = freshPath();
  const ranked = await openAt(name);
  const pad = "// area\n".repeat(20);
  await ranked.index(
    source("r", {
      "a.ts": `${pad}const x = area(area(area));\n`,
      "b.ts": "export function xareax() {}\n// area\n",
      "c.ts": "export function areaOf() {}\n// area\n",
      "d.ts": "export function area() {}\n",
    }),
  );
  const { files } = await ranked.search({ query: "area", matches: 100 });
  expect(files.map(({ fileName }) => fileName.text)).toEqual(["d.ts", "c.ts", "b.ts", "a.ts"]);
});

test("symbol tables count as loaded content", async () => {
  const bytes = async (request: SearchRequest) =>
    (await engine.search(request)).stats.contentBytesLoaded;
  const unranked = await bytes({ query: "area", matches: 0 });
  expect(await bytes({ query: "sym:area", matches: 0 })).toBeGreaterThan(0);
  expect(await bytes({ query: "area", matches: 1 })).toBeGreaterThan(unranked);
});

const many = (count: number, from = 0): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `f${from + i}.ts`,
      `export function f${from + i}() {}\n`,
    ]),
  );

/** Resolves to the symbols in index reports, and to the progress of the stage symbols, as text. */
async function index(within: Engine, name: string, files: Record<string, string>) {
  const progress: string[] = [];
  const [report] = await within.index(source(name, files), {
    onProgress: ({ stage, done, total }) => {
      if (stage === "symbols") progress.push(`${done}/${total}`);
    },
  });
  const { symbols } = (await within.repositories()).find((each) => each.name === name)!;
  return { found: report!.symbols, progress, ...symbols };
}

test("unchanged content is not parsed again", async () => {
  const fresh = await openAt(freshPath());
  expect(await index(fresh, "r", many(5))).toEqual({
    found: 5,
    progress: ["0/5", "5/5"],
    done: 5,
    total: 5,
  });
  expect(await index(fresh, "r", many(5))).toMatchObject({ found: 0, progress: [] });
  const more = { ...many(5), "g.ts": "export const g = 1, h = 2;\n" };
  expect(await index(fresh, "r", more)).toMatchObject({
    found: 2,
    progress: ["0/1", "1/1"],
    done: 6,
    total: 6,
  });
});

test("content that is known under another path or in another repository is not parsed again", async () => {
  const fresh = await openAt(freshPath());
  await index(fresh, "a", many(5));
  expect(await index(fresh, "b", { ...many(5), "g.ts": "let g;" })).toMatchObject({
    found: 1,
    done: 6,
  });
  const renamed = Object.entries(many(5)).map(([path, content]) => [`to/${path}`, content]);
  expect(await index(fresh, "a", Object.fromEntries(renamed))).toMatchObject({ found: 0, done: 5 });
  expect(await show({ query: "r:a sym:f1" }, fresh)).toEqual(["to/f1.ts: f1 = function f1"]);
  const asScript = Object.entries(many(5)).map(([path, content]) => [`${path}.js`, content]);
  expect(await index(fresh, "js", Object.fromEntries(asScript))).toMatchObject({ found: 5 });
  expect((await fresh.check()).problems).toEqual([]);
});

test("files whose parsing is given up are listed", async () => {
  const fresh = await openAt(freshPath(), { maxFileSize: 2 ** 23 });
  const lock = `{ "of": "${"x".repeat(2 ** 18)}" }`;
  const huge = `class Huge {}\n//${"x".repeat(2 ** 22)}`;
  const files = { ...many(2), "b/lock.json": lock, "a.ts": huge, "also.json": lock };
  const [report] = await fresh.index(source("r", files));
  expect(report!.withoutSymbols).toEqual([
    { path: "a.ts", reason: "too-large" },
    { path: "also.json", reason: "too-large" },
    { path: "b/lock.json", reason: "too-large" },
  ]);
  expect(report!.skipped).toEqual([]);
});

test("symbols may be skipped, and are found by the next run, whatever that run indexes", async () => {
  const fresh = await openAt(freshPath());
  const [report] = await fresh.index(source("r", many(3)), { symbols: "skip" });
  expect(report!.symbols).toBe(0);
  expect((await fresh.repositories())[0]!.symbols).toEqual({ done: 0, total: 3 });
  expect(await show({ query: "f1" }, fresh)).toEqual(["f1.ts: f1"]);
  expect(await show({ query: "sym:f1" }, fresh)).toEqual([]);
  await index(fresh, "other", { "x.ts": "let x = 1;\n" });
  expect((await fresh.repositories()).map(({ symbols }) => symbols.done)).toEqual([1, 3]);
  expect(await show({ query: "sym:f1" }, fresh)).toEqual(["f1.ts: f1 = function f1"]);
  await expect(fresh.index([], { symbols: "never" as "skip" })).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});

test("the time of a run includes its symbols", async () => {
  const fresh = await openAt(freshPath());
  let waited = 0;
  const [report] = await fresh.index(source("r", many(30)), {
    onProgress: ({ stage }) => {
      if (stage !== "symbols" || waited > 0) return;
      const from = performance.now();
      while (waited < 200) waited = performance.now() - from;
    },
  });
  expect(report!.durationMs).toBeGreaterThan(waited);
  expect(report!.symbols).toBe(30);
});

test("the times of several repositories add up to the time of the run", async () => {
  const fresh = await openAt(freshPath());
  let waited = 0;
  async function* slowFiles() {
    const from = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 200));
    waited = performance.now() - from;
    yield { path: "a.txt", content: "slow\n" };
  }
  const slow = documents({ name: "slow", files: slowFiles() });
  const from = performance.now();
  const reports = await fresh.index([source("a", many(30)), slow, source("b", many(30))]);
  const elapsed = performance.now() - from;
  const [a, s, b] = reports.map(({ durationMs }) => durationMs);
  expect(s).toBeGreaterThan(waited);
  expect(Math.min(a!, b!)).toBeGreaterThan(0);
  expect(a! + s! + b!).toBeLessThanOrEqual(elapsed);
});

test("content is searched before symbols are ready, an aborted run keeps it, and the next run continues", async () => {
  const fresh = await openAt(freshPath());
  const stop = new AbortController();
  let before: Promise<string[]> | undefined;
  const run = fresh.index(source("r", many(4)), {
    signal: stop.signal,
    onProgress: ({ stage }) => {
      if (stage !== "symbols") return;
      before ??= show({ query: "f2" }, fresh);
      stop.abort();
    },
  });
  await expect(run).rejects.toMatchObject({ code: "ABORTED" });
  expect(await before).toEqual(["f2.ts: f2"]);
  expect((await fresh.repositories())[0]!.symbols).toEqual({ done: 0, total: 4 });
  await fresh.index([]);
  expect((await fresh.repositories())[0]!.symbols).toEqual({ done: 4, total: 4 });
  expect(await show({ query: "sym:f2" }, fresh)).toEqual(["f2.ts: f2 = function f2"]);
});

test("merging keeps symbols, and unknown symbols stay unknown until the next run", async () => {
  const fresh = await openAt(freshPath());
  await index(fresh, "a", many(3));
  await fresh.index(source("b", many(3, 10)), { symbols: "skip" });
  // eight segments of a tier are merged into one
  for (let i = 0; i < 6; i++)
    await fresh.index(source(`c${i}`, { "c.txt": `c${i}` }), { symbols: "skip" });
  expect((await fresh.check()).segments).toBe(1);
  expect((await fresh.check()).problems).toEqual([]);
  expect(await show({ query: "sym:f1" }, fresh)).toEqual(["f1.ts: f1 = function f1"]);
  const done = (await fresh.repositories()).map(({ symbols }) => symbols.done);
  expect(done).toEqual([3, 0, 0, 0, 0, 0, 0, 0]);
  expect(await index(fresh, "b", many(3, 10))).toMatchObject({ found: 3, done: 3 });
  expect((await show({ query: "sym:f1" }, fresh)).sort()).toEqual(
    ["f1.ts", "f10.ts", "f11.ts", "f12.ts"].map((path) => {
      const symbol = path.slice(0, -3);
      return `${path}: f1 = function ${symbol}`;
    }),
  );
  expect((await fresh.check()).problems).toEqual([]);
});

const NAMES = ["foo", "Foo", "fooBar", "foo_bar", "barfoo", "x", "aaa"];
const EXPRESSIONS = [
  "foo",
  "^foo",
  "foo$",
  "^foo$",
  "a",
  "o+",
  "(bar|x)",
  "[A-Z]",
  "^.",
  "x*",
  "oo.?b",
];

test("sym: finds the same names as a plain search of the names", async () => {
  const files = fc.array(fc.array(fc.constantFrom(...NAMES), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 4,
  });
  const fresh = await openAt(freshPath());
  await fc.assert(
    fc.asyncProperty(files, async (all) => {
      const contents = all.map((names, i) =>
        names.map((name) => `function ${name}() { ${name}(); }`).join(`\n// ${i} foo\n`),
      );
      const entries = contents.map((content, i) => [`f${i}.js`, content] as const);
      await index(fresh, "r", Object.fromEntries(entries));
      for (const expression of EXPRESSIONS)
        for (const isCaseSensitivityEnabled of [true, false]) {
          const flags = isCaseSensitivityEnabled ? "g" : "gi";
          const count = all
            .flat()
            .reduce((sum, name) => sum + matchesIn(name, expression, flags), 0);
          const query = `sym:"${expression}"`;
          const request = { query, matches: 1000, isCaseSensitivityEnabled };
          const { stats, files: found } = await fresh.search(request);
          expect([query, stats.totalMatchCount]).toEqual([query, count]);
          const symbols = found.flatMap(({ chunks }) => chunks.flatMap((one) => one.symbols ?? []));
          expect(symbols.length).toBe(count);
        }
    }),
    { numRuns: 5 * RUNS },
  );
});

/** Returns RE2's matches. An empty match that touches the match before it does not count. */
function matchesIn(name: string, expression: string, flags: string): number {
  let [count, end] = [0, -1];
  for (const { index: at, 0: text } of name.matchAll(new RegExp(expression, flags))) {
    if (text === "" && at === end) continue;
    count++;
    end = at + text.length;
  }
  return count;
}
