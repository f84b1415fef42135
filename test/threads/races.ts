/** Threads that fill shared memory at the same time, or that are killed while they do so. */

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { randomNumbers } from "../../bench/generated.ts";
import { testSeed } from "../engine/seed.ts";
import { RUNS } from "../runs.ts";

/**
 * The latest moment of a kill, counted from the thread's start. The threads of these tests load their code and work for
 * about this long.
 */
const LATEST_MS = 200;

/**
 * Starts threads one after another, and kills each of them at a random moment.
 * REQUIRES: the thread does not use LMDB, which aborts the process if its thread is killed at a bad moment.
 */
export async function killSome(entry: URL, workerData: unknown): Promise<void> {
  const random = randomNumbers(testSeed());
  for (let kill = 0; kill < 8 * RUNS; kill++) {
    const worker = new Worker(entry, { workerData });
    await once(worker, "online");
    await new Promise((done) => setTimeout(done, random() * LATEST_MS));
    await worker.terminate();
  }
}

/**
 * Resolves to the number of look-ups that each of three threads has made in shared memory, and the number of wrong
 * results.
 */
export const race = (
  entry: URL,
  memory: unknown,
): Promise<readonly { readonly asked: number; readonly wrong: number }[]> =>
  Promise.all(
    [0, 1, 2].map(
      (thread) =>
        new Promise<{ asked: number; wrong: number }>((resolve, reject) => {
          const worker = new Worker(entry, { workerData: { memory, thread } });
          worker.on("message", resolve).on("error", reject);
        }),
    ),
  );
