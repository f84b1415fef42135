/**
 * Repositories that share content: whatever is indexed, changed, removed, merged and compacted, answers are those of an
 * index in which nothing is shared. Pages, blocks and segments are as small as those of small-pages.long.test.ts.
 */

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import type { MergeTaskInput } from "../../src/ingest/run/merging.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { INGEST_TASKS } from "../../src/ingest/tasks.ts";
import type { SearchOptions } from "../../src/search/messages/request.ts";
import { putManifest, readManifest, textBytesOf } from "../../src/store/catalog/manifest.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { engineKey, PART, segmentKey, SEGMENTS_RANGE } from "../../src/store/format/format.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { deleteLeftovers } from "../../src/store/upkeep/leftovers.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import {
  SegmentWriter,
  type LenderTables,
  type WrittenSegment,
} from "../../src/store/segments/segment-writer.ts";
import { checkEnvironment } from "../../src/store/upkeep/check.ts";
import type { Corpus, CorpusRepository } from "../oracle/corpus.ts";
import { checkAgainstFresh, steps, take, type Step, type World } from "./history.ts";
import { openEngine, SMALL_LAYOUT, temporaryFolder, type OpenedOptions } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { unaccounted } from "./stored-keys.ts";

const SMALL = {
  layout: SMALL_LAYOUT,
  retireMs: 0,
  runs: { ...RUN_BOUNDS, leastSharedBytes: 1, segmentBytes: 6 * 1024 },
};

/** Opens an engine in which the smallest repository is borrowed from. */
const openSmall = (
  options: OpenedOptions & { readonly tierSegments?: number } = {},
  path?: string,
): Promise<Engine> => {
  const { tierSegments = SMALL.runs.tierSegments, ...rest } = options;
  const internals = { ...SMALL, runs: { ...SMALL.runs, tierSegments } };
  return openEngine({ internals, ...rest }, path);
};

const merges = vi.spyOn(INGEST_TASKS, "ingest.merge");

/** Returns how many merges since `merges.mockClear()` made segments that borrow. */
const borrowingMerges = (): number =>
  merges.mock.calls.filter(([input]) => (input as MergeTaskInput).merge.lender !== undefined)
    .length;

const finishBorrowing = Reflect.get(SegmentWriter.prototype, "finishBorrowing") as (
  this: SegmentWriter,
  lender: LenderTables,
) => WrittenSegment;
const borrowing = vi.spyOn(SegmentWriter.prototype, "finishBorrowing");

/** The repository as another one, without some of its files. */
function workTree(
  of: CorpusRepository,
  { id, lacks }: { id: number; lacks: number },
): CorpusRepository {
  const revisions = of.revisions.map((revision) => ({
    ...revision,
    files: revision.files.filter((_, i) => i % 5 !== lacks),
  }));
  return { ...of, id, name: `${of.name}-${id}`, revisions };
}

/** The repositories of a step, each with work trees that come and go from step to step. */
function withWorkTrees(step: Step, trees: readonly number[]): Step {
  const repositories = step.corpus.repositories.flatMap((repository) => [
    repository,
    ...trees.map((tree) => workTree(repository, { id: 100 * repository.id + tree, lacks: tree })),
  ]);
  const styles = repositories.map((_, i) => step.styles[i % step.styles.length]!);
  return { ...step, oneByOne: true, corpus: { repositories }, styles };
}

/** Draws one history in which sharers become a segment that borrows, where two segments become one. */
const MERGES_SHARERS = { seed: 10, numRuns: 1 };

test.each(
  someOf(
    [
      { revisions: 1, become: 8, workers: 0 },
      { revisions: 3, become: 8, workers: 0 },
      { revisions: 1, become: 2, workers: 0 },
      { revisions: 3, become: 2, workers: 0 },
      { revisions: 1, become: 2, workers: 2 },
    ] as const,
    2,
  ),
)("any history: $revisions revisions, $become to 1, $workers workers", async (kind) => {
  const { revisions, become, workers } = kind;
  merges.mockClear();
  const check = async (history: readonly Step[]) => {
    const path = temporaryFolder();
    const options = { contexts: () => ["acme/api"], workers };
    const open = () => openSmall({ ...options, tierSegments: become }, path);
    const world: World = {
      engine: await open(),
      corpus: { repositories: [] } satisfies Corpus,
      async reopen() {
        await world.engine.close();
        return open();
      },
      async compact(engine) {
        await engine.compact();
      },
    };
    for (const step of history) await take(world, step);
    const fresh = await openSmall(options);
    await checkAgainstFresh(world, fresh, history.at(-1)!);
    await world.engine.close();
    const environment = openEnvironment(path, { readOnly: true });
    expect((await checkEnvironment(environment)).problems).toEqual([]);
    expect(unaccounted(environment)).toEqual([]);
    await environment.close();
  };
  const one = fc
    .tuple(
      steps(revisions, SMALL_LAYOUT.pageBytes),
      fc.uniqueArray(fc.nat(5), { minLength: become === 2 ? 3 : 1, maxLength: 3 }),
    )
    .map(([step, trees]) => withWorkTrees(step, trees));
  const histories = fc.array(one, { minLength: 2, maxLength: 6 });
  await fc.assert(fc.asyncProperty(histories, check), {
    // the count below does not depend on luck
    examples: fc.sample(histories, MERGES_SHARERS).map((each): [Step[]] => [each]),
    numRuns: 2 * RUNS,
    endOnFailure: true,
  });
  // merges of other threads cannot be counted
  if (become === 2 && workers === 0) expect(borrowingMerges()).toBeGreaterThan(0);
});

const FILES = {
  "a.ts": "export function needle() {}\n",
  "b.ts": "needle(needle());\n".repeat(40),
  "c.txt": "hay\n",
};

const source = (name: string, files: Readonly<Record<string, string>> = FILES) =>
  documents({
    name,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  });

/** Which files hold matches, and how many. */
async function found(
  engine: Engine,
  query: string,
  options: SearchOptions = {},
): Promise<string[]> {
  const { files, stats } = await engine.search({ query, matches: 1e6 }, options);
  expect(stats.crashes).toBe(0);
  return files
    .map(
      ({ repository, fileName, chunks }) =>
        `${repository} ${fileName.text} ${chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0)}`,
    )
    .sort();
}

const ofAll = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`${name} a.ts 1`, `${name} b.ts 80`]).sort();

/** An engine with a repository, and others of the same files that borrow its content. */
async function withSharers(
  names: readonly string[],
  symbols: "after" | "skip" = "skip",
  options: { readonly tierSegments?: number } = {},
) {
  const path = temporaryFolder();
  const engine = await openSmall(options, path);
  await engine.index(source("main"), { symbols });
  borrowing.mockClear();
  for (const name of names) await engine.index(source(name), { symbols });
  expect(borrowing).toHaveBeenCalledTimes(names.length);
  return { engine, path };
}

async function stateOf(engine: Engine, path: string) {
  await engine.close();
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  const { segments, retired } = readManifest(snapshot);
  const stored = [...snapshot.keys(SEGMENTS_RANGE)].length;
  snapshot.close();
  const { problems, bytes } = await checkEnvironment(environment);
  const extra = unaccounted(environment);
  await environment.close();
  return { segments, retired, stored, problems, bytes, extra };
}

test("a work tree takes what differs", async () => {
  const { engine, path } = await withSharers(["one", "two"]);
  await engine.index(source("three", { ...FILES, "own.ts": "needle of its own\n" }));
  expect(await found(engine, "needle")).toEqual(
    [...ofAll(["main", "one", "two", "three"]), "three own.ts 1"].sort(),
  );
  expect(await engine.read({ repository: "two", path: "b.ts" })).toMatchObject({
    content: FILES["b.ts"],
  });
  const { segments, problems, bytes } = await stateOf(engine, path);
  expect(problems).toEqual([]);
  expect(bytes).toBe(Object.values(FILES).join("").length + "needle of its own\n".length);
  expect(textBytesOf({ segments })).toBe(bytes);
});

test("content stays while somebody borrows it, whoever goes first", async () => {
  const { engine, path } = await withSharers(["one", "two"], "after");
  await engine.remove("main");
  await engine.index(source("other", { "x.txt": "straw" })); // deletes what nobody needs
  expect(await found(engine, "needle")).toEqual(ofAll(["one", "two"]));
  expect(await found(engine, "sym:needle")).toEqual(["one a.ts 1", "two a.ts 1"]);
  const again = await openSmall({}, path);
  await engine.close();
  await again.remove("one");
  await again.index(source("other", { "x.txt": "more straw" }));
  expect(await found(again, "needle")).toEqual(ofAll(["two"]));
  await again.remove("two");
  await again.remove("other");
  await again.index([]);
  await again.index([]);
  expect(await stateOf(again, path)).toEqual({
    segments: [],
    retired: [],
    stored: 0,
    problems: [],
    bytes: 0,
    extra: [],
  });
});

const segmentsOf = async (engine: Engine): Promise<number> =>
  (await engine.explain({ query: "hay", matches: 1 })).segments.length;

test("a retired segment names the content that it borrows", async () => {
  const { engine, path } = await withSharers(["one"]);
  await engine.remove("one");
  const { retired, segments } = await stateOf(engine, path);
  expect(retired).toMatchObject([{ segment: 3, content: 1 }]);
  expect(segments).toMatchObject([{ segment: 1 }]);
});

const SEVEN = ["a", "b", "c", "d", "e", "f", "g"];

test("eight segments that borrow become one that borrows", async () => {
  const { engine, path } = await withSharers(SEVEN, "after");
  expect(await segmentsOf(engine)).toBe(8);
  await engine.index(source("h"), { symbols: "skip" });
  expect(await segmentsOf(engine)).toBe(2);
  const names = ["main", ...SEVEN, "h"];
  expect(await found(engine, "needle")).toEqual(ofAll(names));
  expect((await found(engine, "sym:needle")).length).toBe(9);
  const all = await engine.repositories();
  expect(all.map(({ symbols }) => symbols)).toEqual(names.map(() => ({ done: 3, total: 3 })));
  const { segments, problems, bytes } = await stateOf(engine, path);
  expect(segments).toMatchObject([{ segment: 1 }, { content: 1, files: 24, hasSymbols: true }]);
  expect([bytes, problems]).toEqual([Object.values(FILES).join("").length, []]);
});

test("a merged segment keeps the content that it borrows, until little of it is used", async () => {
  const options = { tierSegments: 2 };
  const { engine, path } = await withSharers(["a"], "after", options);
  await engine.index(source("b"));
  expect(await segmentsOf(engine)).toBe(2);
  await engine.remove("main");
  await engine.index([]); // deletes what nobody needs
  expect(await found(engine, "needle")).toEqual(ofAll(["a", "b"]));
  await engine.index(source("c"));
  await engine.index(source("d"));
  expect(await found(engine, "sym:needle")).toEqual(
    ["a", "b", "c", "d"].map((name) => `${name} a.ts 1`),
  );
  const again = await openSmall(options, path);
  await engine.close();
  for (const name of ["a", "b", "c"]) await again.remove(name);
  expect(await found(again, "needle")).toEqual(ofAll(["d"]));
  await again.index(source("d", { "c.txt": FILES["c.txt"] })); // one of three contents
  expect(await found(again, "hay")).toEqual(["d c.txt 1"]);
  const { segments, problems } = await stateOf(again, path);
  expect([segments.length, segments[0]!.content, problems]).toEqual([1, undefined, []]);
  expect(textBytesOf({ segments })).toBe(FILES["c.txt"].length);
});

test("a segment that borrows is rewritten without its dead files", async () => {
  const { engine, path } = await withSharers([]);
  const names = ["a", "b", "c"];
  await engine.index(
    names.map((name) => source(name)),
    { symbols: "skip" },
  );
  expect(borrowing).toHaveBeenCalledTimes(1);
  for (const name of ["a", "b"]) await engine.remove(name);
  expect(borrowing).toHaveBeenCalledTimes(2);
  expect(await found(engine, "needle")).toEqual(ofAll(["main", "c"]));
  const { segments, problems } = await stateOf(engine, path);
  expect([segments, problems]).toMatchObject([[{ segment: 1 }, { content: 1, files: 3 }], []]);
});

test("compact() makes one segment of all that share content", async () => {
  const { engine, path } = await withSharers(SEVEN, "after");
  await engine.compact();
  expect(await found(engine, "needle")).toEqual(ofAll(["main", ...SEVEN]));
  expect((await found(engine, "sym:needle")).length).toBe(8);
  const { segments, problems, extra } = await stateOf(engine, path);
  expect([segments.length, segments[0]!.content, problems, extra]).toEqual([1, undefined, [], []]);
});

test("content of which little is used is copied, and the rest deleted", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 10 }, (_, i) => [`${i}.txt`, `straw ${i}\n`]),
  );
  const { engine, path } = await withSharers([]);
  await engine.index(source("large", { ...many, ...FILES }));
  await engine.index(source("small", { "9.txt": many["9.txt"]! }));
  expect(borrowing).toHaveBeenCalled();
  await engine.remove("large");
  expect(await found(engine, "straw")).toEqual(["small 9.txt 1"]);
  const { segments, problems } = await stateOf(engine, path);
  expect([textBytesOf({ segments }), problems]).toEqual([
    Object.values(FILES).join("").length + many["9.txt"]!.length,
    [],
  ]);
});

test("symbols that come later are those of all who share them", async () => {
  const { engine, path } = await withSharers(["one"], "skip");
  expect(await found(engine, "sym:needle")).toEqual([]);
  await engine.index([], { symbols: "after" });
  expect(await found(engine, "sym:needle")).toEqual(["main a.ts 1", "one a.ts 1"]);
  await engine.index(source("two"), { symbols: "skip" });
  expect(await found(engine, "sym:needle")).toEqual(["main a.ts 1", "one a.ts 1", "two a.ts 1"]);
  expect((await stateOf(engine, path)).problems).toEqual([]);
});

test("known symbols are counted for all who share them", async () => {
  const { engine } = await withSharers([], "after");
  await engine.index(source("late", { "x.ts": "const late = 1;\n" }), { symbols: "skip" });
  await engine.compact(); // into one segment, in which some symbols are known
  for (const name of ["one", "late one"])
    await engine.index(source(name, name === "one" ? FILES : { "x.ts": "const late = 1;\n" }), {
      symbols: "skip",
    });
  expect(borrowing).toHaveBeenCalledTimes(2);
  const all = await engine.repositories();
  expect(all.map(({ name, symbols }) => `${name}: ${symbols.done} of ${symbols.total}`)).toEqual([
    "late: 0 of 1",
    "late one: 0 of 1",
    "main: 3 of 3",
    "one: 3 of 3",
  ]);
});

test("a text with another language has symbols of its own", async () => {
  const { engine } = await withSharers([], "after");
  await engine.index(source("python", { ...FILES, "a.py": FILES["a.ts"] }), { symbols: "after" });
  await engine.index(source("c", { "a.c": FILES["b.ts"] }), { symbols: "after" });
  expect(await found(engine, "sym:needle")).toEqual(["main a.ts 1", "python a.ts 1"]);
  expect(await found(engine, "lang:c needle")).toEqual(["c a.c 80"]);
  expect(await found(engine, "lang:typescript repo:c needle")).toEqual([]);
});

/** Durations differ from run to run. */
const NO_TIMES = { duration: 0, wait: 0, matchTreeConstruction: 0, matchTreeSearch: 0 };

test.each([
  { of: "the lender", become: 8, borrowed: 1 },
  { of: "a segment merged with another's", become: 2, borrowed: 3 },
])("a viewer learns nothing of others that share the content of $of", async (kind) => {
  const countsBeside = async (hidden: Readonly<Record<string, string>>) => {
    const engine = await openSmall({ tierSegments: kind.become });
    await engine.index(source("main", { ...FILES, ...hidden }), { symbols: "after" });
    borrowing.mockClear();
    const [own] = await engine.index(source("own"), { symbols: "after" });
    if (kind.become === 2) await engine.index(source("another", { ...FILES, ...hidden }));
    expect(borrowing).toHaveBeenCalledTimes(kind.borrowed);
    const viewer = { repositoryIds: new Set([own!.repositoryId]) };
    const answers = [];
    for (const query of ["secret", "needle", "sym:secret", "/se+cret/", "needle or secret"]) {
      const { files, stats } = await engine.search({ query, matches: 10 }, { viewer });
      answers.push({ files: files.length, stats: { ...stats, ...NO_TIMES } });
    }
    return answers;
  };
  const secret = {
    "s.ts": "export function secret() {}\n".repeat(60),
    "t.ts": "secret\n".repeat(90),
  };
  expect(await countsBeside(secret)).toEqual(await countsBeside({ "s.ts": "x", "t.ts": "y" }));
});

test.each([
  { what: "runs", part: PART.RUNS, of: 2 },
  { what: "own files", part: PART.FILES, of: 2 },
  { what: "own paths", part: PART.PATHS, of: 2 },
  { what: "lender's files", part: PART.FILES, of: 1 },
  { what: "lender's paths", part: PART.PATHS, of: 1 },
])("damage of the $what of a segment that borrows is found", async ({ part, of }) => {
  const { engine, path } = await withSharers([]);
  await engine.index(source("one", { ...FILES, "d.txt": FILES["c.txt"] }));
  const { segments } = await stateOf(engine, path);
  const place = segments.findIndex(({ content }) => content !== undefined);
  const [lender, borrower] = [segments[place]!.content!, segments[place]!.segment];
  const environment = await openStore(path, { readOnly: false });
  await environment.write((writer) =>
    writer.put(segmentKey(of === 1 ? lender : borrower, part), Buffer.of(1, 2, 3)),
  );
  await environment.close();
  const again = await openSmall({ onWarning: () => undefined }, path);
  const { files, stats } = await again.search({ query: "hay", matches: 9 });
  expect([files.map(({ repository }) => repository), stats.crashes]).toEqual(
    of === 1 ? [[], 2] : [["main"], 1],
  );
  const damage = { code: "INDEX_CORRUPT" };
  if (part !== PART.FILES)
    await expect(again.list({ repository: "one", path: "" })).rejects.toMatchObject(damage);
  const file = { repository: "one", path: of === 1 ? "a.ts" : "d.txt" };
  await expect(again.read(file)).rejects.toMatchObject(damage);
  const { problems } = await stateOf(again, path);
  expect(problems).toMatchObject(
    (of === 1 ? [lender, borrower] : [borrower]).map((segment) => ({ segment })),
  );
});

test("files that are borrowed are read and listed", async () => {
  const names = (folder: string) =>
    Array.from({ length: 40 }, (_, i) => [`${folder}/${i}.txt`, `hay ${folder} ${i}\n`] as const);
  const main = Object.fromEntries(["a", "b", "c"].flatMap(names));
  const { engine } = await withSharers([]);
  await engine.index([source("base", main), source("base too", { ...main, "a/1.txt": "more" })]);
  const tree: Record<string, string> = { ...main, "b/7.txt": "changed\n", "b/7a.txt": "new\n" };
  for (const gone of ["a/0.txt", "b/9.txt", "c/39.txt"]) delete tree[gone];
  borrowing.mockClear();
  await engine.index(source("tree", tree));
  expect(borrowing).toHaveBeenCalled();
  for (const [path, content] of Object.entries(tree))
    expect(await engine.read({ repository: "tree", path })).toMatchObject({ content });
  for (const path of ["a/0.txt", "b/9.txt", "c/39.txt", "b", "d.txt"])
    expect(await engine.read({ repository: "tree", path })).toBeUndefined();
  const listed = [];
  for (const folder of ["a", "b", "c"])
    for (const { path } of (await engine.list({ repository: "tree", path: folder }))!)
      listed.push(path);
  expect(listed.toSorted()).toEqual(Object.keys(tree).toSorted());
});

test("damaged text is not shared", async () => {
  const { engine, path } = await withSharers([]);
  await engine.close();
  const environment = await openStore(path, { readOnly: false });
  await environment.write((writer) =>
    writer.put(segmentKey(1, PART.TEXT, 0), Buffer.alloc(Object.values(FILES).join("").length)),
  );
  await environment.close();
  const again = await openSmall({}, path);
  await again.index(source("one"));
  expect(borrowing).not.toHaveBeenCalled();
  expect(await found(again, "repo:one needle")).toEqual(ofAll(["one"]));
});

test("a directory of a cluster shares nothing", async () => {
  const { engine, path } = await withSharers([]);
  await engine.close();
  const environment = await openStore(path, { readOnly: false });
  await environment.write((writer) => writer.put(engineKey("cluster"), Buffer.of(0)));
  await environment.close();
  const again = await openSmall({}, path);
  await again.index(source("one"));
  expect(borrowing).not.toHaveBeenCalled();
  expect(await found(again, "needle")).toEqual(ofAll(["main", "one"]));
});

test("a run that is stopped leaves nothing that borrows", async () => {
  const { engine, path } = await withSharers([]);
  const stop = new AbortController();
  borrowing.mockImplementationOnce(function (this: SegmentWriter, lender) {
    stop.abort();
    return finishBorrowing.call(this, lender);
  });
  await expect(engine.index(source("one"), { signal: stop.signal })).rejects.toMatchObject({
    code: "ABORTED",
  });
  expect(borrowing).toHaveBeenCalled();
  await engine.remove("main");
  await engine.index([]);
  await engine.index([]);
  const { stored, extra } = await stateOf(engine, path);
  expect([stored, extra]).toEqual([0, []]);
});

test("a retired segment that may still be read keeps the content that it borrows", async () => {
  const path = temporaryFolder();
  const environment = await openStore(path, { readOnly: false });
  const lease = await acquireLease(environment, { timeoutMs: 0 });
  const [lender, borrower] = [7, 8];
  await environment.write((writer) => {
    for (const segment of [lender, borrower])
      writer.put(segmentKey(segment, PART.PATHS), Buffer.of(segment));
    const retired = [
      { segment: lender, at: 0, generation: 2 },
      { segment: borrower, content: lender, at: 0, generation: 4 },
    ];
    putManifest(writer, { ...readManifest(writer), generation: 5, nextSegment: 9, retired });
  });
  const left = async (oldestHeld: number) => {
    await deleteLeftovers(environment, lease.owner, { oldestHeld, retireMs: 0 });
    const snapshot = environment.snapshot();
    const segments = readManifest(snapshot).retired.map(({ segment }) => segment);
    snapshot.close();
    return segments;
  };
  expect(await left(3)).toEqual([lender, borrower]);
  expect(await left(4)).toEqual([]);
  await lease.release();
  await environment.close();
});
