/** What is shared, and what is too little for that: with the real bounds, on threads. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { readManifest, textBytesOf, type Manifest } from "../../src/store/catalog/manifest.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { storedBytes } from "./stored-keys.ts";

const LEAST_SHARED_BYTES = RUN_BOUNDS.leastSharedBytes;
const FILE_BYTES = 4_096;
/** One and a half times as many as have to be shared. */
const FILES = (1.5 * LEAST_SHARED_BYTES) / FILE_BYTES;

const textOf = (kind: string, file: number): string =>
  `needle ${kind} ${file}\n`.padEnd(FILE_BYTES, `${kind} ${file} `);

/** A repository with the first files of `main`, and own ones. */
const repository = (name: string, { shared, own }: { shared: number; own: number }) =>
  documents({
    name,
    files: [
      ...Array.from({ length: shared }, (_, i) => ({
        path: `${i}.txt`,
        content: textOf("main", i),
      })),
      ...Array.from({ length: own }, (_, i) => ({
        path: `own/${i}.txt`,
        content: textOf(name, i),
      })),
    ],
  });

const ENOUGH = LEAST_SHARED_BYTES / FILE_BYTES;

test.each([
  { what: "all of it", shared: FILES, own: 1, stored: 1, borrows: 1 },
  { what: "just enough", shared: ENOUGH, own: 100, stored: 100, borrows: 1 },
  { what: "too little", shared: ENOUGH - 1, own: 100, stored: ENOUGH + 99, borrows: 0 },
  { what: "nothing", shared: 0, own: 100, stored: 100, borrows: 0 },
])("shares $what", async ({ shared, own, stored, borrows }) => {
  const path = temporaryFolder();
  const engine = await openEngine({ workers: 1 }, path);
  await engine.index(repository("main", { shared: FILES, own: 0 }));
  await engine.index(repository("tree", { shared, own }));
  for (let round = 0; round < 4; round++) {
    const { stats } = await engine.search({ query: "needle", matches: 1 }); // later files use the cache
    expect(stats.totalMatchCount).toBe(FILES + shared + own);
  }
  expect((await engine.check()).problems).toEqual([]);
  await engine.close();
  const manifest = manifestAt(path);
  expect(textBytesOf(manifest) / FILE_BYTES).toBe(FILES + stored);
  expect(manifest.segments.filter(({ content }) => content !== undefined).length).toBe(borrows);
});

test("a work tree stores the versions of its files, and the files that differ", async () => {
  const files = 2_000;
  const [main, tree] = [temporaryFolder(), temporaryFolder()];
  const pathOf = (file: number) => `folder-${file % 30}/of-the-same-repository/file-${file}.txt`;
  for (const folder of [main, tree])
    for (let file = 0; file < files; file++) {
      const path = join(folder, pathOf(file));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, textOf("main", file));
    }
  await sleep(20); // a file that has just changed gets no version
  const path = temporaryFolder();
  const engine = await openEngine({ workers: 0 }, path);
  const stored = async (): Promise<number> => {
    const environment = openEnvironment(path, { readOnly: true });
    const bytes = storedBytes(environment);
    await environment.close();
    return bytes;
  };
  await engine.index(directory(main, { name: "main" }), { symbols: "skip" });
  const before = await stored();
  await engine.index(directory(tree, { name: "tree" }), { symbols: "skip" });
  const bytes = (await stored()) - before;
  expect(bytes).toBeGreaterThan(8 * files); // the versions
  expect(bytes).toBeLessThan(8 * files + 4_096);
  const [again] = await engine.index(directory(tree, { name: "tree" }));
  expect(again).toMatchObject({ added: 0, removed: 0, unchanged: files, bytesRead: 0 });
});

function manifestAt(path: string): Manifest {
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  try {
    return readManifest(snapshot);
  } finally {
    snapshot.close();
    void environment.close();
  }
}
