/** Backups: what is in the copy, what it shares with an earlier one, and what a failed one leaves. */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { lmdbTokenStore } from "../../src/http/index.ts";
import { documents, open, type Engine } from "../../src/index.ts";
import type { BackupProgress } from "../../src/store/upkeep/backup.ts";
import { openEngine, SMALL_LAYOUT, temporaryFolder } from "./opened.ts";

const source = (name: string, version: number) =>
  documents({
    name,
    files: Array.from({ length: 8 }, (_, i) => ({
      path: `src/file${i}.ts`,
      content: `export function ${name}${i}() {}\n`.repeat(30) + `// version ${version}\n`,
    })),
  });

let engine: Engine;
let root: string;
let target: string;
beforeEach(async () => {
  engine = await openEngine({ internals: { layout: SMALL_LAYOUT } });
  root = temporaryFolder();
  target = join(root, "copy");
  await engine.index([source("one", 1), source("two", 1)]);
});

/** Answers of all kinds, without what depends on time. */
async function answersOf({ path }: { path: string }): Promise<unknown> {
  await using at = await open(path, { workers: 0, readOnly: true });
  const search = async (query: string) =>
    (await at.search({ query, matches: 500 })).files.map(({ repository, fileName, chunks }) => [
      repository,
      fileName.text,
      chunks.map(({ matchRanges }) => matchRanges),
    ]);
  const [repository] = await at.repositories({ query: "one" });
  return {
    found: await Promise.all(["version", "sym:two3", "file:file4"].map(search)),
    described: (await at.find({ text: "function one5" })).places.map(({ path: file }) => file),
    read: await at.read({ repository: "two", path: "src/file7.ts" }),
    repository,
    isSound: (await at.check()).ok,
  };
}

const textsOf = (directory: string) =>
  readdirSync(join(directory, "text")).map((name) => statSync(join(directory, "text", name)));

test("the copy answers as the original does, and can be written to at once", async () => {
  const before = await answersOf(engine);
  const { bytes, linkedBytes } = await engine.backup(target);
  expect(readdirSync(target).sort()).toEqual(["quern.mdb", "text"]);
  expect(await answersOf({ path: target })).toEqual(before);
  expect(before).toMatchObject({
    isSound: true,
    described: expect.arrayContaining(["src/file0.ts"]),
  });
  expect(readdirSync(root)).toEqual(["copy"]);
  expect(bytes).toBeGreaterThan(readFileSync(join(target, "quern.mdb")).length);
  expect(linkedBytes).toBe(0);

  await using copy = await open(target, { workers: 0 });
  await copy.index(source("one", 2));
  expect(await copy.remove("two")).toBe(true);
  expect(await answersOf(engine)).toEqual(before);
});

test("the copy has the keys and the .gitignore, but no clones", async () => {
  const tokens = lmdbTokenStore(join(engine.path, ".keys"));
  const hash = "9f86d081884c7d65".repeat(4);
  await tokens.create({ id: "a", kind: "api-key", hash, ownerId: "ada", createdAt: new Date(0) });
  writeFileSync(join(engine.path, ".gitignore"), "*\n");
  mkdirSync(join(engine.path, ".sync"));
  await engine.backup(target);
  await tokens[Symbol.asyncDispose]();
  await using copied = lmdbTokenStore(join(target, ".keys"));
  expect(await copied.findByHash(hash)).toMatchObject({ ownerId: "ada" });
  expect(readdirSync(target).sort()).toEqual([".gitignore", ".keys", "quern.mdb", "text"]);
});

describe("with an earlier backup as the base", () => {
  const base = () => join(root, "monday");

  test("equal text is linked, and either folder can be deleted", async () => {
    await engine.backup(base());
    await engine.index(source("three", 1));
    const { bytes, linkedBytes } = await engine.backup(target, { base: base() });
    const sizes = textsOf(base()).map(({ size }) => size);
    expect(linkedBytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
    expect(linkedBytes).toBeLessThan(bytes);
    expect(textsOf(target).filter(({ nlink }) => nlink === 2)).toHaveLength(sizes.length);
    const both = await answersOf(engine);
    expect(await answersOf({ path: target })).toEqual(both);
    rmSync(base(), { recursive: true });
    expect(await answersOf({ path: target })).toEqual(both);
  });

  test("text of another index under the same number is copied", async () => {
    const other = await openEngine({ internals: { layout: SMALL_LAYOUT } });
    await other.index([source("one", 3), source("two", 3)]);
    await other.backup(base());
    expect(await engine.backup(target, { base: base() })).toMatchObject({ linkedBytes: 0 });
    expect(await answersOf({ path: target })).toEqual(await answersOf(engine));
  });

  test("damaged text of the base is noticed", async () => {
    await engine.backup(base());
    damageText(base());
    await expect(engine.backup(target, { base: base() })).rejects.toMatchObject({
      code: "INDEX_CORRUPT",
      message: expect.stringContaining("verify both with check()"),
    });
    expect(readdirSync(root)).toEqual(["monday"]);
  });
});

function damageText(directory: string): void {
  const file = join(directory, "text", readdirSync(join(directory, "text"))[0]!);
  const bytes = readFileSync(file);
  bytes[10]! ^= 1;
  writeFileSync(file, bytes);
}

test("damage of the index is noticed, and no copy is left", async () => {
  damageText(engine.path);
  await expect(engine.backup(target)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
  expect(readdirSync(root)).toEqual([]);
});

test("beside index runs, each copy is one published state", async () => {
  let isOver = false;
  const writing = (async () => {
    for (let version = 2; !isOver; version++) await engine.index(source("one", version));
  })();
  try {
    for (let i = 0; i < 4; i++) {
      const path = join(root, String(i));
      await engine.backup(path);
      await using copy = await open(path, { workers: 0, readOnly: true });
      const { files } = await copy.search({ query: "repo:one version", matches: 100 });
      const versions = files.map(({ chunks }) => /version \d+/.exec(chunks[0]!.content)?.[0]);
      expect([versions.length, new Set(versions).size]).toEqual([8, 1]);
    }
  } finally {
    isOver = true;
    await writing;
  }
});

test("what an interrupted backup has left is replaced", async () => {
  mkdirSync(join(root, ".copy.partial/text"), { recursive: true });
  writeFileSync(join(root, ".copy.partial/text/99"), "left");
  mkdirSync(target); // an empty folder may be there
  await engine.backup(target);
  expect(readdirSync(root)).toEqual(["copy"]);
  expect(existsSync(join(target, "text/99"))).toBe(false);
});

test("the progress ends at the total", async () => {
  const seen: BackupProgress[] = [];
  await engine.backup(target, { onProgress: (progress) => seen.push(progress) });
  expect(seen.length).toBe(1 + textsOf(target).length);
  for (const { totalBytes } of seen) expect(totalBytes).toBe(seen.at(-1)!.bytes);
});

describe("is rejected, and leaves nothing", () => {
  const inside = () => join(engine.path, "copy");
  test.each<[what: string, folder: () => unknown, options: object, error: object]>([
    [
      "in the data directory",
      inside,
      {},
      { message: expect.stringMatching(/in the data directory/) },
    ],
    [
      "the data directory",
      () => engine.path,
      {},
      { message: expect.stringMatching(/in the data/) },
    ],
    [
      "a folder with files",
      () => join(root, ".."),
      {},
      { message: expect.stringMatching(/exists/) },
    ],
    ["no text", () => "", {}, { message: expect.stringMatching(/non-empty strings/) }],
    ["no string", () => 7, {}, { message: expect.stringMatching(/non-empty strings/) }],
    ["a base that is no string", () => target, { base: 7 }, { code: "INVALID_REQUEST" }],
    [
      "an unknown option",
      () => target,
      { bse: "a" },
      { message: expect.stringMatching(/did you mean base/) },
    ],
    ["a base without an index", () => target, { base: "nowhere" }, { code: "INDEX_NOT_FOUND" }],
    ["an aborted signal", () => target, { signal: AbortSignal.abort() }, { code: "ABORTED" }],
  ])("%s", async (_, folder, options, error) => {
    await expect(engine.backup(folder() as string, options)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      ...error,
    });
    expect([readdirSync(root), existsSync(inside())]).toEqual([[], false]);
  });

  test("an abort between two files", async () => {
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error("enough"));
    await expect(engine.backup(target, { signal: stop.signal, onProgress })).rejects.toMatchObject({
      code: "ABORTED",
      cause: new Error("enough"),
    });
    expect(readdirSync(root)).toEqual([]);
  });

  test("an engine that only reads", async () => {
    const reader = await openEngine({ readOnly: true }, engine.path);
    await expect(reader.backup(target)).rejects.toMatchObject({ code: "INDEX_READ_ONLY" });
    expect(readdirSync(root)).toEqual([]);
  });

  test("an engine that is closed", async () => {
    await engine.close();
    await expect(engine.backup(target)).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
  });
});
