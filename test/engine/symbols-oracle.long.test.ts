/**
 * Compares searches of definitions with brute force. Random files in several languages are added, changed and removed
 * by every way of indexing. Some repositories are copies of others, and borrow their content. The oracle evaluates what
 * the extractor finds in each file.
 */

import fc from "fast-check";
import { beforeAll, expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { createExtractor, type Extractor } from "../../src/ingest/symbols/extract.ts";
import { SYMBOL_KINDS } from "../../src/store/symbols/symbol-kinds.ts";
import { ROW, SYMBOL_ROW } from "../../src/store/symbols/symbol-run.ts";
import { SegmentWriter } from "../../src/store/segments/segment-writer.ts";
import type { Corpus, CorpusFile, CorpusRepository, CorpusSymbol } from "../oracle/corpus.ts";
import { REPOSITORY_NAMES } from "../oracle/corpora.ts";
import { CONTEXTS, searches, type SearchCase } from "../oracle/queries.ts";
import { difference, moveViewer, streamDifference } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { STYLES, transition, type Style } from "./transition.ts";

/** What was merged away is deleted at once, because compact() waits for it. The smallest repository is borrowed from. */
const INTERNALS = { retireMs: 0, runs: { ...RUN_BOUNDS, leastSharedBytes: 1 } };

const borrowing = vi.spyOn(SegmentWriter.prototype, "finishBorrowing");

const NAMES = ["foo", "Foo", "fooBar", "foo_bar", "barfoo", "x", "aaa", "Kelvin", "größe", "ſet"];

const LANGUAGES: Readonly<Record<string, string>> = {
  "a.ts": "TypeScript",
  "b.go": "Go",
  "c.py": "Python",
  "d.c": "C",
  "e.txt": "Text",
};

/** Definitions, uses, and text that breaks off. A file has pieces of any language, so languages often share a text. */
const PIECES = [
  "class A { B() {} }",
  "function A() { return B; }",
  "const A = B;",
  "type A struct { B int }",
  "func (a A) B() {}",
  "func A() {\n\tB()\n}",
  "def A():\n    return B",
  "class A:\n    def B(self): pass",
  "A = B",
  "int A(void)\n{\n\treturn B;\n}",
  "struct A { int B; };",
  "#define A B",
  "/* A",
];

/** The names that `sym:` searches. One of them is in no file. */
const SHAPE = { names: [...NAMES, "nobody"], symbols: 20, revisions: false };
const QUERIES_EACH = 12;

let extractor: Extractor;
beforeAll(async () => {
  extractor = await createExtractor();
  for (const language of Object.values(LANGUAGES)) await extractor.prepare(language);
});

function fileOf(path: string, pieces: readonly (readonly [number, string, string])[]): CorpusFile {
  const language = LANGUAGES[path.slice(path.indexOf("/") + 1)]!;
  const texts = pieces.map(([which, a, b]) =>
    PIECES[which]!.replace(/[AB]/g, (letter) => (letter === "A" ? a : b)),
  );
  const bytes = Buffer.from(texts.join("\n\n"));
  return { path, bytes, language, symbols: symbolsOf(language, bytes) };
}

function symbolsOf(language: string, bytes: Buffer): CorpusSymbol[] {
  const found = extractor.extract(language, bytes);
  if (found.outcome !== "symbols") return [];
  const { count, rows } = found.table;
  const at = (row: number) => {
    const base = row * SYMBOL_ROW;
    const [start, end] = [rows[base + ROW.start]!, rows[base + ROW.end]!];
    const kind = SYMBOL_KINDS[rows[base + ROW.kind]!]!;
    return { start, end, name: bytes.toString("utf8", start, end), kind };
  };
  return Array.from({ length: count }, (_, row) => {
    const parent = rows[row * SYMBOL_ROW + ROW.parent]!;
    if (parent < 0) return at(row);
    const { name: symbol, kind } = at(parent);
    return { ...at(row), parent: { symbol, kind } };
  });
}

const name = fc.constantFrom(...NAMES);
const path = fc
  .tuple(fc.constantFrom("", "lib/"), fc.constantFrom(...Object.keys(LANGUAGES)))
  .map(([folder, base]) => folder + base);
const file = fc
  .tuple(path, fc.array(fc.tuple(fc.nat(PIECES.length - 1), name, name), { maxLength: 5 }))
  .map(([where, pieces]) => fileOf(where, pieces));
const flag = fc.boolean();
/** A text under several names. */
const twins = fc
  .tuple(fc.subarray(Object.keys(LANGUAGES), { minLength: 2 }), file)
  .map(([paths, { bytes }]) =>
    paths.map((where): CorpusFile => {
      const language = LANGUAGES[where]!;
      return { path: where, bytes, language, symbols: symbolsOf(language, Buffer.from(bytes)) };
    }),
  );
const files = fc
  .tuple(fc.array(file, { maxLength: 5 }), fc.array(twins, { maxLength: 2 }))
  .map(([single, several]) => [
    ...new Map([...single, ...several.flat()].map((one) => [one.path, one])).values(),
  ]);
const repository = fc
  .tuple(
    fc.constantFrom(...REPOSITORY_NAMES.slice(0, 3)),
    files,
    fc.record({ archived: flag, fork: flag, public: flag }),
  )
  .map(([repo, own, metadata]): CorpusRepository => ({
    id: 0,
    name: repo,
    metadata,
    revisions: [{ name: "HEAD", files: own }],
  }));

/**
 * In a step, one repository is added, changed or removed, and the others stay. Then definitions are searched with words
 * of its files.
 */
interface Step {
  readonly repository: CorpusRepository;
  readonly asked: readonly Omit<SearchCase, "corpus">[];
  readonly isRemoved: boolean;
  /** Whether the repository is indexed as a new one, together with the files of another repository. */
  readonly isCopy: boolean;
  readonly style: Style;
  readonly isLate: boolean;
  readonly isCompacted: boolean;
}

const steps: fc.Arbitrary<Step> = fc.tuple(repository, fc.boolean()).chain(([each, regex]) =>
  fc.record({
    repository: fc.constant(each),
    asked: searches({ repositories: [each] }, QUERIES_EACH, { ...SHAPE, regex }),
    isRemoved: fc.nat(5).map((n) => n === 0),
    style: fc.constantFrom(...STYLES),
    isLate: fc.boolean(),
    isCompacted: fc.boolean(),
    isCopy: fc.boolean(),
  }),
);

/** Returns the repository together with the files of another one. */
function copyOf(other: CorpusRepository, own: CorpusRepository): CorpusRepository {
  const [revision] = own.revisions;
  const paths = new Set(revision!.files.map((one) => one.path));
  const copied = other.revisions[0]!.files.filter((one) => !paths.has(one.path));
  return { ...own, revisions: [{ ...revision!, files: [...revision!.files, ...copied] }] };
}

async function advance(engine: Engine, corpus: Corpus, step: Step): Promise<Corpus> {
  const { isRemoved, isCopy, style, isLate, isCompacted } = step;
  const { name } = step.repository;
  const others = corpus.repositories.filter((one) => one.name !== name);
  const lender = isCopy && !isRemoved ? others[0] : undefined;
  if (lender) await engine.remove(name);
  const before = lender ? undefined : corpus.repositories.find((one) => one.name === name);
  const after = lender ? copyOf(lender, step.repository) : step.repository;
  if (isRemoved) {
    expect(await engine.remove(after.name)).toBe(before !== undefined);
    return { repositories: others };
  }
  const source = transition(style, before, after, 0);
  const [report] = await engine.index(source, { symbols: isLate ? "skip" : "after" });
  // segments with symbols and without are merged into one, which has some
  if (isCompacted) await engine.compact();
  if (isLate) await engine.index([]);
  return { repositories: [...others, { ...after, id: report!.repositoryId }] };
}

const contexts = (name: string) => CONTEXTS[name];

/** Draws steps after which matches lie in definitions. */
const FINDS_DEFINITIONS = { seed: 4, numRuns: 4 };

/** Returns the steps, and then the last one once more, which adds a copy. */
const withCopy = (drawn: readonly Step[]): Step[] => {
  const last = drawn.at(-1)!;
  const repository = { ...last.repository, name: COPY };
  return [...drawn, { ...last, repository, isCopy: true, isRemoved: false }];
};

/** A name that no random repository has. */
const COPY = REPOSITORY_NAMES[3]!;

test.each(
  someOf(
    [
      { workers: 0, runs: 5 },
      { workers: 2, runs: 3 },
    ],
    2,
  ),
)("sym: and symbols on ranges, $workers workers", async (given) => {
  const { workers, runs } = given;
  const engine = await openEngine({ workers, contexts, internals: INTERNALS });
  let corpus: Corpus = { repositories: [] };
  let around = 0;
  const take = async (step: Step) => {
    corpus = await advance(engine, corpus, step);
    for (const { request, options } of step.asked) {
      const viewing = moveViewer(options, { repositories: [step.repository] }, corpus);
      const asked = { request, options: viewing };
      expect(await difference(engine, corpus, asked)).toBeUndefined();
      expect(await streamDifference(engine, corpus, asked)).toBeUndefined();
    }
    const { files } = await engine.search({
      query: "foo or bar or x",
      matches: 99,
      enclosing: true,
    });
    const chunks = files.flatMap((file) => file.chunks);
    around += chunks.flatMap(({ enclosing }) => enclosing!.filter((one) => one !== null)).length;
  };
  await fc.assert(fc.asyncProperty(steps, take), {
    // the count below does not depend on luck
    examples: withCopy(fc.sample(steps, FINDS_DEFINITIONS)).map((each): [Step] => [each]),
    numRuns: runs * RUNS + FINDS_DEFINITIONS.numRuns + 1,
  });
  expect(around).toBeGreaterThan(0);
  if (workers === 0) expect(borrowing).toHaveBeenCalled();
});

/** The features that the random queries for definitions must have. */
const PROMISED: readonly (readonly [what: string, is: RegExp])[] = [
  ["the beginning of a name", /sym:"?\^/],
  ["its end", /sym:\S*\$/],
  ["one or another", /sym:\S*\|/],
  ["a group", /sym:"\^?\(/],
  ["capitals", /sym:\S*[A-Z]/],
  ["under a negation", /-sym:/],
  ["in a negated group", /-\(.*sym:/],
  ["with another", /sym:\S+ sym:/],
  ["or another", /sym:\S+ or sym:/],
  ["with content", /sym:\S+ \w/],
  ...["lang", "file", "repo", "reposet", "context", "archived", "fork", "visibility"].map(
    (prefix) => [prefix, new RegExp(`sym:.*${prefix}:|${prefix}:.*sym:`)] as const,
  ),
];

test("the random queries have every feature of queries for definitions", () => {
  const asked = fc
    .sample(steps, { numRuns: 100, seed: 1 })
    .flatMap((step) => step.asked.map(({ request }) => request.query));
  expect(PROMISED.filter(([, is]) => !asked.some((query) => is.test(query)))).toEqual([]);
});
