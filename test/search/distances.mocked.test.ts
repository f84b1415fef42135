/** The search for the nearest ranges looks at the clock after a bounded number of ranges. */

import { afterEach, expect, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { Control, STOPPED } from "../../src/search/messages/control.ts";
import type * as Ranges from "../../src/search/thread/scanning/ranges.ts";
import { openEngine } from "../engine/opened.ts";

const { compared } = vi.hoisted(() => ({ compared: [] as number[] }));

vi.mock("../../src/search/thread/scanning/ranges.ts", async (load) => {
  const real = await load<typeof Ranges>();
  const gapBetween: typeof Ranges.gapBetween = (few, many) => {
    compared.push(few.length / 2);
    return real.gapBetween(few, many);
  };
  return { ...real, gapBetween };
});

afterEach(() => void vi.restoreAllMocks());

const PLACES = 100_000;
const AT_ONCE = 2 ** 15;

test("the distances of many ranges are computed in slices", async () => {
  const engine = await openEngine({ workers: 0 });
  const content = "z 1 2 3\n".repeat(PLACES);
  await engine.index(documents({ name: "r", files: [{ path: "a.txt", content }] }), {
    symbols: "skip",
  });
  let most = 0;
  let all = 0;
  const look = () => {
    const sum = compared.splice(0).reduce((before, count) => before + count, 0);
    most = Math.max(most, sum);
    all += sum;
  };
  vi.spyOn(Control.prototype, "stopped", "get").mockImplementation(() => (look(), STOPPED.NO));
  await engine.search({ query: "z 1 2 3", matches: 1 });
  look();
  expect(all).toBeGreaterThan(2 * PLACES);
  expect(most).toBe(AT_ONCE);
});
