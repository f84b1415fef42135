/** What a file with many ranges costs is divided: the clock is looked at, and others may go on, after a number of them. */

import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { mergeInSlices, RANGES_AT_ONCE } from "../../src/search/thread/scanning/file-ranges.ts";
import { bestFirst } from "../../src/search/thread/showing/best-lines.ts";

/** Counts looks at the clock, and pauses. */
function counted() {
  const seen = { looks: 0, pauses: 0 };
  return {
    seen,
    isStopped: () => (seen.looks++, false),
    pause: () => (seen.pauses++, undefined),
  };
}

const RANGES = 40_960;
/** One range in each line of two bytes. */
const ranges = Uint32Array.from({ length: 2 * RANGES }, (_, i) => i);

test("ranges of several terms are merged in slices", async () => {
  const { seen, ...tools } = counted();
  await mergeInSlices([ranges, ranges.subarray(0, 2)], tools);
  const slices = RANGES / RANGES_AT_ONCE;
  expect(seen.looks).toBeGreaterThanOrEqual(slices);
  expect(seen.pauses).toBeGreaterThanOrEqual(slices);
});

test("lines are found, rated and sorted in slices", async () => {
  const kernel = createKernel();
  const arena = new Arena(kernel);
  const bytes = Buffer.from("b\n".repeat(RANGES));
  const origin = arena.put(bytes);
  const { seen, ...tools } = counted();
  const of = { text: bytes, origin, length: bytes.length, kernel, arena, definitions: undefined };
  const places = await bestFirst(ranges, [ranges], { ...of, ...tools });
  expect(places).toHaveLength(RANGES);
  // finding lines, rating them, counting scores, and putting the lines in order
  const slices = (4 * RANGES) / 256;
  expect(seen.looks).toBeGreaterThanOrEqual(slices);
  expect(seen.pauses).toBeGreaterThanOrEqual(slices);
});
