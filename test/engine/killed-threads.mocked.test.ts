/**
 * Threads that die between searches take their caches with them, and leave what they share. Other threads answer as
 * before. The threads are not killed while they search, because LMDB aborts the process if its thread is killed at a
 * bad moment; test/threads/races.ts does this with threads that only fill shared memory.
 */

import type * as Threads from "node:worker_threads";
import { afterAll, expect, test, vi } from "vitest";
import { randomNumbers } from "../../bench/generated.ts";
import { openEngine } from "./opened.ts";
import { testSeed } from "./seed.ts";
import { answers, large } from "./six-windows.ts";
import { RUNS } from "../runs.ts";

const KILLS = 12 * RUNS;
/** Every worker that an engine of this file has started, and that has not ended. */
const living = vi.hoisted(() => new Set<Threads.Worker>());
vi.mock("node:worker_threads", async (original) => {
  const threads = await original<typeof Threads>();
  class Worker extends threads.Worker {
    constructor(...args: ConstructorParameters<typeof Threads.Worker>) {
      super(...args);
      living.add(this);
      this.on("exit", () => living.delete(this));
    }
  }
  return { ...threads, Worker };
});
afterAll(() => expect(living.size).toBe(0));

test("answers stay the same, whichever threads died", async () => {
  const random = randomNumbers(testSeed());
  const twin = await openEngine();
  await twin.index(large());
  const expected = await answers(twin);
  await twin.close();
  let killed = 0;
  const onWarning = ({ message }: { message: string }) => {
    expect(message).toMatch(/^worker \d died/);
    killed++;
  };
  const options = { workers: 2, onWarning };
  const engine = await openEngine(options, twin.path);
  for (let kill = 0; kill < KILLS; kill++) {
    if (random() < 0.3) engine.trim(); // everything is then added anew
    // the amount of cached and shared data differs from kill to kill
    for (let time = random() * 4; time > 0; time--) expect(await answers(engine)).toEqual(expected);
    const victims = [...living].filter(() => random() < 0.7);
    await Promise.all(victims.map((worker) => worker.terminate()));
  }
  expect(await answers(engine)).toEqual(expected);
  expect(killed).toBeGreaterThan(KILLS / 2);
  await engine.close();
});
