/**
 * Searches and updates in a loop, to see whether memory grows:
 *
 *     node --expose-gc --import tsx scripts/soak.ts [searches] [updates] [seed]
 *
 * Runs on two workers, by default 100 000 searches and 1 000 updates, and prints a line after each twentieth of them.
 * Fails if the median of the last quarter of these lines is more than 10 % above that of the second quarter. Linux
 * only. Build the kernel and the worker first.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../src/opened-engine.ts";
import { hasGrown, soak } from "../test/engine/soak.ts";

const [searches = 100_000, updates = 1_000, seed = 1] = process.argv.slice(2).map(Number);
const path = mkdtempSync(join(tmpdir(), "quern-soak-"));
const engine = await open(path, { workers: 2 });
const start = performance.now();
const taken: number[] = [];
await soak(engine, {
  searches,
  updates,
  seed,
  samples: 20,
  onSample(sample) {
    taken.push(sample.anonymous);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    const mebibytes = (sample.anonymous / 2 ** 20).toFixed(1);
    console.log(
      `${seconds} s: ${sample.searches} searches, ${sample.updates} updates, ${mebibytes} MiB`,
    );
  },
});
await engine.close();
rmSync(path, { recursive: true, force: true, maxRetries: 3 });
if (hasGrown(taken)) {
  console.log("memory grows: the last quarter takes over 10 % more than the second");
  process.exitCode = 1;
}
