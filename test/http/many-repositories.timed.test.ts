/**
 * A request takes as many steps with 3 000 repositories in the index as with three. With 70 000, the first request of
 * each kind works in short turns.
 */

import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { watchStalls } from "../../bench/stall.ts";
import { MOST_MS, TRIES } from "../engine/longest-turn.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { tellFigure } from "../figures.ts";
import { writeManyRepositories } from "../store/many-repositories.ts";
import { drain, MANY_REQUESTS, subjectOf } from "./many-requests.ts";
import { isInTurn } from "../runs.ts";

const [FEW, MANY] = [3, 3_000];

const ITERATORS = [[], new Map(), new Set()].map(
  (one) => Object.getPrototypeOf(one[Symbol.iterator]()) as { next: () => IteratorResult<unknown> },
);

/** Resolves to how often this thread takes the next item of an array, map or set during `run`. */
async function countSteps(run: () => Promise<unknown>): Promise<number> {
  let steps = 0;
  const originals = ITERATORS.map(({ next }) => next);
  for (const [at, iterator] of ITERATORS.entries())
    iterator.next = function (this: unknown) {
      steps++;
      return originals[at]!.call(this);
    };
  try {
    await run();
    return steps;
  } finally {
    for (const [at, iterator] of ITERATORS.entries()) iterator.next = originals[at]!;
  }
}

async function withMany<T>(
  count: number,
  use: (engine: Engine, count: number) => Promise<T>,
): Promise<T> {
  const folder = temporaryFolder();
  await writeManyRepositories(folder, count);
  return withEngine(folder, (engine) => use(engine, count));
}

async function withEngine<T>(folder: string, use: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await open(folder, { readOnly: true, workers: 1, warmUp: false });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/**
 * Resolves to the fewest steps of three runs of each request. Two earlier runs of all requests do not count. The first
 * may compute something that is cached, and after a few searches the calling thread searches by itself.
 */
const stepsBeside = (count: number) =>
  withMany(count, async (engine) => {
    const subject = subjectOf(engine, count);
    const steps: Record<string, number> = {};
    for (let round = 0; round < 2; round++)
      for (const [, ask] of MANY_REQUESTS) await drain(await ask(subject));
    for (const [what, ask] of MANY_REQUESTS) {
      const counts: number[] = [];
      for (let round = 0; round < 3; round++)
        counts.push(await countSteps(async () => drain(await ask(subject))));
      steps[what] = Math.min(...counts);
    }
    return steps;
  });

test("no request goes through all repositories", async () => {
  const [few, many] = [await stepsBeside(FEW), await stepsBeside(MANY)];
  // hundreds more if a worker searches in place of the calling thread; one step for each repository would be thousands
  const more = Object.keys(many).filter((what) => many[what]! > few[what]! + MANY / 4);
  expect(more.map((what) => [what, few[what], many[what]])).toEqual([]);
});

test("the test notices a request that goes through all of them", async () => {
  const steps = await withMany(MANY, (engine) =>
    countSteps(async () => void (await engine.repositories()).map(({ name }) => name)),
  );
  expect(steps).toBeGreaterThan(MANY);
});

/** More than the 65 536 entries at which V8 moves a Map. */
const VERY_MANY = 70_000;

/** Resolves to the longest turn of the first request of each kind. */
async function firstTurns(engine: Engine, count: number): Promise<Map<string, number>> {
  const subject = subjectOf(engine, count);
  const turns = new Map<string, number>();
  for (const [what, ask] of MANY_REQUESTS) {
    const longest = watchStalls();
    await drain(await ask(subject));
    turns.set(what, (await longest()).ownMs);
  }
  return turns;
}

test.runIf(process.platform === "linux" && isInTurn(3, 1))(
  "with 70 000 repositories, the first request of each kind works in short turns",
  async () => {
    await withMany(FEW, firstTurns); // the first requests of a process load and compile the code that they run
    const folder = temporaryFolder();
    await writeManyRepositories(folder, VERY_MANY);
    const least = new Map<string, number>();
    const long = () => [...least].filter(([, ms]) => ms >= MOST_MS);
    for (let round = 0; round < TRIES && (round === 0 || long().length > 0); round++)
      for (const [what, ms] of await withEngine(folder, (one) => firstTurns(one, VERY_MANY)))
        least.set(what, Math.min(least.get(what) ?? Infinity, ms));
    tellFigure(Array.from(least, ([what, ms]) => `${what} ${ms.toFixed(1)} ms`).join(", "));
    expect(long()).toEqual([]);
  },
);
