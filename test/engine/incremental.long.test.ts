/**
 * Indexing again: what is unchanged is neither read nor written, segments with garbage are rewritten, and small sources
 * share segments.
 */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { IndexProgress } from "../../src/ingest/run/report.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { commit, git as run, repository, tempFolder, writeFiles } from "../ingest/listing.ts";
import { openEngine } from "./opened.ts";

const SKIP = { symbols: "skip" } as const;
type Files = Record<string, string>;

/** A file that changed this recently has no version: see versionOf(). */
const SETTLE_MS = 50;

interface Kept {
  /** Writes these files in place of the earlier ones. Returns their source. */
  readonly keep: (files: Files) => Promise<Source> | Source;
  /** Returns how often content was read, if the source can count that. */
  readonly reads?: () => number;
}

function inDirectory(): Kept {
  const folder = tempFolder();
  const keep = async (files: Files) => {
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, path);
      if (!existsSync(file) || readFileSync(file, "utf8") !== content)
        writeFiles(folder, { [path]: content });
    }
    await sleep(SETTLE_MS);
    return directory(folder, { name: "r" });
  };
  return { keep };
}

function inDocuments(): Kept {
  let reads = 0;
  const content = (text: string) => () => {
    reads++;
    return text;
  };
  const keep = (files: Files) =>
    documents({
      name: "r",
      files: Object.entries(files).map(([path, text]) => ({
        path,
        version: text,
        content: content(text),
      })),
    });
  return { keep, reads: () => reads };
}

function inGit(): Kept {
  const folder = repository({});
  const keep = (files: Files) => {
    commit(folder, files);
    return git(folder, { name: "r" });
  };
  return { keep };
}

/** Makes a repository without its previous commit each time, so that listing by changes is impossible. */
function inRewrittenGit(): Kept {
  let times = 0;
  let folder: string | undefined;
  const keep = (files: Files) => {
    // in the same folder, because from elsewhere it would be another repository
    const made = repository(files);
    if (folder) rmSync(folder, { recursive: true });
    if (folder) renameSync(made, folder);
    folder ??= made;
    run(folder, "commit", "-q", "--amend", "-m", `${times++}`);
    return git(folder, { name: "r" });
  };
  return { keep };
}

test.each([
  ["directory()", inDirectory],
  ["documents()", inDocuments],
  ["git()", inGit],
  ["git(), history rewritten", inRewrittenGit],
] as const)("%s reads and writes only what changed", async (_, make) => {
  const { keep, reads } = make();
  const engine = await openEngine();
  const files = { "a.txt": "one\n", "b/c.txt": "two two\n", d: "binary\0" };
  const index = async (now: Files) => {
    const [report] = await engine.index(await keep(now), SKIP);
    const { added, removed, unchanged, bytesRead } = report!;
    const { segments, files: stored } = await engine.check();
    return { added, removed, unchanged, bytesRead, segments, stored };
  };
  const first = { added: 2, removed: 0, unchanged: 0, bytesRead: 19, segments: 1, stored: 3 };
  expect(await index(files)).toEqual(first);
  const before = reads?.();
  const again = { ...first, added: 0, unchanged: 2, bytesRead: 0 };
  expect(await index(files)).toEqual(again);
  expect(reads?.()).toBe(before);
  const changed = { ...again, added: 1, removed: 1, unchanged: 1, bytesRead: 6, segments: 2 };
  expect(await index({ ...files, "b/c.txt": "three\n" })).toEqual({ ...changed, stored: 4 });
  for (const [query, count] of [
    ["one", 1],
    ["two", 0],
    ["three", 1],
  ] as const)
    expect((await engine.search({ query, matches: 1 })).stats.fileCount, query).toBe(count);
});

test.each([
  { replaced: 5, segments: 2, stored: 15 },
  { replaced: 6, segments: 2, stored: 10 },
])("a segment with $replaced of 10 files replaced", async ({ replaced, segments, stored }) => {
  const engine = await openEngine();
  const changes = (count: number, text: string) =>
    documents({
      name: "r",
      changes: Array.from({ length: count }, (_, i) => ({
        path: `${i}`,
        content: `${text} of ${i}\n`,
      })),
    });
  await engine.index(changes(10, "long ago, the first text"), SKIP);
  const { bytes } = await engine.check();
  await engine.index(changes(replaced, "new"), SKIP);
  const after = await engine.check();
  expect(after).toMatchObject({ ok: true, segments, files: stored });
  if (replaced > 5) expect(after.bytes).toBeLessThan(bytes);
  else expect(after.bytes).toBeGreaterThan(bytes);
  const { stats } = await engine.search({ query: "of", matches: 1 });
  expect(stats.fileCount).toBe(10);
});

const five = () =>
  Array.from({ length: 5 }, (_, i) =>
    documents({ name: `r${i}`, files: [{ path: "a", content: `needle ${i}\n` }] }),
  );

test.each([0, 2])("sources of one call share segments, %i workers", async (workers) => {
  const [together, alone] = [await openEngine({ workers }), await openEngine({ workers })];
  await together.index(five(), SKIP);
  for (const source of five()) await alone.index(source, SKIP);
  expect((await together.check()).segments).toBeLessThanOrEqual(Math.max(1, workers));
  expect((await alone.check()).segments).toBe(5);
  const { files } = await together.search({ query: "needle", matches: 10 });
  expect(files.map(({ repository: name }) => name).sort()).toEqual(["r0", "r1", "r2", "r3", "r4"]);
});

/** Changes the file between its listing and its reading. */
const meanwhile = (source: Source, act: () => void): Source => ({
  ...source,
  open: async (...given) => {
    const listing = await source.open(...given);
    const entries = async function* () {
      for await (const batch of listing.entries()) {
        act();
        yield batch;
      }
    };
    return { ...listing, entries };
  },
});

test.skipIf(process.platform === "win32").each([
  ["is gone", () => {}],
  ["is a symlink", (file: string) => symlinkSync("/etc/passwd", file)],
  ["is a pipe", (file: string) => void execFileSync("mkfifo", [file])],
])("a file that %s when it is read is unreadable", async (_, replace) => {
  const folder = tempFolder({ "a.txt": "needle\n", "b.txt": "needle too\n" });
  const file = join(folder, "b.txt");
  const engine = await openEngine({ workers: 2 });
  const source = directory(folder, { name: "r" });
  const [report] = await engine.index(
    meanwhile(source, () => {
      rmSync(file);
      replace(file);
    }),
    SKIP,
  );
  expect(report!.skipped).toEqual([{ path: "b.txt", revision: "HEAD", reason: "unreadable" }]);
  expect((await engine.search({ query: "needle", matches: 9 })).stats.fileCount).toBe(1);
  expect((await engine.search({ query: "file:b", matches: 9 })).stats.fileCount).toBe(1);
  rmSync(file, { force: true });
  writeFileSync(file, "needle again\n");
  expect((await engine.index(source, SKIP))[0]!.skipped).toEqual([]);
  expect((await engine.search({ query: "needle", matches: 9 })).stats.fileCount).toBe(2);
});

test("content whose function throws is unreadable in every run", async () => {
  const engine = await openEngine();
  const content = () => {
    throw new QuernError("SOURCE_UNREADABLE", "not today");
  };
  const skipped = [{ path: "b", revision: "HEAD", reason: "unreadable" }];
  for (const added of [1, 0]) {
    const files = [
      { path: "a", content: "needle\n" },
      { path: "b", content },
    ];
    const [report] = await engine.index(documents({ name: "r", files }), SKIP);
    expect(report).toMatchObject({ added, removed: 0, skipped });
    expect((await engine.repositories())[0]!.skipped).toEqual(skipped);
    expect(await engine.check()).toMatchObject({ segments: 1, files: 2 });
  }
});

test("after a change of the size limit, a commit is indexed anew once, and then costs nothing", async () => {
  const folder = repository({ "a.txt": "needle\n", "b.txt": "needle, and more\n" });
  const path = tempFolder();
  for (const [maxFileSize, found, listed] of [
    [10, 1, 2],
    [10, 1, 0],
    [100, 2, 2],
    [100, 2, 0],
    [10, 1, 2],
  ] as const) {
    const engine = await openEngine({ maxFileSize }, path);
    let total = 0;
    const onProgress = (progress: IndexProgress) => {
      if (progress.stage === "publish") total = progress.total;
    };
    const [report] = await engine.index(git(folder, { name: "r" }), { ...SKIP, onProgress });
    const { stats } = await engine.search({ query: "needle", matches: 9 });
    const skipped = report!.skipped.map(({ path: file, reason }) => `${file} ${reason}`);
    expect([maxFileSize, stats.fileCount, total, skipped]).toEqual([
      maxFileSize,
      found,
      listed,
      maxFileSize === 10 ? ["b.txt too-large"] : [],
    ]);
    await engine.close();
  }
});

test.each([1, 15, 16, 255, 256, 257, 300])(
  "lists %i skipped files as they were found",
  async (count) => {
    const engine = await openEngine();
    const paths = Array.from({ length: count }, (_, i) => `${1000 + i}.png`);
    const files = paths.map((path) => ({ path, content: new Uint8Array(9) }));
    await engine.index(documents({ name: "r", files }), SKIP);
    const [repository] = await engine.repositories();
    expect(repository!.skipped.map(({ path, reason }) => `${path} ${reason}`)).toEqual(
      paths.map((path) => `${path} binary`),
    );
  },
);
