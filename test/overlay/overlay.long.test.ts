/** Searches with an overlay: as if it had been indexed, and what is refused. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { OverlayDocument } from "../../src/search/messages/request.ts";
import type { Corpus } from "../oracle/corpus.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { openEngine, SMALL_LAYOUT } from "../engine/opened.ts";
import { asIfIndexed } from "./as-if-indexed.ts";
import { someOf } from "../runs.ts";

test.each(
  someOf(
    [
      { workers: 0, states: 4 },
      { workers: 2, states: 2 },
      { workers: 0, states: 2, layout: SMALL_LAYOUT },
    ],
    2,
  ),
)("as if it had been indexed, $workers workers", async (given) =>
  asIfIndexed({ ...given, symbols: "after" }),
);

const TWO_REVISIONS: Corpus["repositories"][number] = {
  id: 1,
  name: "shop",
  metadata: {},
  revisions: [
    { name: "main", files: [{ path: "a.txt", bytes: Buffer.from("old words") }] },
    { name: "dev", files: [{ path: "a.txt", bytes: Buffer.from("new words") }] },
  ],
};

test("a text that is equal to one in another revision counts as the same file", async () => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const overlay = [{ repository: "shop", path: "a.txt", content: "new words" }];
  const request = { query: "words rev:*", matches: 10 };
  const { files } = await engine.search(request, { overlay });
  expect(files.map(({ branches }) => branches)).toEqual([["main", "dev"]]);
});

/** How unusual texts are treated: whether they are found by content or by path, and their language. */
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

test("the last text of a path is used, and only for one call", async () => {
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
test("a repository that is removed and indexed again is a different repository", async () => {
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
    "overlay: the documents have more than 16 MiB; index some of them",
    [1, 2].map((n) => ({ ...at, path: `${n}`, content: new Uint8Array(2 ** 23 + 1) })),
  ],
];

test.each(INVALID)("rejected: %s", async (message, overlay) => {
  const engine = await openEngine();
  await engine.index(sourceOf(TWO_REVISIONS));
  const options = { overlay: overlay as OverlayDocument[] };
  const refused = { code: "INVALID_REQUEST", message };
  await expect(engine.search({ query: "x", matches: 1 }, options)).rejects.toMatchObject(refused);
  await expect(engine.read(at, options)).rejects.toMatchObject(refused);
});

test("a hidden repository is rejected in the same way as one that does not exist", async () => {
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

test("texts that change at every search take only the memory of a few texts", async () => {
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

test("an overlay works after its repository was removed and indexed again under the same name", async () => {
  const engine = await openEngine();
  const overlay = [{ ...at, content: "unsaved words" }];
  for (let times = 0; times < 3; times++) {
    await engine.index(sourceOf(TWO_REVISIONS));
    const { stats } = await engine.search({ query: "unsaved", matches: 5 }, { overlay });
    expect([stats.fileCount, stats.crashes]).toEqual([1, 0]);
    await engine.remove("shop");
  }
});
