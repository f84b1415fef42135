/** One line of a megabyte: windows are shown instead of the line, and the time grows only with the text. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "./opened.ts";

/** The bytes of a match and of the windows on both sides of it. */
const SHOWN = 256 + 6 + 256;

/**
 * Returns one line with `count` matches of "needle". The last `apart` matches are 1 000 bytes apart, and the others
 * 100.
 */
const line = (count: number, apart: number): string =>
  `${"x".repeat(94)}needle`.repeat(count - apart) + `${"y".repeat(994)}needle`.repeat(apart);

test("10 000 matches in a line of 1.5 MB are shown with windows, and touching windows are one chunk", async () => {
  const engine = await openEngine({ workers: 0 });
  const sizes = [2_500, 10_000];
  const files = sizes.map((count) => ({ path: `${count}.js`, content: line(count, count / 20) }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const ask = async (count: number) => {
    const request = { query: `needle file:^${count}`, matches: 100_000, contextLines: 3 };
    const before = process.cpuUsage();
    const { files: found, stats, isSearchExhaustive } = await engine.search(request);
    const { user, system } = process.cpuUsage(before);
    expect([stats.totalMatchCount, isSearchExhaustive]).toEqual([count, true]);
    const [first, ...others] = found[0]!.chunks;
    const [apart, end] = [count / 20, 145 * count]; // 95 × 100 + 5 × 1 000 bytes for a hundred matches
    expect(first!.content.length).toBe(100 * (count - apart) + 256);
    const lengths = [...Array<number>(apart - 1).fill(SHOWN), 256 + 6];
    expect(others.map(({ content }) => content.length)).toEqual(lengths);
    const last = others.at(-1)!.matchRanges.at(-1)!;
    expect(last.end).toEqual({ byteOffset: end, lineNumber: 1, column: end + 1 });
    return (user + system) / 1_000;
  };
  const least = async (count: number) =>
    Math.min(await ask(count), await ask(count), await ask(count));
  const [few, many] = [await least(2_500), await least(10_000)];
  // milliseconds of processor time for four times the text; a quadratic loop would take sixteen times as long
  expect(many).toBeLessThan(8 * Math.max(few, 10));
});

test("distant matches in a long line have their own chunks", async () => {
  const engine = await openEngine({ workers: 0 });
  const content = `${"x".repeat(10_000)}needle${"y".repeat(10_000)}needle${"z".repeat(10_000)}`;
  await engine.index(documents({ name: "r", files: [{ path: "a.js", content }] }), {
    symbols: "skip",
  });
  const { files } = await engine.search({ query: "needle", matches: 10 });
  expect(
    files[0]!.chunks.map(({ contentStart, content: shown }) => [contentStart.column, shown.length]),
  ).toEqual([
    [10_001 - 256, 256 + 6 + 256],
    [20_007 - 256, 256 + 6 + 256],
  ]);
});
