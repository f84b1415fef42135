/** Kills nodes, each a process of its own, under load. `scripts/cluster-kills.ts` is the long version. */

import { expect } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { killUnderLoad, totals, type KillCounts } from "./kills.ts";
import { emptyDatabase, poolOn, postgresPort, postgresTest as test } from "./postgres.ts";

async function kill(replicas: number, isOver: (counts: KillCounts) => boolean) {
  const counts = await killUnderLoad({
    pool: poolOn(await emptyDatabase()),
    postgresPort: postgresPort!,
    folder: () => temporaryFolder(),
    nodes: 3,
    replicas,
    pauseMs: 20,
    isOver,
  });
  expect(counts.wrong).toEqual([]);
  return counts;
}

/** Enough answers that each question is asked at least once. */
const ANSWERS = 20;

test("with two replicas no answer is partial, and none is wrong", async () => {
  const counts = await kill(2, (now) => now.kills >= 2 && totals(now).identical >= ANSWERS);
  expect(totals(counts).identical).toBeGreaterThanOrEqual(ANSWERS);
  const failed = Object.entries(counts.verdicts).filter(
    ([, { partial, refused }]) => partial + refused > 0,
  );
  expect(failed).toEqual([]);
});

test("with one replica partial answers say so", async () => {
  const counts = await kill(1, (now) => now.kills >= 1 && totals(now).partial > 0);
  expect(totals(counts).partial).toBeGreaterThan(0);
});
