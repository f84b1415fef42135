/** Folders that are exchanged for symlinks while they are indexed: runs scripts/swap.ts for a few seconds. */

import { expect, test } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { attack, MODES } from "./swapping.ts";
import { tellFigure } from "../figures.ts";

const MS = 1_000;
/** The maximum number of tries. On a busy machine, it is possible that no run meets an exchange in that time. */
const TRIES = 20;

test.runIf(process.platform === "linux").each(MODES)(
  "%s: nothing outside is found, neither text nor name",
  async (mode) => {
    let met = 0;
    for (let tries = 0; met === 0 && tries < TRIES; tries++) {
      const told = await attack(temporaryFolder(), mode, MS);
      const way = told.isExchange ? ", by renameat2" : "";
      tellFigure(`${mode}: ${told.met} of ${told.runs} runs met it${way}`);
      expect(told.leaks).toEqual([]);
      met = told.met;
    }
    expect(met).toBeGreaterThan(0);
  },
);
