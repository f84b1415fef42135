/** Kills nodes, each a process of its own, under load. `scripts/cluster-kills.ts` is the long version. */

import { describe, expect } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { killUnderLoad, totals, type KillCounts } from "./kills.ts";
import { isInTurn } from "../runs.ts";
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

interface Case {
  readonly what: string;
  readonly replicas: number;
  readonly isOver: (counts: KillCounts) => boolean;
  readonly check: (counts: KillCounts) => void;
}

const CASES: readonly Case[] = [
  {
    what: "with two replicas, no answer is partial",
    replicas: 2,
    isOver: (now) => now.kills >= 3 && totals(now).identical >= ANSWERS,
    check({ verdicts }) {
      const failed = Object.entries(verdicts).filter(
        ([, { partial, refused }]) => partial + refused > 0,
      );
      expect(failed).toEqual([]);
    },
  },
  {
    what: "with one replica, partial answers say so",
    replicas: 1,
    isOver: (now) => now.kills >= 2 && totals(now).partial > 0,
    check: () => undefined,
  },
];

describe.runIf(isInTurn(3, 1))("nodes are killed under load", () => {
  test.each(CASES)("$what, and none is wrong", async ({ replicas, isOver, check }) => {
    check(await kill(replicas, isOver));
  });
});
