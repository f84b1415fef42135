/** Damage of a segment affects only that segment, a damaged manifest is refused, and every flipped byte is noticed. */

import fc from "fast-check";
import { open, type RootDatabaseOptionsWithPath } from "lmdb";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { countLost } from "../../src/search/caller/tally.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { zeroStats } from "../../src/search/messages/stats.ts";
import { checkEnvironment } from "../../src/store/upkeep/check.ts";
import { openEnvironment, type Snapshot } from "../../src/store/lmdb/environment.ts";
import {
  engineKey,
  PART,
  repositoryKey,
  revisionKey,
  segmentKey,
  type Part,
} from "../../src/store/format/format.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import { isSealed, seal, unseal } from "../../src/store/format/sealed.ts";
import { brokenInvariant } from "../engine/invariants.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { someOf } from "../runs.ts";

test("a sealed value gives back its payload, and any flipped bit, lost byte or other key is noticed", () => {
  const key = segmentKey(7, PART.TEXT, 3);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.nat(), (parts, place) => {
      const value = seal(key, ...parts);
      expect(Buffer.from(unseal(key, value, "it")).equals(Buffer.concat(parts))).toBe(true);
      for (const other of [segmentKey(8, PART.TEXT, 3), segmentKey(7, PART.TEXT, place)])
        expect(isSealed(other, value)).toBe(other.equals(key));
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(value);
        flipped[place % value.length]! ^= 1 << bit;
        expect(isSealed(key, flipped)).toBe(false);
      }
      expect(isSealed(key, value.subarray(0, place % 4))).toBe(false);
      expect(() => unseal(key, value.subarray(1), "this value")).toThrow(/this value/);
    }),
  );
});

const TEXT = "a needle in a haystack, and more of it\n";

/** Makes two segments, with one call each. */
async function twoSegments(path: string): Promise<void> {
  const engine = await openEngine({}, path);
  await engine.index(documents({ name: "one", files: [{ path: "a.txt", content: TEXT }] }));
  await engine.index(documents({ name: "two", files: [{ path: "b.txt", content: TEXT + TEXT }] }));
  await engine.close();
}

/** Flips one bit of a stored value, seal included. */
async function flip(path: string, key: Buffer, byte: number): Promise<void> {
  const environment = openEnvironment(path, { readOnly: false });
  const snapshot = environment.snapshot();
  const value = Buffer.from(snapshot.getSealed(key)!);
  snapshot.close();
  value[byte % value.length]! ^= 4;
  await environment.close();
  await store(path, key, value);
}

/** Stores a value by lmdb itself, because an environment would seal it. */
async function store(path: string, key: Buffer, value: Buffer): Promise<void> {
  const raw = open<Buffer, Buffer>({
    path: `${path}/quern.mdb`,
    noSubdir: true,
    encoding: "binary",
    keyEncoding: "binary",
    mapSize: 2 ** 40,
  } as RootDatabaseOptionsWithPath);
  await raw.put(key, value);
  await raw.close();
}

async function look<T>(path: string, at: (snapshot: Snapshot) => T): Promise<T> {
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  const seen = at(snapshot);
  snapshot.close();
  await environment.close();
  return seen;
}

const segmentsOf = (path: string): Promise<number[]> =>
  look(path, (snapshot) => readManifest(snapshot).segments.map(({ segment }) => segment));

const firstSegment = async (path: string): Promise<number> => (await segmentsOf(path))[0]!;

const EVERY_KEY = [Buffer.from([0]), Buffer.from([255])] as const;

const keysOf = (path: string): Promise<Buffer[]> =>
  look(path, (snapshot) => Array.from(snapshot.keys(EVERY_KEY), (key) => Buffer.from(key)));

/** Resolves to the last of the values of a segment's symbols, which is read when a definition is rated. */
async function textOfSymbols(path: string, segment: number): Promise<Buffer> {
  const first = segmentKey(segment, PART.SYMBOLS).subarray(0, 6);
  return (await keysOf(path)).findLast((key) => key.subarray(0, 6).equals(first))!;
}

const ALWAYS_READ: Part[] = [
  PART.TEXT,
  PART.BLOBS,
  PART.HASHES,
  PART.FOLDS,
  PART.GRAMS,
  PART.POSTINGS,
  PART.FILES,
  PART.PATHS,
];

const rows: [part: Part, workers: number][] = ALWAYS_READ.map((part) => [part, 0]);

test.each(someOf([...rows, [PART.HASHES, 2] as const], 3))(
  "damage in part %i of a segment costs its answers only, %i workers",
  async (part, workers) => {
    const path = temporaryFolder();
    await twoSegments(path);
    await flip(path, segmentKey(await firstSegment(path), part), 11);
    const warnings: string[] = [];
    const onWarning = ({ code }: { code: string }) => void warnings.push(code);
    const engine = await openEngine({ workers, onWarning }, path);
    const answer = await engine.search({ query: "needle", matches: 9 });
    expect(answer.files.map(({ repository }) => repository)).toEqual(["two"]);
    expect(answer.stats.crashes).toBe(1);
    expect(answer.isSearchExhaustive).toBe(false);
    expect(brokenInvariant(answer, 2)).toBeUndefined();
    expect(new Set(warnings)).toEqual(new Set(["INDEX_CORRUPT"]));
    const check = await engine.check();
    expect(check.ok).toBe(false);
    expect(check.problems.length).toBeGreaterThan(0);
  },
);

/** Makes three segments, with one call each. */
async function threeSegments(path: string): Promise<number[]> {
  const engine = await openEngine({}, path);
  for (const name of ["one", "two", "three"]) {
    const texts = ["a", "b"].map((file) => ({ path: `${file}.txt`, content: `${name} ${TEXT}` }));
    const definition = { path: "c.py", content: `def needle():\n  return "${name}"\n` };
    await engine.index(documents({ name, files: [...texts, definition] }));
  }
  await engine.close();
  return segmentsOf(path);
}

test.each([0, 1, 2])(
  "a stream returns the matches of the segments other than the damaged one",
  async (at) => {
    const path = temporaryFolder();
    const segment = (await threeSegments(path))[at]!;
    await flip(path, segmentKey(segment, PART.TEXT), 11);
    for (const workers of [0, 2]) {
      const warnings: string[] = [];
      const onWarning = ({ code }: { code: string }) => void warnings.push(code);
      const engine = await openEngine({ workers, onWarning }, path);
      let files = 0;
      // found by their paths, but damaged when they are shown
      for await (const event of engine.stream({ query: "file:txt", matches: 9, whole: true })) {
        if (event.type === "chunk") files += event.files.length;
        else {
          const { accumulatedStats: stats, isSearchExhaustive } = event;
          expect(brokenInvariant({ stats, isSearchExhaustive }, 3)).toBeUndefined();
          expect(event).toMatchObject({
            isSearchExhaustive: false,
            accumulatedStats: { crashes: 1 },
          });
        }
      }
      expect(files).toBe(4);
      expect(warnings).toEqual(["INDEX_CORRUPT"]);
    }
  },
);

test("counters stay consistent if damage ends a window after some of its hits", async () => {
  const path = temporaryFolder();
  const [segment] = await threeSegments(path);
  await flip(path, await textOfSymbols(path, segment!), 11);
  const engine = await openEngine({ onWarning: () => undefined }, path);
  const answer = await engine.search({ query: "needle", matches: 9 });
  expect(answer.stats.crashes).toBe(1);
  expect(brokenInvariant(answer, 3)).toBeUndefined();
});

test("a segment that crashes twice, the second time while its files are shown, counts once", () => {
  const ends = ["shardsScanned", "crashes", "shardsSkipped"] as const;
  const stats = { ...zeroStats(), shardsScanned: 1, crashes: 1, shardsSkipped: 1 };
  countLost({ stats, ends }, [0, 1, 2]);
  expect(stats).toMatchObject({ shardsScanned: 0, crashes: 3, shardsSkipped: 0 });
});

test("check() notices a text of another segment, even if its seal is valid", async () => {
  const path = temporaryFolder();
  const [one, two] = await threeSegments(path);
  const [mine, another] = [one!, two!].map((segment) => segmentKey(segment, PART.TEXT));
  const payload = await look(path, (snapshot) => Buffer.from(snapshot.get(another!, "it")!));
  await store(path, mine!, seal(mine!, payload));
  const engine = await openEngine({}, path);
  expect((await engine.check()).problems).toMatchObject([
    {
      segment: one,
      message: expect.stringMatching(/text 0 .* differs from what was indexed/) as string,
    },
  ]);
});

/** Returns the key in the same table of another segment and repository. */
function twinOf(key: Buffer, [, segment]: readonly number[]): Buffer {
  const twin = Buffer.from(key);
  twin.writeUInt32BE(key[0] === 5 ? segment! : 2, 1);
  if (key[0] === 3 || key[0] === 4) twin.writeUInt32BE(segment!, 5);
  return twin;
}

const isOfFirst = (key: Buffer, [segment]: readonly number[]): boolean =>
  key[0]! > 0 && key.readUInt32BE(1) === (key[0] === 5 ? segment : 1);

test("a valid value of another segment or repository counts as damage, whatever it contains", async () => {
  const path = temporaryFolder();
  const segments = await threeSegments(path);
  const keys = (await keysOf(path)).filter((key) => isOfFirst(key, segments));
  const values = (key: Buffer) => look(path, (at) => Buffer.from(at.getSealed(key)!));
  for (const key of keys) {
    const [own, another] = [await values(key), await values(twinOf(key, segments))];
    await store(path, key, another);
    const environment = openEnvironment(path, { readOnly: true });
    expect((await checkEnvironment(environment)).ok, key.toString("hex")).toBe(false);
    await environment.close();
    const answer = await use(path).catch(() => undefined);
    if (answer?.isSearchExhaustive) expect(answer.stats.totalMatchCount).toBe(9);
    await store(path, key, own);
  }
  expect(new Set(keys.map((key) => key[0]))).toEqual(new Set([1, 3, 4, 5]));
  expect((await use(path)).stats.totalMatchCount).toBe(9);
});

test.each([[[0]], [[1]], [[0, 1]]])("damage in copies %j of a segment's header", async (copies) => {
  const path = temporaryFolder();
  await twoSegments(path);
  const segment = await firstSegment(path);
  for (const copy of copies) await flip(path, segmentKey(segment, PART.HEADER, copy), 11);
  const engine = await openEngine({}, path);
  const answer = engine.search({ query: "needle", matches: 9 });
  if (copies.length === 2) await expect(answer).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
  else expect(await answer).toMatchObject({ isSearchExhaustive: true, stats: { fileCount: 2 } });
  expect((await engine.check()).ok).toBe(false);
});

const asks: [what: string, key: Buffer][] = [
  ["manifest", engineKey("manifest")],
  ["repository record", repositoryKey(1)],
];

test.each(asks)("a damaged %s is rejected", async (_, key) => {
  const path = temporaryFolder();
  await twoSegments(path);
  await flip(path, key, 20);
  await expect(use(path)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});

test("a lost revision set is noticed", async () => {
  const path = temporaryFolder();
  await twoSegments(path);
  const environment = openEnvironment(path, { readOnly: false });
  const segment = await firstSegment(path);
  await environment.write((writer) => writer.remove(revisionKey(1, segment, 0)));
  await environment.close();
  await expect(use(path)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});

test.each([
  ["a segment's headers", PART.HEADER],
  ["the definitions", PART.SYMBOLS],
] as const)("%s that have been lost are missed", async (_, part) => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  await engine.index(
    documents({ name: "one", files: [{ path: "a.py", content: "def needle(): pass\n" }] }),
  );
  await engine.close();
  const lost = (await keysOf(path)).filter((key) => key[0] === 5 && key[5] === part);
  expect(lost.length).toBeGreaterThan(0);
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) => {
    for (const key of lost) writer.remove(key);
  });
  await environment.close();
  await expect(use(path)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});

async function use(path: string): Promise<SearchResponse> {
  await using engine: Engine = await openEngine({ onWarning: () => undefined }, path);
  return await engine.search({ query: "needle", matches: 9 });
}

test("no flipped byte of any value causes a wrong answer", async () => {
  const path = temporaryFolder();
  await twoSegments(path);
  for (const [i, key] of (await keysOf(path)).entries()) {
    if (key.subarray(1).toString() === "lease") continue;
    await flip(path, key, i * 7);
    const engine = await openEngine({ onWarning: () => undefined }, path).catch(() => undefined);
    const answer = await engine?.search({ query: "needle", matches: 9 }).catch(() => undefined);
    if (answer?.isSearchExhaustive) expect(answer.stats.totalMatchCount).toBe(3);
    await engine?.close();
    await flip(path, key, i * 7);
  }
  const whole = await openEngine({}, path);
  expect((await whole.check()).problems).toEqual([]);
});

/** Three files: the first two have the same text and language, and the last has other ones. */
test.each<[what: string, change: (table: Buffer) => unknown, message: string]>([
  ["without a file", (table) => table.writeUInt32LE(0, 8), "text 1 of the segment has no file"],
  [
    "with several languages",
    (table) => table.writeUInt16LE(1, 12 + 2),
    "text 0 of the segment has several languages",
  ],
  [
    "with the symbols of another language",
    (table) => [1, 1, 0].forEach((blob, file) => table.writeUInt32LE(blob, 4 * file)),
    "the symbols of text 0 are of another language",
  ],
])("check() reports a text %s", async (_, change, message) => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  const files = ["a.c", "b.c", "c.py"].map((file) => ({
    path: file,
    content: `${file.slice(2)}\n`,
  }));
  await engine.index(documents({ name: "one", files }));
  await engine.close();
  const key = segmentKey(await firstSegment(path), PART.FILES);
  const table = Buffer.from(await look(path, (snapshot) => snapshot.get(key, "the files")!));
  change(table);
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) => writer.put(key, table));
  const { problems } = await checkEnvironment(environment);
  await environment.close();
  expect(problems.map((problem) => problem.message)).toEqual([message]);
});
