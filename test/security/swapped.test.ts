/** Folders that are exchanged for symlinks while they are indexed: seconds of scripts/swap.ts. */

import { expect, test } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { attack, MODES } from "./swapping.ts";
import { tellFigure } from "../figures.ts";

const MS = 3_000;

test.runIf(process.platform === "linux").each(MODES)(
  "%s: nothing outside is found, neither text nor name",
  { timeout: 60_000 },
  async (mode) => {
    const { runs, met, isExchange, leaks } = await attack(temporaryFolder(), mode, MS);
    tellFigure(`${mode}: ${met} of ${runs} runs met it${isExchange ? ", by renameat2" : ""}`);
    expect(leaks).toEqual([]);
    expect(met).toBeGreaterThan(0);
  },
);
