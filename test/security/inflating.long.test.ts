/**
 * Small packs that contain much text: how much they may take of the disk and of a data directory, and how they affect
 * other repositories.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import type { IndexProgress } from "../../src/ingest/run/report.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { IndexQueue } from "../../src/sync/index-queue.ts";
import { openEngine } from "../engine/opened.ts";
import { smallDisk } from "../engine/small-disk.ts";
import { git as run, repository } from "../ingest/listing.ts";

const MIB = 2 ** 20;
const id = (type: string, content: Buffer): Buffer =>
  createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest();

/** Encodes a number as deltas do, with seven bits in each byte, the lowest first. */
function varint(number: number): number[] {
  return number < 128 ? [number] : [(number & 127) | 128, ...varint(number >>> 7)];
}

/** Returns the head of an object in a pack: its type, and its length before compression. */
function head(type: number, length: number): Buffer {
  const rest = length >>> 4;
  const first = (type << 4) | (length & 15);
  return Buffer.from(rest === 0 ? [first] : [first | 128, ...varint(rest)]);
}

/** Makes a repository of `count` files of a mebibyte each, which differ in eight bytes, in a pack of deltas. */
function inflating(count: number): { folder: string; packBytes: number } {
  const base = Buffer.from("a line of text that is there again\n".repeat(MIB / 35 + 1)).subarray(
    0,
    MIB,
  );
  const objects = [head(3, MIB), deflateSync(base)];
  const names: Buffer[] = [];
  const copy = [0x80 | 0x40, MIB >>> 16]; // the whole base except its offset
  for (let i = 0; i < count; i++) {
    const own = Buffer.from(String(i).padStart(7, "0") + "\n");
    const delta = Buffer.from([...varint(MIB), ...varint(MIB + 8), 8, ...own, ...copy]);
    objects.push(head(7, delta.length), id("blob", base), deflateSync(delta));
    names.push(id("blob", Buffer.concat([own, base])));
  }
  const start = Buffer.from("PACK\0\0\0\x02\0\0\0\0");
  start.writeUInt32BE(count + 1, 8);
  const bytes = Buffer.concat([start, ...objects]);
  const pack = Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]);
  const folder = repository({ a: "1" });
  execFileSync("git", ["index-pack", "--stdin"], { cwd: folder, input: pack });
  const entry = (name: Buffer, i: number) => [
    Buffer.from(`100644 ${String(i).padStart(5, "0")}.txt\0`),
    name,
  ];
  const tree = execFileSync("git", ["hash-object", "-w", "--stdin", "-t", "tree"], {
    cwd: folder,
    input: Buffer.concat(names.flatMap(entry)),
    encoding: "utf8",
  }).trim();
  run(folder, "update-ref", "refs/heads/main", run(folder, "commit-tree", "-m", "m", tree));
  return { folder, packBytes: pack.length };
}

const found = async (engine: Engine, query: string): Promise<number> =>
  (await engine.search({ query, matches: 100 })).stats.fileCount;

test("a run ends before the disk is full, and keeps what was published", async ({ skip }) => {
  const disk = smallDisk(64) ?? skip("mounting needs root");
  const { folder, packBytes } = inflating(200);
  expect(packBytes).toBeLessThan(20_000);
  const engine = await openEngine({}, join(disk, "index"));
  await engine.index(documents({ name: "mine", files: [{ path: "a", content: "needle\n" }] }));
  const free = () => {
    const { bavail, bsize } = statfsSync(disk);
    return (bavail * bsize) / MIB;
  };
  const before = free();
  let least = Infinity;
  const onProgress = () => void (least = Math.min(least, free()));
  await expect(engine.index(git(folder, { name: "theirs" }), { onProgress })).rejects.toMatchObject(
    {
      code: "DISK_FULL",
      message: expect.stringMatching(/^theirs leaves less than \d MiB of the disk free: make room/),
    },
  );
  expect(least).toBeLessThan(0.2 * before);
  expect(free()).toBeGreaterThan(0.02 * before);
  expect(await found(engine, "needle")).toBe(1);
  expect((await engine.repositories()).map(({ name }) => name)).toEqual(["mine"]);
  // the data of the run is deleted, and its room is reused
  const more = "text that takes room\n".repeat(MIB / 21);
  const files = Array.from({ length: 20 }, (_, i) => ({ path: `${i}`, content: `${i}${more}` }));
  await engine.index(documents({ name: "mine", files }));
  expect(await found(engine, "takes")).toBe(20);
});

const text = (seed: string) => `${seed}\n`.repeat(600_000 / (seed.length + 1));

test("a repository cannot have more content than the limit", async () => {
  const runs = { ...RUN_BOUNDS, mostContentBytes: MIB };
  const engine = await openEngine({ internals: { runs } });
  const refused = {
    code: "SOURCE_UNREADABLE",
    message: `the files of theirs have more than ${MIB} bytes; omit files or revisions, or divide the repository`,
  };
  let bytesRead = 0;
  const onProgress = ({ bytes }: IndexProgress) => void (bytesRead = bytes);
  const { folder } = inflating(3);
  const listed = engine.index(git(folder, { name: "theirs" }), { onProgress });
  await expect(listed).rejects.toMatchObject(refused);
  expect(bytesRead).toBe(0); // git reports their lengths
  const late = (seed: string) => ({ path: seed, content: async () => text(seed), version: seed });
  const index = (...seeds: string[]) =>
    engine.index(documents({ name: "theirs", files: seeds.map(late) }), { onProgress });
  await index("one");
  const many = Array.from({ length: 100 }, (_, i) => `${i}`);
  await expect(index(...many)).rejects.toMatchObject(refused);
  expect(bytesRead).toBeLessThan(8 * MIB);
  await expect(index("one", "two")).rejects.toMatchObject(refused); // one is indexed, and two fit
  expect(await found(engine, "one")).toBe(1);
  await index("two"); // replaces one of them
  expect(await found(engine, "two")).toBe(1);
});

test("a repository that fills the disk does not prevent others from being synced", async () => {
  const engine = await openEngine();
  const queue = new IndexQueue(engine, {
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  const full = new QuernError("DISK_FULL", "full");
  const [first, second] = ["first", "second"].map((name) => documents({ name, files: [] }));
  const theirs = { ...first!, name: "theirs", open: () => Promise.reject(full) };
  const ends = await Promise.allSettled(
    [first!, theirs, second!].map((source) => queue.add(source)),
  );
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});
