/**
 * Text in files: it reads as text in values does, whatever happens to a file costs the answers of its segment only,
 * and files live and end with their segments.
 */

import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import type { NewLayout } from "../../src/store/format/format.ts";
import { openEnvironment, type Environment } from "../../src/store/lmdb/environment.ts";
import { acquireLease } from "../../src/store/lmdb/lease.ts";
import { TextFiles } from "../../src/store/lmdb/text-files.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { segmentTarget } from "../../src/store/segments/segment-target.ts";
import { SegmentWriter } from "../../src/store/segments/segment-writer.ts";
import { deleteLeftovers } from "../../src/store/upkeep/leftovers.ts";
import { brokenInvariant } from "../engine/invariants.ts";
import { openEngine, SMALL_LAYOUT, temporaryFolder } from "../engine/opened.ts";
import { someOf } from "../runs.ts";

async function openedStore(path = temporaryFolder()): Promise<Environment> {
  const environment = await openStore(path, { readOnly: false });
  onTestFinished(() => environment.close());
  return environment;
}

const owned = async (environment: Environment): Promise<string> =>
  (await acquireLease(environment, { timeoutMs: 0 })).owner;

/** Writes a segment of these blobs. */
function write(
  environment: Environment,
  owner: string,
  [segment, layout]: readonly [number, NewLayout],
  blobs: readonly Uint8Array[],
): void {
  const writer = new SegmentWriter(segmentTarget(environment, segment, owner), layout);
  for (const blob of blobs) writer.addBlob({ hash: blob, language: "" }, blob);
  writer.finish(createKernel(), () => {}, new Uint32Array(Math.ceil(writer.pages / 32)));
}

const NEVER = 1_000_000;

test("every piece of a text is the same from a file, from values, and from the original text", async () => {
  const environment = await openedStore();
  const owner = await owned(environment);
  let segment = 0;
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 3_000 });
  const pieces = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(3)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(bytes, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 256, max: 1_000 }),
      fc.integer({ min: 1, max: 4 }),
      pieces,
      (blobs, blockBytes, fileBlocks, wanted) => {
        const text = Buffer.concat(blobs);
        const layout = { pageBytes: 128, blockBytes };
        const [inFile, inValues] = [++segment, ++segment];
        write(environment, owner, [inFile, { ...layout, fileBlocks }], blobs);
        write(environment, owner, [inValues, { ...layout, fileBlocks: NEVER }], blobs);
        const isLong = Math.ceil(text.length / blockBytes) >= fileBlocks;
        expect(existsSync(join(environment.path, "text", `${inFile}`))).toBe(isLong);
        expect(existsSync(join(environment.path, "text", `${inValues}`))).toBe(false);
        const snapshot = environment.snapshot();
        const readers = [inFile, inValues].map((one) => openSegment(snapshot, one)!);
        for (const [a, b, at] of wanted) {
          const [from, to] = [a % text.length, b % text.length].sort((x, y) => x - y) as [
            number,
            number,
          ];
          const got = readers.map((reader) => {
            const target = Buffer.alloc(to - from + 5, 7);
            reader.copyText(snapshot, from, to, target, at);
            return target;
          });
          const right = Buffer.alloc(to - from + 5, 7);
          text.copy(right, at, from, to);
          expect(got).toEqual([right, right]);
        }
        snapshot.close();
      },
    ),
  );
});

test("the seal of each block is checked when the block is first read", async () => {
  const environment = await openedStore();
  const text = Buffer.alloc(5_000, "text");
  write(environment, await owned(environment), [1, SMALL_LAYOUT], [text]);
  const file = join(environment.path, "text", "1");
  flip(file, 2_500);
  const snapshot = environment.snapshot();
  const reader = openSegment(snapshot, 1)!;
  const target = Buffer.alloc(3_000);
  const read = (from: number, to: number) => reader.copyText(snapshot, from, to, target, 0);
  read(0, 2_000);
  read(100, 1_900);
  expect(() => read(2_600, 2_610)).toThrow("block 2 of segment 1");
  expect(() => read(500, 3_500)).toThrow("block 2 of segment 1");
  read(3_000, 5_000);
  snapshot.close();
});

test("a piece can be read if and only if it is in no damaged block", async () => {
  const environment = await openedStore();
  const owner = await owned(environment);
  let segment = 0;
  const pieces = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 600, maxLength: 5_000 }),
      fc.integer({ min: 256, max: 600 }),
      fc.nat(),
      pieces,
      (text, blockBytes, damaged, wanted) => {
        segment++;
        write(environment, owner, [segment, { pageBytes: 128, blockBytes, fileBlocks: 1 }], [text]);
        const byte = damaged % text.length;
        flip(join(environment.path, "text", `${segment}`), byte);
        const block = Math.floor(byte / blockBytes);
        const snapshot = environment.snapshot();
        const reader = openSegment(snapshot, segment)!;
        for (const ends of wanted) {
          const [from, to] = ends.map((end) => end % (text.length + 1)).sort((x, y) => x - y) as [
            number,
            number,
          ];
          const target = new Uint8Array(to - from);
          const read = () => reader.copyText(snapshot, from, to, target, 0);
          if (from < to && from < (block + 1) * blockBytes && to > block * blockBytes)
            expect(read).toThrow(`block ${block} of segment ${segment}`);
          else {
            read();
            expect(target).toEqual(text.slice(from, to));
          }
        }
        snapshot.close();
      },
    ),
  );
});

const TEXT = "a needle in a haystack, and more of it\n".repeat(30);

/** Makes a directory of two repositories, each in a segment with a file. Resolves to the paths of the files. */
async function twoFiles(path: string): Promise<string[]> {
  const engine = await openEngine({ internals: { layout: SMALL_LAYOUT } }, path);
  for (const name of ["one", "two"])
    await engine.index(documents({ name, files: [{ path: `${name}.txt`, content: name + TEXT }] }));
  await engine.close();
  return readdirSync(join(path, "text"))
    .sort((a, b) => Number(a) - Number(b))
    .map((name) => join(path, "text", name));
}

function flip(file: string, byte: number): void {
  const bytes = readFileSync(file);
  bytes[byte]! ^= 4;
  writeFileSync(file, bytes);
}

test.each<[what: string, hurt: (one: string, two: string) => void]>(
  someOf(
    [
      ["a flipped bit at its beginning", (one) => flip(one, 0)],
      ["a flipped bit in its last block", (one) => flip(one, TEXT.length)],
      ["a lost end", (one) => truncateSync(one, 1_020)],
      ["no bytes", (one) => truncateSync(one, 0)],
      ["the bytes of another one", (one, two) => writeFileSync(one, readFileSync(two))],
      ["no file", (one) => rmSync(one)],
      ["no folder", (one) => renameSync(join(one, ".."), `${join(one, "..")}-elsewhere`)],
    ],
    2,
  ),
)("a file with %s costs the answers of its segment only", async (what, hurt) => {
  const path = temporaryFolder();
  const [one, two] = await twoFiles(path);
  hurt(one!, two!);
  const lost = what === "no folder" ? 2 : 1;
  for (const workers of [0, 2]) {
    const warnings: string[] = [];
    const onWarning = ({ code }: { code: string }) => void warnings.push(code);
    const engine = await openEngine({ workers, onWarning }, path);
    const answer = await engine.search({ query: "needle", matches: 9 });
    expect(answer.files.map(({ repository }) => repository)).toEqual(["two"].slice(0, 2 - lost));
    expect(answer.stats.crashes).toBe(lost);
    expect(answer.isSearchExhaustive).toBe(false);
    expect(brokenInvariant(answer, 2)).toBeUndefined();
    expect(new Set(warnings)).toEqual(new Set(["INDEX_CORRUPT"]));
    const read = engine.read({ repository: "one", path: "one.txt" });
    await expect(read).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    expect((await engine.check()).problems).toHaveLength(lost);
    await engine.close();
  }
});

test("a writer that has lost the lease neither writes nor deletes a file", async () => {
  const environment = await openedStore();
  const owner = await owned(environment);
  write(environment, owner, [1, SMALL_LAYOUT], [Buffer.from(TEXT)]);
  const target = segmentTarget(environment, 1, "somebody else");
  const append = () => target.write(() => target.appendText!(0, [Buffer.from("other text")]));
  expect(append).toThrow(expect.objectContaining({ code: "INDEX_LOCKED" }) as Error);
  const retirement = { oldestHeld: Infinity, retireMs: 0 };
  const deleted = deleteLeftovers(environment, "somebody else", retirement);
  await expect(deleted).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  expect(readFileSync(join(environment.path, "text", "1"), "latin1")).toBe(TEXT);
});

test("a writer that continues after another has begun the same segment does not write to the other's file", async () => {
  const environment = await openedStore();
  const { texts } = environment;
  texts.append(5, 0, [Buffer.from("of the first")]);
  rmSync(join(environment.path, "text", "5"));
  expect(() => texts.append(5, 12, [Buffer.from(" writer")])).toThrow(/ENOENT/);
  texts.append(5, 0, [Buffer.from("of the second")]);
  expect(readFileSync(join(environment.path, "text", "5"), "latin1")).toBe("of the second");
});

test("the next run deletes files that belong to no segment, or to a segment that was merged away", async () => {
  const path = temporaryFolder();
  const [one, two] = await twoFiles(path);
  for (const name of ["77", "3.gone"]) writeFileSync(join(path, "text", name), "left by a kill");
  const engine = await openEngine({ internals: { layout: SMALL_LAYOUT, retireMs: 0 } }, path);
  const files = [{ path: "three.txt", content: `three ${TEXT}` }];
  await engine.index(documents({ name: "three", files }));
  expect(readdirSync(join(path, "text")).sort()).toEqual(["1", "2", "3"]);
  const found = async () => (await engine.search({ query: "needle", matches: 9 })).stats;
  expect((await found()).totalMatchCount).toBe(90);
  await engine.compact();
  expect([one, two].map((file) => existsSync(file!))).toEqual([false, false]);
  expect(readdirSync(join(path, "text"))).toHaveLength(1);
  expect((await found()).totalMatchCount).toBe(90);
  expect(openTexts(path)).not.toContainEqual(expect.stringContaining("deleted"));
  for (const name of ["one", "two", "three"]) await engine.remove(name);
  await engine.compact();
  expect(readdirSync(join(path, "text"))).toEqual([]);
  await engine.close();
  expect(openTexts(path)).toEqual([]);
});

/** Returns the files of text that this process has open, as the system shows them. */
function openTexts(path: string): string[] {
  if (process.platform !== "linux") return [];
  const links = readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return []; // closed in the meantime
    }
  });
  return links.filter((link) => link.startsWith(join(path, "text")));
}

test("at most 64 files stay open, and all of them can be read", async () => {
  const environment = await openedStore();
  const owner = await owned(environment);
  const numbers = Array.from({ length: 70 }, (_, i) => i + 1);
  for (const number of numbers)
    write(environment, owner, [number, SMALL_LAYOUT], [Buffer.from(number + TEXT)]);
  const snapshot = environment.snapshot();
  const readers = numbers.map((number) => openSegment(snapshot, number)!);
  for (const _ of [1, 2])
    for (const [i, reader] of readers.entries())
      expect(Buffer.from(reader.blobText(snapshot, 0)).toString()).toBe(numbers[i] + TEXT);
  snapshot.close();
  if (process.platform === "linux") expect(openTexts(environment.path)).toHaveLength(64);
  environment.texts.close();
  expect(openTexts(environment.path)).toEqual([]);
});

test.each([0, 2])(
  "with %i workers, a file is flushed before a manifest names its segment",
  async (workers) => {
    const path = temporaryFolder();
    const flushed: number[] = [];
    const sync = Reflect.get(TextFiles.prototype, "sync") as TextFiles["sync"];
    const spy = vi.spyOn(TextFiles.prototype, "sync").mockImplementation(async function (
      this: TextFiles,
      segments,
    ) {
      const named = await namedIn(path);
      expect(segments.filter((segment) => named.includes(segment))).toEqual([]);
      await sync.call(this, segments);
      flushed.push(...segments);
    });
    onTestFinished(() => spy.mockRestore());
    const internals = { layout: SMALL_LAYOUT, retireMs: 0 };
    const engine = await openEngine({ workers, internals }, path);
    for (const name of ["one", "two"])
      await engine.index(documents({ name, files: [{ path: "a.txt", content: name + TEXT }] }));
    const before = await namedIn(path);
    await engine.compact();
    const named = await namedIn(path);
    expect([before.length, named.length]).toEqual([2, 1]);
    expect(flushed).toEqual([...before, ...named]);
  },
);

/** Resolves to the segments in the current manifest. */
async function namedIn(path: string): Promise<number[]> {
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  const { segments } = readManifest(snapshot);
  snapshot.close();
  await environment.close();
  return segments.map(({ segment }) => segment);
}
