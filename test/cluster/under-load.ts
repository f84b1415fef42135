/** Searches of a front that never stop, while a test makes something fail. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import { comparable } from "./comparable.ts";
import { shop } from "./machines.ts";

export const request = { query: "needle", matches: 100 };

/** The pause between two searches. Without it, they would use a core for as long as a test waits. */
const PAUSE_MS = 20;

/** Searches again and again. Each answer must equal the first one. */
export async function searching(front: ClusterEngine) {
  const whole = comparable(await front.search(request));
  expect(whole.isSearchExhaustive).toBe(true);
  const load = { isOver: false, answers: 0 };
  const lane = (async () => {
    while (!load.isOver) {
      expect(comparable(await front.search(request))).toEqual(whole);
      load.answers++;
      await sleep(PAUSE_MS);
    }
  })();
  lane.catch(() => undefined); // stop() reports the error
  return {
    /** Resolves after this many more answers. */
    async goesOn(count: number): Promise<void> {
      const before = load.answers;
      await Promise.race([lane, expect.poll(() => load.answers).toBeGreaterThan(before + count)]);
    },
    async stop(): Promise<void> {
      load.isOver = true;
      await lane;
    },
  };
}

export const fill = async (engine: ClusterEngine): Promise<void> => {
  for (let n = 1; n <= 3; n++)
    await engine.index(
      shop("shop", ...Array.from({ length: n }, (_, i) => `needle ${i} of many\n`)),
    );
  await engine.index(shop("other", "needle of another\n"));
};
