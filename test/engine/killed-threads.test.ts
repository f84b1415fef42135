/**
 * Threads that are killed at any moment, also while they add lists, tables and text to what is cached, leave nothing
 * behind that changes a later answer.
 */

import type * as Threads from "node:worker_threads";
import { afterAll, expect, test, vi } from "vitest";
import { randomNumbers } from "../../bench/generated.ts";
import type { Engine } from "../../src/engine.ts";
import { openEngine } from "./opened.ts";
import { testSeed } from "./seed.ts";
import { answers, large } from "./six-windows.ts";
import { RUNS } from "../runs.ts";

const KILLS = 12 * RUNS;
/** The latest moment of a kill after the first search began. All searches together take about this time. */
const LATEST_MS = 40;

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

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Resolves to the answers, or to undefined if a thread died meanwhile. */
async function unlessKilled(engine: Engine): Promise<unknown[] | undefined> {
  try {
    return await answers(engine);
  } catch (error) {
    expect(error).toMatchObject({ code: "INTERNAL" });
    expect((error as Error).message).toMatch(/^worker \d died/);
    return undefined;
  }
}

test("the same answers after any kill", async () => {
  const random = randomNumbers(testSeed());
  const twin = await openEngine();
  await twin.index(large());
  const expected = await answers(twin);
  await twin.close();
  let [killed, interrupted] = [0, 0];
  const onWarning = ({ message }: { message: string }) => {
    expect(message).toMatch(/^worker \d died/);
    killed++;
  };
  const options = { workers: 2, textCache: 6 * 2 ** 20, onWarning };
  const engine = await openEngine(options, twin.path);
  for (let kill = 0; kill < KILLS; kill++) {
    if (random() < 0.5) engine.trim(); // then everything is added anew
    const running = unlessKilled(engine);
    await pause(random() * LATEST_MS);
    const victims = [...living].filter(() => random() < 0.7);
    await Promise.all(victims.map((worker) => worker.terminate()));
    const found = await running;
    if (found === undefined) interrupted++;
    else expect(found).toEqual(expected);
    for (let time = 0; time < 3; time++) expect(await answers(engine)).toEqual(expected);
  }
  expect(killed).toBeGreaterThan(KILLS / 2);
  expect(interrupted).toBeGreaterThan(KILLS / 6);
  await engine.close();
});
