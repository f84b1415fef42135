/**
 * A process that performs operations first, first + 1, … up to end on the given directory, and reports when each begins
 * and is done.
 */

import { join } from "node:path";
import { lmdbTokenStore } from "../../../src/auth/lmdb-stores.ts";
import { open } from "../../../src/engine.ts";
import { operation, perform } from "./operations.ts";

const [path, first, end, workers] = process.argv.slice(2) as [string, string, string, string];
const engine = await open(join(path, "index"), {
  workers: Number(workers),
  warmUp: false,
  memoryBudget: 2 ** 25,
});
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
