/** Starts threads and kills each of them at a random moment, while it fills shared memory. */

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { randomNumbers } from "../../bench/generated.ts";
import { testSeed } from "../engine/seed.ts";
import { RUNS } from "../runs.ts";

/** The latest moment of a kill after a thread has started. The threads of these tests load their code and work for so long. */
const LATEST_MS = 200;

/** REQUIRES: the thread does not use LMDB, which aborts the process if its thread is killed at a bad moment. */
export async function killSome(entry: URL, workerData: unknown): Promise<void> {
  const random = randomNumbers(testSeed());
  for (let kill = 0; kill < 8 * RUNS; kill++) {
    const worker = new Worker(entry, { workerData });
    await once(worker, "online");
    await new Promise((done) => setTimeout(done, random() * LATEST_MS));
    await worker.terminate();
  }
}
