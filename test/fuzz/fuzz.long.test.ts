/**
 * Runs each fuzz target for a moment, with different cases each day, or with those from QUERN_SEED on.
 * `npx tsx fuzz/run.ts TARGET` runs longer.
 */

import { describe, expect, test } from "vitest";
import { fuzz, inputOf, seedsOf, describeFailure } from "../../fuzz/fuzz.ts";
import { mutateSeed } from "../../fuzz/mutate.ts";
import type { Target } from "../../fuzz/target.ts";
import { TARGET_NAMES, TARGETS } from "../../fuzz/targets.ts";
import { randomFrom } from "../regex/random.ts";
import { someOf } from "../runs.ts";

/** A number above the cases of one day. */
const CASES_A_DAY = 100_000;
const today = Math.floor(Date.now() / 86_400_000);
const seed = Number(process.env["QUERN_SEED"] ?? CASES_A_DAY * today);
/** The time for each target. The seeds of the repository run however long they take. */
const MS = 200;

test.each(someOf(TARGET_NAMES, 3))("the target %s finds no failure", async (name) => {
  const target = await TARGETS[name]();
  const seeds = seedsOf(name);
  // read once the seeds have run
  const limits = {
    seed,
    cases: CASES_A_DAY,
    get until() {
      return performance.now() + MS;
    },
  };
  const result = await fuzz(target, seeds, limits);
  if (typeof result !== "number")
    expect.fail(`QUERN_SEED=${seed}: ${describeFailure(name, result)}`);
  expect(result).toBeGreaterThan(0);
});

describe("the fuzzer itself", () => {
  const target = (check: Target["check"]): Target => ({ check });
  const seeds = [Buffer.from("0123456789"), Buffer.from("abcdef")];
  const limits = { seed: 1, cases: 500, until: Infinity };

  test("a case depends only on its number", () => {
    const never = target(() => {});
    for (let n = 1; n < 50; n++) expect(inputOf(never, seeds, n)).toEqual(inputOf(never, seeds, n));
    const made = new Set(Array.from({ length: 200 }, (_, n) => String(inputOf(never, seeds, n))));
    expect(made.size).toBeGreaterThan(150);
  });

  test("a failure is found, and can be found again by its number", async () => {
    const fails = target((input) => {
      if (input.length < 5) throw new Error("short");
    });
    const failure = await fuzz(fails, seeds, limits);
    if (typeof failure === "number") return expect.fail("nothing was found");
    expect(failure.input.length).toBeLessThan(5);
    const again = await fuzz(fails, seeds, { ...limits, seed: failure.seed, cases: 1 });
    expect(again).toMatchObject({ seed: failure.seed, input: failure.input });
    expect(describeFailure("query", failure)).toContain(`--seed ${failure.seed} --cases 1`);
  });

  test("a rejection is a failure, and so is a seed that fails unmutated", async () => {
    const rejects = target(() => Promise.reject(new Error("no")));
    expect(await fuzz(rejects, seeds, limits)).toMatchObject({ seed: NaN, input: seeds[0] });
    const fine = target(() => {});
    expect(await fuzz(fine, seeds, limits)).toBe(500);
    expect(await fuzz(fine, seeds, { ...limits, until: performance.now() })).toBe(0);
  });

  test("mutations make longer, shorter and equally long inputs", () => {
    const random = randomFrom(1);
    const lengths = Array.from({ length: 300 }, () => mutateSeed(random, [seeds[0]!]).length);
    expect(Math.min(...lengths)).toBeLessThan(10);
    expect(Math.max(...lengths)).toBeGreaterThan(10);
    expect(lengths).toContain(10);
  });
});
