/**
 * Compares searches with an overlay with searches of an index of the same state. Random documents of random
 * repositories are replaced, added and removed. The queries are of every kind, including symbols and ranking.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { OverlayDocument, SearchOptions } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import type { Corpus, CorpusFile } from "../oracle/corpus.ts";
import { corpora, withDefinitions } from "../oracle/corpora.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { fileKey } from "../oracle/oracle.ts";
import { CONTEXTS, searches } from "../oracle/queries.ts";
import { openEngine, RUNS } from "../engine/opened.ts";

const contexts = (name: string) => CONTEXTS[name];

/** Returns `base` with the files of `target` in the default revision of each repository that both have. */
function replaced(base: Corpus, target: Corpus): Corpus {
  return {
    repositories: base.repositories.map((repository) => {
      const other = target.repositories.find(({ name }) => name === repository.name);
      if (!other) return repository;
      const [main, ...others] = repository.revisions;
      return {
        ...repository,
        revisions: [{ ...main!, files: other.revisions[0]!.files }, ...others],
      };
    }),
  };
}

const sameBytes = (a: CorpusFile, b: CorpusFile | undefined): boolean =>
  b !== undefined && Buffer.compare(a.bytes, b.bytes) === 0;

/** Returns the overlay that turns the default revisions of `base` into those of `target`. */
function overlayOf(base: Corpus, target: Corpus): OverlayDocument[] {
  return base.repositories.flatMap(({ name: repository, revisions }, i) => {
    const before = revisions[0]!.files;
    const after = target.repositories[i]!.revisions[0]!.files;
    const byPath = (files: readonly CorpusFile[], path: string) =>
      files.find((file) => file.path === path);
    return [
      ...after
        .filter((file) => !sameBytes(file, byPath(before, file.path)))
        .map(({ path, bytes }) => ({ repository, path, content: bytes })),
      ...before
        .filter(({ path }) => !byPath(after, path))
        .map(({ path }) => ({ repository, path, removed: true as const })),
    ];
  });
}

async function reindex(engine: Engine, { repositories }: Corpus): Promise<void> {
  for (const { name } of await engine.repositories()) await engine.remove(name);
  await engine.index(repositories.map(sourceOf));
}

/** Numbers of repositories differ from engine to engine. */
const plainFile = (file: FileResult) => ({ ...file, repositoryId: 0 });

const plain = ({ files, stats, isSearchExhaustive, repositoryInfo }: SearchResponse) => ({
  files: files.map(plainFile),
  fileCount: stats.fileCount,
  totalMatchCount: stats.totalMatchCount,
  actualMatchCount: stats.actualMatchCount,
  isSearchExhaustive,
  repositories: repositoryInfo.map(({ name }) => name),
});

async function streamed(engine: Engine, ...asked: Parameters<Engine["stream"]>) {
  const files: FileResult[] = [];
  for await (const event of engine.stream(...asked)) {
    if (event.type === "chunk") files.push(...event.files);
    else {
      const { totalMatchCount, fileCount } = event.accumulatedStats;
      const found = files.map(plainFile).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      return { found, totalMatchCount, fileCount };
    }
  }
  return expect.fail("a stream without an end");
}

const keyOf = (file: Pick<FileResult, "repository" | "fileName" | "branches">) => fileKey(file);

async function viewerOf(engine: Engine, names: readonly string[] | undefined) {
  if (!names) return {};
  const all = await engine.repositories();
  const ids = all.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  return { viewer: { repositoryIds: new Set(ids) } };
}

test.each([
  { workers: 0, states: 4 },
  { workers: 2, states: 2 },
])("as if it had been indexed, $workers workers", async (given) => {
  const { workers, states } = given;
  const engine = await openEngine({ workers, contexts });
  const twin = await openEngine({ workers: 0, contexts });
  const cases = fc
    .tuple(corpora().map(withDefinitions), corpora().map(withDefinitions))
    .map(([base, target]) => ({ base, target: replaced(base, target) }))
    .chain(({ base, target }) =>
      fc.record({
        base: fc.constant(base),
        target: fc.constant(target),
        asked: fc
          .boolean()
          .chain((regex) => searches(target, 8, { regex, names: ["parse", "foo", "bar", "Oo"] })),
      }),
    );
  const check = async ({
    base,
    target,
    asked,
  }: typeof cases extends fc.Arbitrary<infer T> ? T : never) => {
    await reindex(engine, base);
    await reindex(twin, target);
    const overlay = overlayOf(base, target);
    for (const { request, options } of asked) {
      // what is not visible has no overlay either: it would be refused as unknown
      const visible = options.viewer
        ? base.repositories.filter(({ id }) => options.viewer!.repositoryIds.has(id))
        : base.repositories;
      const names = options.viewer && visible.map(({ name }) => name);
      const own = overlay.filter(({ repository }) =>
        visible.some(({ name }) => name === repository),
      );
      const here: SearchOptions = { ...(await viewerOf(engine, names)), overlay: own };
      const there: SearchOptions = await viewerOf(twin, names);
      const answer = plain(await engine.search(request, here));
      expect(answer).toEqual(plain(await twin.search(request, there)));
      if (request.matches > 1e6)
        expect(await streamed(engine, request, here)).toEqual(await streamed(twin, request, there));
      const [{ query, suggestions, notIndexed }, expected] = [
        await engine.explain(request, here),
        await twin.explain(request, there),
      ];
      expect({ query, suggestions, notIndexed }).toEqual({
        query: expected.query,
        suggestions: expected.suggestions,
        notIndexed: expected.notIndexed,
      });
    }
    for (const { name, revisions } of target.repositories) {
      const root = { repository: name, path: "" };
      expect(await engine.list(root, { overlay })).toEqual(await twin.list(root));
      for (const { path } of [...revisions[0]!.files, { path: "gone" }]) {
        const file = { repository: name, path };
        expect(await engine.read(file, { overlay })).toEqual(await twin.read(file));
      }
    }
  };
  await fc.assert(fc.asyncProperty(cases, check), { numRuns: states * RUNS });
});

const TWO_REVISIONS: Corpus["repositories"][number] = {
  id: 1,
  name: "shop",
  metadata: {},
  revisions: [
    { name: "main", files: [{ path: "a.txt", bytes: Buffer.from("old words") }] },
    { name: "dev", files: [{ path: "a.txt", bytes: Buffer.from("new words") }] },
  ],
};

test("a text that another revision has is the same file", async () => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const overlay = [{ repository: "shop", path: "a.txt", content: "new words" }];
  const request = { query: "words rev:*", matches: 10 };
  const { files } = await engine.search(request, { overlay });
  expect(files.map(({ branches }) => branches)).toEqual([["main", "dev"]]);
});

/** What happens to unusual texts: whether they are found by content or by path, and their language. */
const BIG = "x".repeat(2 ** 21 + 1);
test.each<[what: string, path: string, content: string | Uint8Array, found: string[]]>([
  ["text", "n.py", "needle = 1", ["n.py"]],
  ["bytes", "n.py", Buffer.from("needle = 1"), ["n.py"]],
  ["UTF-16", "n.txt", Buffer.from("\ufeffneedle", "utf16le"), ["n.txt"]],
  ["binary: by its path alone", "needle.bin", "needle\0", ["needle.bin"]],
  ["too large: by its path alone", "needle.txt", `needle${BIG}`, ["needle.txt"]],
  ["empty", "n.txt", "", []],
])("%s", async (_, path, content, found) => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const overlay = [{ repository: "shop", path, content }];
  const request = { query: "needle or file:needle", matches: 10 };
  const { files, stats } = await engine.search(request, { overlay });
  expect(files.map(({ fileName }) => fileName.text)).toEqual(found);
  expect(stats.crashes).toBe(0);
});

test("the last word on a path holds, and a text lasts one call", async () => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const at = { repository: "shop", path: "a.txt" };
  const overlay = [
    { ...at, content: "first" },
    { ...at, removed: true as const },
    { ...at, content: "last" },
  ];
  expect((await engine.read(at, { overlay }))?.content).toBe("last");
  expect((await engine.read(at))?.content).toBe("old words");
});

const at = { repository: "shop", path: "a.txt" };
test("a repository that is removed and indexed again is another", async () => {
  const engine = await openEngine();
  const overlay = [{ repository: "shop", path: "a.txt", content: "needle" }];
  for (let round = 0; round < 2; round++) {
    await engine.index(documents({ name: "shop", files: [{ path: "a.txt", content: "hay" }] }));
    const { stats } = await engine.search({ query: "needle", matches: 1 }, { overlay });
    expect(stats.totalMatchCount).toBe(1);
    await engine.remove("shop");
  }
});

const INVALID: [message: string, overlay: unknown][] = [
  ["overlay must be an iterable of documents", 7],
  ["overlay[0] must be an object", [null]],
  ["overlay[0].repository must be the name of a repository", [{ path: "a", content: "" }]],
  [
    'overlay[0].path must be a relative path with "/" between folders, got "../a"',
    [{ ...at, path: "../a", content: "" }],
  ],
  ["overlay[0] needs content, or removed: true", [at]],
  ["overlay[0].content must be a string or a Uint8Array", [{ ...at, content: 7 }]],
  [
    'overlay: there is no repository "nobody"; index it first',
    [{ ...at, repository: "nobody", content: "" }],
  ],
  [
    "overlay: the documents hold more than 16 MiB; index some of them",
    [1, 2].map((n) => ({ ...at, path: `${n}`, content: new Uint8Array(2 ** 23 + 1) })),
  ],
];

test.each(INVALID)("refused: %s", async (message, overlay) => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const options = { overlay: overlay as OverlayDocument[] };
  const refused = { code: "INVALID_REQUEST", message };
  await expect(engine.search({ query: "x", matches: 1 }, options)).rejects.toMatchObject(refused);
  await expect(engine.read(at, options)).rejects.toMatchObject(refused);
});

test("a repository that the viewer may not see is as unknown as one that is not there", async () => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const viewer = { repositoryIds: new Set<number>() };
  const overlay = [{ ...at, content: "words" }];
  await expect(
    engine.search({ query: "words", matches: 1 }, { viewer, overlay }),
  ).rejects.toMatchObject({
    message: 'overlay: there is no repository "shop"; index it first',
  });
});

test("texts that change at every search take the memory of a few", async () => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  for (let i = 0; i < 40; i++) {
    const overlay = Array.from({ length: 12 }, (_, n) => ({
      repository: "shop",
      path: `f${n}.txt`,
      content: `word${n <= i % 12 ? i : n} ${"filler ".repeat(20_000)}`,
    }));
    const { stats } = await engine.search({ query: `word${i}`, matches: 5 }, { overlay });
    expect(stats.fileCount).toBeGreaterThan(0);
    expect(stats.shardsScanned + stats.shardsSkipped).toBeLessThanOrEqual(12);
  }
});

test("a repository that was removed and indexed again under its name is overlaid as before", async () => {
  const engine = await openEngine();
  const overlay = [{ ...at, content: "unsaved words" }];
  for (let times = 0; times < 3; times++) {
    await engine.index(sourceOf(TWO_REVISIONS));
    const { stats } = await engine.search({ query: "unsaved", matches: 5 }, { overlay });
    expect([stats.fileCount, stats.crashes]).toEqual([1, 0]);
    await engine.remove("shop");
  }
});
