/**
 * Files with the same bytes in several languages. Each file has the symbols of its own language, whatever the same
 * content is called elsewhere, and before and after every merge. The truth comes from parsing each file by itself.
 */

import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { createExtractor, type Extractor } from "../../src/ingest/symbols/extract.ts";
import { ROW, SYMBOL_ROW } from "../../src/store/symbols/symbol-run.ts";
import { RUNS } from "../runs.ts";
import { openEngine } from "./opened.ts";

type Files = Readonly<Record<string, string>>;
/** The files of each repository, by name. */
type World = Readonly<Record<string, Files>>;

const PYTHON = "def alpha():\n    return 1\n";
/** A text in which C and Python find different definitions. */
const BOTH = "#define beta 1\nalpha = 2\nint gamma(void) { return 3; }\n";

const source = (name: string, files: Files) =>
  documents({
    name,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  });

const LANGUAGE_OF: Readonly<Record<string, string>> = {
  c: "C",
  py: "Python",
  ts: "TypeScript",
  go: "Go",
  md: "Markdown",
  txt: "Text",
};

let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor();
  for (const language of Object.values(LANGUAGE_OF)) await extractor.prepare(language);
});

const PARSED = new Set(["C", "Python", "TypeScript", "Go", "Markdown"]);

/** Returns the names that are defined in one file, by parsing only this file. */
function namesIn(path: string, content: string): string[] {
  const language = LANGUAGE_OF[path.slice(path.lastIndexOf(".") + 1)]!;
  if (!PARSED.has(language)) return [];
  const bytes = Buffer.from(content);
  const found = extractor.extract(language, bytes);
  if (found.outcome !== "symbols") return [];
  const { count, rows } = found.table;
  return Array.from({ length: count }, (_, row) => {
    const at = row * SYMBOL_ROW;
    return bytes.toString("utf8", rows[at + ROW.start], rows[at + ROW.end]);
  });
}

const lineOf = (repository: string, path: string, names: readonly string[]): string =>
  `${repository}/${path}: ${[...names].sort().join(" ")}`;

/** Returns a line for each file that defines something. */
const expected = (world: World): string[] =>
  Object.entries(world)
    .flatMap(([repository, files]) =>
      Object.entries(files).map(([path, text]) => [repository, path, namesIn(path, text)] as const),
    )
    .filter(([, , names]) => names.length > 0)
    .map(([repository, path, names]) => lineOf(repository, path, names))
    .sort();

/**
 * Resolves to the same lines, as the engine answers them. A search of content must return the same symbols on its
 * ranges as `sym:`.
 */
async function found(engine: Engine): Promise<string[]> {
  expect((await engine.check()).problems).toEqual([]);
  const [bySymbol, byContent] = [
    await symbolsOf(engine, 'sym:"^"'),
    await symbolsOf(engine, "\\w+"),
  ];
  expect(byContent).toEqual(bySymbol);
  return bySymbol;
}

async function symbolsOf(engine: Engine, query: string): Promise<string[]> {
  const request = { query, matches: 10_000, isRegexEnabled: true };
  const { files, isSearchExhaustive } = await engine.search(request);
  expect(isSearchExhaustive).toBe(true);
  return files
    .map(({ repository, fileName, chunks }) => {
      const names = chunks.flatMap(({ symbols = [] }) => symbols.map(({ symbol }) => symbol));
      return [repository, fileName.text, names] as const;
    })
    .filter(([, , names]) => names.length > 0)
    .map(([repository, path, names]) => lineOf(repository, path, names))
    .sort();
}

const OTHERS = Array.from({ length: 7 }, (_, i) => `other${i}`);
/** Merged segments are deleted at once. The smallest content is borrowed. */
const INTERNALS = { retireMs: 0, runs: { ...RUN_BOUNDS, leastSharedBytes: 1 } };

test.each<[what: string, runs: readonly World[]]>([
  ["text, then Python", [{ h: { "n.txt": PYTHON } }, { p: { "a.py": PYTHON } }]],
  ["Python, then text", [{ p: { "a.py": PYTHON } }, { h: { "n.txt": PYTHON } }]],
  ["Markdown and Python in one run", [{ r: { "a.md": PYTHON, "b.py": PYTHON } }]],
  ["text and Python in one run", [{ r: { "a.txt": PYTHON, "b.py": PYTHON } }]],
  ["C, then Python", [{ r1: { "b.c": BOTH } }, { r2: { "a.py": BOTH } }]],
  ["Python, then C", [{ r2: { "a.py": BOTH } }, { r1: { "b.c": BOTH } }]],
  ["C and Python in one run", [{ r1: { "b.c": BOTH }, r2: { "a.py": BOTH } }]],
  ["Python and C in one repository", [{ r: { "a.py": BOTH, "b.c": BOTH, "c.txt": BOTH } }]],
])("each file has the symbols of its own language: %s", async (_, runs) => {
  const engine = await openEngine({ internals: INTERNALS });
  let world: World = {};
  const index = async (given: World) => {
    world = { ...world, ...given };
    const sources = Object.entries(given).map(([name, files]) => source(name, files));
    const reports = await engine.index(sources);
    expect(reports.flatMap(({ withoutSymbols }) => withoutSymbols)).toEqual([]);
  };
  for (const run of runs) {
    await index(run);
    expect(await found(engine)).toEqual(expected(world));
  }
  // so many small runs merge the segments
  for (const name of OTHERS) await index({ [name]: { "x.go": `func ${name}() {}\n` } });
  expect(await found(engine)).toEqual(expected(world));
  await engine.compact();
  expect(await found(engine)).toEqual(expected(world));
});

const PIECES = [PYTHON, BOTH, "class Delta { eps() {} }\n", "func zeta() {}\n", "# alpha\n"];
const files = fc.dictionary(
  fc
    .tuple(fc.constantFrom("a", "b", "lib/c"), fc.constantFrom(...Object.keys(LANGUAGE_OF)))
    .map(([name, ending]) => `${name}.${ending}`),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 3 }).map((pieces) => pieces.join("\n")),
  { maxKeys: 8 },
);
const NAMES = ["p", "q", "r"];
const steps = fc.array(
  fc.record({
    name: fc.constantFrom(...NAMES),
    files: fc.option(files, { nil: undefined, freq: 6 }),
    isLate: fc.boolean(),
    isCompacted: fc.boolean(),
  }),
  { minLength: 2, maxLength: 10 },
);

/** Queries whose answers depend on symbols: which files, how often, in which order, and within which definition. */
const QUERIES = [
  "sym:alpha",
  "sym:^.*a$",
  "alpha",
  "-sym:alpha",
  "sym:beta or eps",
  "lang:c gamma",
];

/** Resolves to everything that a viewer can learn from answers, apart from durations and numbers of repositories. */
async function answers(engine: Engine, viewer?: readonly string[]): Promise<unknown[]> {
  const all = await engine.repositories();
  const ids = all.filter(({ name }) => viewer?.includes(name)).map(({ id }) => id);
  const options = viewer ? { viewer: { repositoryIds: new Set(ids) } } : {};
  const out: unknown[] = [];
  for (const query of QUERIES) {
    const request = { query, matches: 100, isRegexEnabled: true, enclosing: true, contextLines: 1 };
    const answer = await engine.search(request, options);
    const { fileCount, totalMatchCount, actualMatchCount, filesConsidered } = answer.stats;
    out.push({
      query,
      files: answer.files.map((file) => ({ ...file, repositoryId: 0 })),
      isSearchExhaustive: answer.isSearchExhaustive,
      counts: [fileCount, totalMatchCount, actualMatchCount, filesConsidered],
    });
  }
  return out;
}

test("an index that was built step by step equals a fresh one", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (drawn) => {
      const engine = await openEngine({ internals: INTERNALS });
      const world = new Map<string, Files>();
      for (const { name, files: own, isLate, isCompacted } of drawn) {
        if (own) world.set(name, own);
        else world.delete(name);
        if (own) await engine.index(source(name, own), { symbols: isLate ? "skip" : "after" });
        else await engine.remove(name);
        if (isCompacted) await engine.compact();
        if (isLate) await engine.index([]);
        expect(await found(engine)).toEqual(expected(Object.fromEntries(world)));
      }
      const fresh = await openEngine({ internals: INTERNALS });
      await fresh.index([...world].map(([name, own]) => source(name, own)));
      expect(await answers(engine)).toEqual(await answers(fresh));
      await engine.compact();
      expect(await answers(engine)).toEqual(await answers(fresh));
      await Promise.all([engine.close(), fresh.close()]);
    }),
    { numRuns: 3 * RUNS },
  );
});

/** Returns the same bytes under other names. */
const renamed = (own: Files, ending: string): Files =>
  Object.fromEntries(
    Object.entries(own).map(([path, text]) => [path.replace(/[^.]*$/, ending), text]),
  );

test("what a hidden repository calls the same bytes changes no answer", async () => {
  const endings = fc.constantFrom(...Object.keys(LANGUAGE_OF));
  await fc.assert(
    fc.asyncProperty(files, endings, endings, fc.boolean(), async (own, one, other, isFirst) => {
      const open = async (hidden: string | undefined) => {
        const engine = await openEngine({ internals: INTERNALS });
        const runs = [source("seen", own)];
        if (hidden) runs.push(source("hidden", renamed(own, hidden)));
        for (const run of isFirst ? runs.reverse() : runs) await engine.index(run);
        return engine;
      };
      const truth = await open(undefined);
      const seen = await answers(truth, ["seen"]);
      for (const hidden of [one, other]) {
        const engine = await open(hidden);
        expect(await answers(engine, ["seen"])).toEqual(seen);
        await engine.compact();
        expect(await answers(engine, ["seen"])).toEqual(seen);
        await engine.close();
      }
      await truth.close();
    }),
    { numRuns: 5 * RUNS },
  );
});
