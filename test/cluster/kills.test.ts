/** Nodes that are processes of their own are killed under load. `scripts/cluster-kills.ts` is the long version. */

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
    isOver,
  });
  expect(counts.wrong).toEqual([]);
  return totals(counts);
}

/** Each question once, at least. */
const ANSWERS = 20;

test("with two replicas no answer is partial, and none is wrong", async () => {
  const { identical, partial, refused } = await kill(
    2,
    (counts) => counts.kills >= 4 && totals(counts).identical >= ANSWERS,
  );
  expect(identical).toBeGreaterThanOrEqual(ANSWERS);
  expect({ partial, refused }).toEqual({ partial: 0, refused: 0 });
});

test("with one replica partial answers say so", async () => {
  const { partial } = await kill(1, (counts) => counts.kills >= 2 && totals(counts).partial > 0);
  expect(partial).toBeGreaterThan(0);
});
