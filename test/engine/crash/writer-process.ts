/**
 * A process that performs operations first, first + 1, … up to end on the given directory, and reports when each begins
 * and is done.
 */

import { join } from "node:path";
import { lmdbTokenStore } from "../../../src/auth/lmdb-stores.ts";
import type { Internals } from "../../../src/internals.ts";
import { openWith } from "../../../src/opened-engine.ts";
import { operation, perform } from "./operations.ts";

const [path = "", first, end, workers, internals = "{}"] = process.argv.slice(2);
const engine = await openWith(
  join(path, "index"),
  { workers: Number(workers), warmUp: false, memoryBudget: 2 ** 25 },
  JSON.parse(internals) as Partial<Internals>,
);
const tokens = lmdbTokenStore(join(path, "keys"));
for (let i = Number(first); i < Number(end); i++) {
  process.stdout.write(`begin ${i}\n`);
  try {
    await perform({ engine, tokens }, operation(i));
    process.stdout.write(`done ${i}\n`);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    process.stdout.write(`failed ${i} ${code}: ${message}\n`);
    process.exitCode = 1;
    break;
  }
}
await engine.close();
await tokens[Symbol.asyncDispose]();
