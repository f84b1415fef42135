/**
 * A writer that is killed leaves an index that opens, is whole, and answers as before or as after the interrupted
 * operation. Here it is killed at the steps of a segment's life and at some random moments. scripts/crash.ts kills it
 * at every transaction, and at as many moments as one likes.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { bundle, type Bundle } from "./crash/bundle.ts";
import { recover } from "./crash/holds.ts";
import { BORROWING, ROUND } from "./crash/operations.ts";
import type { Step } from "./crash/steps.ts";
import { IN_VALUES, runWriter, type Told, type WriterOptions } from "./crash/writer.ts";
import { temporaryFolder } from "./opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { testSeed } from "./seed.ts";

let bundled: Bundle;
beforeAll(async () => {
  bundled = await bundle("writer-process");
});
afterAll(() => bundled.remove());

type Options = Omit<WriterOptions, "script" | "workers"> & { workers?: number };

const write = (options: Options): Promise<Told> =>
  runWriter({ script: bundled.script("writer-process"), workers: 0, ...options });

const LIFE: readonly Step[] = [
  "created",
  "lease taken",
  "segment written",
  "segment complete",
  "content borrowed",
  "published",
  "symbols written",
  "symbols named",
  "words written",
  "merged",
  "removed",
  "deleted",
  "forgotten",
  "lease released",
  "key stored",
];

/**
 * Kills the writer within the transactions of these steps, all on one directory. Each kill meets what the kill before
 * has left, repaired by one operation. After a kill, what the previous transaction committed is there, and nothing of
 * the interrupted one.
 */
async function killWithin(
  steps: readonly Step[],
  path: string,
  how: Pick<Options, "workers" | "fileBlocks">,
): Promise<void> {
  const log = join(path, "steps");
  let done = 0;
  for (const step of steps) {
    const kill = async (step: Step): Promise<Told> => {
      const moment = { how: "kill within", step, nth: 1 } as const;
      const range = { first: done, end: done + 2 * ROUND };
      const told = await write({ path, ...how, ...range, log, moment });
      expect(told.isKilled, step).toBe(true);
      return told;
    };
    // segments to delete that are not retired
    if (step === "deleted") done = (await kill("merged")).done;
    const told = await kill(step);
    done = await recover(path, told).catch((error: unknown) => {
      throw new Error(`${step}, in operation ${told.done}`, { cause: error });
    });
  }
}

test("kills at each step of a segment's life", async () => {
  const folders = [temporaryFolder(), temporaryFolder()];
  // two steps at a time
  const steps = someOf(LIFE, 3);
  const halves = folders.map((path, half) =>
    killWithin(
      steps.filter((_, i) => i % 2 === half),
      path,
      half === 0 ? { workers: 0 } : { workers: 2, fileBlocks: IN_VALUES },
    ),
  );
  await Promise.all(halves);
});

test.each(someOf(["kill within", "kill after"] as const, 2))(
  "a run that borrows content: %s each of its steps",
  async (how) => {
    const path = temporaryFolder();
    const log = join(path, "steps");
    let [done, end] = [0, BORROWING];
    for (const step of ["lease taken", "content borrowed", "published"] as const) {
      done = (await write({ path, first: done, end })).done;
      const moment = { how, step, nth: 1 } as const;
      const told = await write({ path, first: done, end: done + 1, log, moment });
      expect(told.isKilled, step).toBe(true);
      done = await recover(path, told);
      expect(await borrowersIn(path), step).toBe(1);
      end += ROUND; // continues to the run that borrows in the next round
    }
  },
);

test.each(someOf(["kill within", "kill after"] as const, 2))(
  "a run that merges segments that borrow: %s each of its steps",
  async (how) => {
    const path = temporaryFolder();
    const log = join(path, "steps");
    const own = { path, log, tier: 2 };
    let [done, end] = [0, BORROWING + 1];
    // the first segment that borrows in this run belongs to the new repository
    for (const [step, nth] of [
      ["content borrowed", 2],
      ["merged", 1],
    ] as const) {
      done = (await write({ ...own, first: done, end })).done;
      const moment = { how, step, nth } as const;
      const told = await write({ ...own, first: done, end: done + 1, moment });
      expect(told.isKilled, step).toBe(true);
      done = await recover(path, told);
      end += ROUND;
    }
  },
);

/** Resolves to the number of published segments that borrow content. */
async function borrowersIn(path: string): Promise<number> {
  const environment = openEnvironment(join(path, "index"), { readOnly: true });
  const snapshot = environment.snapshot();
  const { segments } = readManifest(snapshot);
  snapshot.close();
  await environment.close();
  return segments.filter(({ content }) => content !== undefined).length;
}

test("kills at random moments", async () => {
  const path = temporaryFolder();
  const seed = testSeed();
  let done = 0;
  for (let i = 0; i < 2 * RUNS; i++) {
    const told = await write({
      path,
      workers: 2,
      first: done,
      end: 1e6,
      killAfterMs: (seed * (i + 7)) % 500,
    });
    done = await recover(path, told).catch((error: unknown) => {
      throw new Error(`kill ${i}, in operation ${told.done}`, { cause: error });
    });
  }
});

test("the space of segments that were never published is reused", async () => {
  const path = temporaryFolder();
  const log = join(path, "steps");
  const first = 5; // the operation with the most data: 5 MB of text
  await write({ path, first: 0, end: first });
  const moment = { how: "kill within", step: "published", nth: 1 } as const;
  const sizes: number[] = [];
  for (let i = 0; i < 4; i++) {
    expect((await write({ path, first, end: first + 1, log, moment })).isKilled).toBe(true);
    sizes.push(statSync(join(path, "index", "quern.mdb")).size);
  }
  expect(sizes.at(-1), sizes.join()).toBeLessThan(1.2 * sizes[1]!);
});
