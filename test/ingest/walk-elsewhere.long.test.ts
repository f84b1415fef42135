/** A walk on a worker thread gives the same as a walk on this thread, and ends when it is told to. */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { packageFile } from "../../src/base/package-file.ts";
import { directory } from "../../src/ingest/sources/directory.ts";
import type { Entry, Source, WalkedFolder } from "../../src/ingest/sources/source.ts";
import { walk } from "../../src/ingest/sources/walk.ts";
import { walkElsewhere } from "../../src/ingest/sources/walk-elsewhere.ts";
import { createPool } from "../../src/threads/pool.ts";
import { openEngine } from "../engine/opened.ts";
import { tempFolder } from "./listing.ts";

const entry = packageFile("worker.js");
const pool = createPool({ size: 1, entry, tasks: {}, environment: undefined });
afterAll(() => pool.close());

const FILES = 2_000; // eight batches
const folder = tempFolder(
  Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`${i % 7}/${i}.txt`, `${i}`])),
);
const tree: WalkedFolder = { root: folder, ignore: ["*7.txt"], gitignore: true };
const options = (signal = new AbortController().signal) => ({ signal, maxFileSize: 3 });

async function all(batches: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const batch of batches) entries.push(...batch);
  return entries;
}

test("the same entries in the same order", async () => {
  await sleep(50); // a file this young has no version
  const here = await all(walk(tree, options()));
  expect(here).toHaveLength(FILES * 0.9);
  expect(here.filter(({ kind }) => kind === "skipped")).toHaveLength(900);
  expect(await all(walkElsewhere(pool, tree, options()))).toEqual(here);
});

test("a walk that is left ends, and the thread is free for the next", async () => {
  for await (const batch of walkElsewhere(pool, tree, options())) {
    expect(batch.length).toBeGreaterThan(0);
    break;
  }
  expect(await all(walkElsewhere(pool, tree, options()))).toHaveLength(FILES * 0.9);
});

test("an abort ends it, also while it waits for its reader", async () => {
  const stop = new AbortController();
  const batches = walkElsewhere(pool, tree, options(stop.signal));
  await batches.next();
  await sleep(20);
  stop.abort();
  await expect(all(batches)).rejects.toMatchObject({ code: "ABORTED" });
});

test("what fails there fails here", async () => {
  const nowhere = { ...tree, root: join(folder, "nowhere") };
  await expect(all(walkElsewhere(pool, nowhere, options()))).rejects.toMatchObject({
    code: "SOURCE_UNREADABLE",
  });
});

test.each([0, 2])(
  "with %i workers a run walks on another thread if it has one",
  async (workers) => {
    const engine = await openEngine({ workers });
    let isElsewhere: boolean | undefined;
    const real = directory(folder, { name: "r" });
    const source: Source = {
      ...real,
      open(indexed, given) {
        isElsewhere = given.walk !== undefined;
        return real.open(indexed, given);
      },
    };
    const [report] = await engine.index(source, { symbols: "skip" });
    expect(report!.added).toBe(FILES);
    expect(isElsewhere).toBe(workers > 0);
  },
);
