/** The weights on the page about ranking are those of the code. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { WEIGHTS } from "../../src/search/thread/ranking/score.ts";

const page = readFileSync("docs/ranking.md", "utf8");

test("the table of weights is the code's", () => {
  const table = /^\| weight .*?(?=\n\n)/ms.exec(page)![0];
  const rows = [...table.matchAll(/^\| `(\w+)` +\| ([-\d, ]+?) +\|/gm)];
  const told = rows.map(([, name, values]) => [name, values!.split(", ").map(Number)]);
  expect(told).toEqual(Object.entries(WEIGHTS).map(([name, value]) => [name, [value].flat()]));
});
