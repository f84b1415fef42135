/**
 * The work on a file with many ranges is divided: after a number of ranges the thread looks at the clock and lets other
 * work run.
 */

import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { mergeInSlices, RANGES_AT_ONCE } from "../../src/search/thread/scanning/file-ranges.ts";
import { byBlob } from "../../src/search/thread/scanning/by-blob.ts";
import { prepareLiteral } from "../../src/search/thread/reading/literal.ts";
import { LiteralScanner, placeLiteral } from "../../src/search/thread/reading/literal-scanner.ts";
import type { SearchTools } from "../../src/search/thread/reading/thread-tools.ts";
import type { Window } from "../../src/search/thread/reading/window.ts";
import { cutChunks } from "../../src/search/thread/showing/chunks.ts";
import { Lines } from "../../src/search/thread/showing/positions.ts";
import { inOrder, rangesIn } from "../../src/search/messages/packed-chunks.ts";
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
/** One range for each line of two bytes. */
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
  const text = { text: bytes, origin, length: bytes.length, kernel, arena, definitions: undefined };
  const of = { ...text, most: RANGES };
  const places = await bestFirst(ranges, [ranges], { ...of, ...tools });
  expect(places).toHaveLength(RANGES);
  // finding lines, rating them, counting scores, and putting the lines in order
  const slices = (4 * RANGES) / 256;
  expect(seen.looks).toBeGreaterThanOrEqual(slices);
  expect(seen.pauses).toBeGreaterThanOrEqual(slices);
  const stopped = { ...of, ...tools, isStopped: () => true };
  expect(await bestFirst(ranges, [ranges], { ...stopped, most: 3 })).toEqual(
    Uint32Array.of(0, 1, 2),
  );
});

test("a literal is searched for in pieces", async () => {
  const kernel = createKernel();
  const arena = new Arena(kernel);
  const scanner = new LiteralScanner(kernel, arena);
  const literal = prepareLiteral({ kind: "literal", text: "a", caseSensitive: false });
  const bytes = 2 ** 21;
  const from = arena.put(Buffer.alloc(bytes, "a"));
  const region = { from, to: from + bytes, lowest: from };
  const { seen, ...tools } = counted();
  const placed = placeLiteral(literal, arena);
  for (const isFolded of [false, true])
    expect(await scanner.places(placed, [region], isFolded, tools)).toHaveLength(bytes);
  const between = 2 * (8 - 1);
  expect(seen).toEqual({ looks: between, pauses: between });
  const stopped = { ...tools, isStopped: () => true };
  expect(await scanner.places(placed, [region], false, stopped)).toHaveLength(bytes / 8);
});

/** A window of one blob. */
const windowOf = (length: number) =>
  ({ address: () => 1_000, length: () => length }) as unknown as Window;

test("ranges are assigned to their blobs in slices", async () => {
  const kernel = createKernel();
  const arena = new Arena(kernel);
  const { seen, ...clock } = counted();
  const tools = { kernel, arena, ...clock } as unknown as SearchTools;
  const window = windowOf(2 * RANGES);
  const at = { window, blobs: [0] };
  const some = ranges.map((place) => 1_000 + place);
  const found = await byBlob(some.slice(), 0, at, tools);
  expect([found.counts[0], found.pairs]).toEqual([RANGES, ranges]);
  expect(seen.looks).toBe(Math.floor(RANGES / 2 ** 15));
  const stopped = await byBlob(some.slice(), 0, at, { ...tools, isStopped: () => true });
  expect(stopped.counts[0]).toBe(2 ** 15);
});

const cutting = { contextLines: 0, symbolOf: () => undefined, enclosing: undefined };

test("chunks are cut and ordered in slices, and end when time is up", async () => {
  const bytes = Buffer.from("b\n".repeat(RANGES));
  const lines = () => new Lines(bytes, (from, to) => (to - from) / 2);
  const { seen, ...clock } = counted();
  const all = await cutChunks(lines(), ranges, { ...cutting, ...clock });
  expect(rangesIn(all)).toBe(RANGES);
  expect(seen.looks).toBe((RANGES - 4096) / 64);
  const places = Uint32Array.from({ length: RANGES }, (_, i) => RANGES - 1 - i);
  const before = seen.looks;
  expect(rangesIn(await inOrder(all, places, clock))).toBe(RANGES);
  expect(seen.looks - before).toBe(RANGES / 64);
  const stopped = { ...clock, isStopped: () => true };
  expect(rangesIn(await cutChunks(lines(), ranges, { ...cutting, ...stopped }))).toBe(4096 + 64);
  expect(rangesIn(await inOrder(all, places, stopped))).toBe(63);
});

test("lines of context are not walked over for each match", async () => {
  let walked = 0;
  const bytes = Buffer.from("b\n".repeat(RANGES));
  const counting = new Proxy(bytes, {
    get: (target, name) => {
      if (name === "indexOf" || name === "lastIndexOf") walked++;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const lines = new Lines(counting, (from, to) => Math.round((to - from) / 2));
  const { seen: _, ...clock } = counted();
  const chunks = await cutChunks(lines, ranges, { ...cutting, contextLines: 1_000, ...clock });
  expect([chunks.chunks.length / 5, rangesIn(chunks)]).toEqual([1, RANGES]);
  expect(walked).toBeLessThan(4 * RANGES);
});
