/** A request takes as many steps beside 3 000 repositories as beside three. */

import { expect, test } from "vitest";
import { open, type Engine } from "../../src/engine.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { writeManyRepositories } from "../store/many-repositories.ts";
import { drain, MANY_REQUESTS, subjectOf } from "./many-requests.ts";

const [FEW, MANY] = [3, 3_000];

const ITERATORS = [[], new Map(), new Set()].map(
  (one) => Object.getPrototypeOf(one[Symbol.iterator]()) as { next: () => IteratorResult<unknown> },
);

/** How often this thread takes a next item of an array, a map or a set while `run` goes on. */
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

async function withMany<T>(count: number, use: (engine: Engine) => Promise<T>): Promise<T> {
  const folder = temporaryFolder();
  await writeManyRepositories(folder, count);
  const engine = await open(folder, { readOnly: true, workers: 1 });
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** The least of three runs each, after a first one, which may work something out that is kept. */
const stepsBeside = (count: number) =>
  withMany(count, async (engine) => {
    const subject = subjectOf(engine);
    const steps: Record<string, number> = {};
    for (const [what, ask] of MANY_REQUESTS) {
      await drain(await ask(subject));
      const counts: number[] = [];
      for (let round = 0; round < 3; round++)
        counts.push(await countSteps(async () => drain(await ask(subject))));
      steps[what] = Math.min(...counts);
    }
    return steps;
  });

test("no request goes through all repositories", async () => {
  const [few, many] = [await stepsBeside(FEW), await stepsBeside(MANY)];
  // 20: pages and turns of the loop differ by a few; one step a repository would be thousands
  const more = Object.keys(many).filter((what) => many[what]! > few[what]! + 20);
  expect(more.map((what) => [what, few[what], many[what]])).toEqual([]);
});

test("going through all of them would be seen", async () => {
  const steps = await withMany(MANY, (engine) =>
    countSteps(async () => void (await engine.repositories()).map(({ name }) => name)),
  );
  expect(steps).toBeGreaterThan(MANY);
});
