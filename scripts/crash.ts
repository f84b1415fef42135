/**
 * Kills a process that indexes, updates, removes, compacts and creates keys, with SIGKILL, again and again. After each
 * kill it opens, checks and searches what is left. docs/robustness.md has the results. With
 * `npx tsx scripts/crash.ts [--kills 200] [--seed N]` it kills at random moments. With --steps it kills within and
 * after every write transaction of a round of operations. With --stops it stops the process after each of its steps
 * instead, takes over its lease, and lets it continue, which must change nothing. It does so once more without the
 * check of the lease, which must then change something. Build the kernel first.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "../test/engine/crash/bundle.ts";
import { recover } from "../test/engine/crash/holds.ts";
import { operation, ROUND } from "../test/engine/crash/operations.ts";
import {
  Fixtures,
  MORE_STOPS,
  nameStop,
  STOPS,
  stopAndGoOn,
  type Stop,
} from "../test/engine/crash/stopped.ts";
import type { Moment, Step } from "../test/engine/crash/steps.ts";
import { runWriter, stepsIn, type Told, type WriterOptions } from "../test/engine/crash/writer.ts";

/**
 * The latest moment of a kill, counted from the writer's start. The writer performs about four operations in this time.
 */
const LATEST_MS = 600;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: `${Date.now() % 1e6}` },
    steps: { type: "boolean", default: false },
    stops: { type: "boolean", default: false },
  },
});

type Write = (options: Omit<WriterOptions, "script" | "workers">) => Promise<Told>;
type Counts = Map<string, number>;

const countUp = (counts: Counts, name: string): unknown =>
  counts.set(name, (counts.get(name) ?? 0) + 1);

/** Kills at random moments. All kills use one directory. */
async function killAtRandom(write: Write, path: string, counts: Counts): Promise<void> {
  let state = Number(values.seed);
  const random = () => (state = (state * 48_271 + 11) % 2_147_483_647) / 2_147_483_647;
  const log = join(path, "steps");
  let done = 0;
  for (let i = 0; i < Number(values.kills); i++) {
    const killAfterMs = Math.floor(random() * LATEST_MS);
    const told = await write({ path, first: done, end: 1e6, log, killAfterMs });
    const change = told.began > told.done ? operation(told.done).kind : "between two";
    countUp(counts, `killed in: ${change}`);
    countUp(counts, `last committed: ${stepsIn(log).at(-1) ?? "nothing"}`);
    done = await recovered(path, told, `kill ${i}, seed ${values.seed}`);
  }
  countUp(counts, `operations done: ${done}`);
}

/** Kills at each step, each time in a new directory, so that the transactions are the same as in the first run. */
async function killAtSteps(write: Write, path: string, counts: Counts): Promise<void> {
  const log = join(path, "steps");
  await write({ path, first: 0, end: ROUND, log });
  const seen: Counts = new Map();
  for (const step of stepsIn(log)) {
    countUp(seen, step);
    for (const how of ["kill within", "kill after"] as const)
      await killAt(write, { how, step, nth: seen.get(step)! }, counts);
  }
}

async function stopAtSteps(script: string, folder: string, counts: Counts): Promise<void> {
  const fixtures = new Fixtures(script, folder);
  const goOn = async (stop: Stop, isBlind: boolean) =>
    stopAndGoOn({ script, path: await fixtures.copy(stop) }, stop, isBlind);
  for (const stop of [...STOPS, ...MORE_STOPS]) {
    const { step, isChanged, problems } = await goOn(stop, false);
    if (step !== "nothing" || isChanged || problems.length > 0)
      throw new Error(`${nameStop(stop)}: it went on with '${step}'. ${problems.join()}`);
    countUp(counts, `went on and wrote nothing: before '${stop.refused}'`);
    const blind = await goOn(stop, true);
    if (blind.step !== stop.refused || !blind.isChanged)
      throw new Error(`${nameStop(stop)}: the planted fault is not seen, '${blind.step}'`);
    countUp(counts, `blind, and wrote: '${stop.refused}'`);
  }
}

async function killAt(write: Write, moment: Moment, counts: Counts): Promise<void> {
  const own = mkdtempSync(join(tmpdir(), "quern-crash-"));
  const told = await write({ path: own, first: 0, end: ROUND, log: join(own, "steps"), moment });
  const name: `${string} ${Step}` = `${moment.how} ${moment.step}`;
  // no transaction follows the last one, and threads may divide the work differently
  if (told.isKilled) await recovered(own, told, `${name} ${moment.nth}`);
  countUp(counts, told.isKilled ? name : "not met again");
  rmSync(own, { recursive: true });
}

async function recovered(path: string, told: Told, where: string): Promise<number> {
  try {
    return await recover(path, told);
  } catch (error) {
    throw new Error(`${where}, in operation ${told.done}: the directory is ${path}`, {
      cause: error,
    });
  }
}

async function main(): Promise<void> {
  const bundled = await bundle("writer-process");
  const path = mkdtempSync(join(tmpdir(), "quern-crash-"));
  const counts: Counts = new Map();
  const write: Write = (options) =>
    runWriter({ script: bundled.script("writer-process"), workers: 2, ...options });
  const start = Date.now();
  try {
    if (values.stops) await stopAtSteps(bundled.script("writer-process"), path, counts);
    else await (values.steps ? killAtSteps : killAtRandom)(write, path, counts);
    rmSync(path, { recursive: true });
  } finally {
    bundled.remove();
  }
  for (const [name, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${count}\t${name}`);
  console.log(`nothing lost, nothing mixed, nothing left; ${(Date.now() - start) / 1000} s`);
}

await main();
