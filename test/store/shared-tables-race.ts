/** A thread that adds tables to shared memory while others add the same ones, and counts wrong tables. */

import { isDeepStrictEqual } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import {
  SharedTables,
  TABLE,
  type SharedTablesMemory,
} from "../../src/store/segments/shared-tables.ts";

const { memory, thread } = workerData as { memory: SharedTablesMemory; thread: number };

const tables = new SharedTables(memory);
let [asked, wrong] = [0, 0];
for (let round = 0; round < 3000; round++) {
  // the threads begin at opposite ends of the same tables
  const segment = thread === 1 ? 3000 - round : round;
  const table = {
    starts: Uint32Array.from({ length: 1 + (segment % 40) }, (_, i) => segment * i),
    bytes: Uint8Array.from({ length: segment % 13 }, (_, i) => segment + i),
  };
  const found = tables.getOrMake(TABLE.PATHS, { segment }, () => table);
  asked++;
  if (!isDeepStrictEqual({ ...found }, table)) wrong++;
}
parentPort!.postMessage({ asked, wrong });
