/** One line of a megabyte: windows instead of the line, and time that grows with the text alone. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/documents.ts";
import { openEngine } from "./opened.ts";

/** `count` matches of "needle", one every hundred bytes, in one line. */
const line = (count: number): string => `${"x".repeat(94)}needle`.repeat(count);

test("10 000 matches in one line of a megabyte", async () => {
  const engine = await openEngine({ workers: 0 });
  const files = [2_500, 10_000].map((count) => ({ path: `${count}.js`, content: line(count) }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const ask = async (count: number) => {
    const request = { query: `needle file:^${count}`, matches: 100_000, contextLines: 3 };
    await engine.search(request);
    const start = performance.now();
    const { files: found, stats, isSearchExhaustive } = await engine.search(request);
    const ms = performance.now() - start;
    expect([stats.totalMatchCount, isSearchExhaustive]).toEqual([count, true]);
    const content = found[0]!.chunks.reduce((sum, chunk) => sum + chunk.content.length, 0);
    expect(content).toBeLessThanOrEqual(100 * count);
    const last = found[0]!.chunks.at(-1)!.matchRanges.at(-1)!;
    expect(last.end).toEqual({ byteOffset: 100 * count, lineNumber: 1, column: 100 * count + 1 });
    return ms;
  };
  const [few, many] = [await ask(2_500), await ask(10_000)];
  // four times the text; a quadratic loop would take sixteen times as long
  expect(many).toBeLessThan(12 * few + 50);
});

test("far matches of a long line stand in chunks of their own", async () => {
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
