/** Cursors are kept up to a number and a total length. The oldest are dropped first. */

import { expect, test } from "vitest";
import { Cursors } from "../../src/mcp/cursors.ts";

test.each([
  ["cursors", 10_050, 1, 10_000],
  ["characters", 1_700, 10_000, 1_677],
])("keeps at most this many %s", (_, made, length, kept) => {
  const cursors = new Cursors();
  const state = (i: number) => `${i}`.padEnd(length);
  const all = Array.from({ length: made }, (_, i) => cursors.keep("search", { q: state(i) }));
  const known = all.filter((cursor) => {
    try {
      return cursors.find("search", cursor);
    } catch {
      return false;
    }
  });
  expect(known.length).toBeGreaterThan(kept - 5);
  expect(known.length).toBeLessThanOrEqual(kept);
  expect(known).toEqual(all.slice(-known.length));
  expect(cursors.find("search", all.at(-1)!)).toEqual({ q: state(made - 1) });
});
