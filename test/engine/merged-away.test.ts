/** Searches that run while another engine merges and deletes the segments they read; retired ones go at once here. */

import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { documents } from "../../src/ingest/documents.ts";
import { openEngine, RUNS, temporaryFolder } from "./opened.ts";
import { brokenInvariant } from "./invariants.ts";

vi.mock("../../src/store/format.ts", async (original) => ({
  ...(await original<object>()),
  RETIRE_MS: 0,
}));

const TIMEOUT_MS = 180_000 * RUNS;

/** Some text without the word, of a length that depends on the number. */
const filler = (i: number) => "some other words\n".repeat(1 + ((i * 37) % 400));

test(
  "a search answers right, whatever is merged away meanwhile",
  { timeout: TIMEOUT_MS },
  async () => {
    const path = temporaryFolder();
    const [writer, reader] = [await openEngine({}, path), await openEngine({}, path)];
    const source = (name: string, i: number) =>
      documents({ name, files: [{ path: `${i}.txt`, content: `${filler(i)}needle ${i}\n` }] });
    await writer.index(source("r0", 0));
    let [isWriting, searches, merged] = [true, 0, 0];
    const search = async () => {
      for (let before = 0; isWriting; searches++) {
        const { stats, files, isSearchExhaustive } = await reader.search({
          query: "needle",
          matches: 1e6,
        });
        expect(brokenInvariant(stats)).toBeUndefined();
        expect(isSearchExhaustive).toBe(true);
        expect(new Set(files.map(({ repository }) => repository)).size).toBe(stats.fileCount);
        expect(stats.fileCount).toBeGreaterThanOrEqual(before);
        before = stats.fileCount;
        await turn();
      }
    };
    const searching = search();
    for (let i = 1; i <= 60 * RUNS; i++) {
      await writer.index(source(`r${i}`, i));
      if (i % 10 === 0) merged += (await writer.compact()).segmentsBefore;
    }
    isWriting = false;
    await searching;
    const { stats } = await reader.search({ query: "needle", matches: 0 });
    expect(stats.fileCount).toBe(60 * RUNS + 1);
    expect(searches).toBeGreaterThan(20);
    expect(merged).toBeGreaterThan(0);
  },
);

test("a stream that has delivered counts a lost segment as crashed", async () => {
  const path = temporaryFolder();
  const [writer, reader] = [
    await openEngine({}, path),
    await openEngine({ onWarning: () => undefined }, path),
  ];
  for (let i = 0; i < 3; i++)
    await writer.index(
      documents({ name: `r${i}`, files: [{ path: "a", content: `${filler(i)}needle\n` }] }),
    );
  const delivered: string[] = [];
  let compacted = false;
  for await (const event of reader.stream({ query: "needle", matches: 10 })) {
    if (event.type === "chunk") delivered.push(...event.files.map(({ repository }) => repository));
    else {
      const { crashes, actualMatchCount } = event.accumulatedStats;
      expect(actualMatchCount).toBe(delivered.length);
      expect(crashes + delivered.length).toBe(3);
      expect(event.isSearchExhaustive).toBe(crashes === 0);
    }
    if (!compacted) await writer.compact();
    compacted = true;
  }
  expect(new Set(delivered).size).toBe(delivered.length);
});

test("a thousand small index calls leave few segments", { timeout: TIMEOUT_MS }, async () => {
  const engine = await openEngine();
  const calls = 1_000;
  for (let i = 0; i < calls; i++)
    await engine.index(
      documents({
        name: "r",
        changes: [{ path: `${i % 100}.txt`, content: `call ${i} of many\n` }],
      }),
    );
  const { segments, ok } = await engine.check();
  expect(ok).toBe(true);
  expect(segments).toBeLessThanOrEqual(8);
  const { stats } = await engine.search({ query: "of many", matches: 0 });
  expect(stats.fileCount).toBe(100);
  for (const i of [calls - 1, calls - 100])
    expect((await engine.search({ query: `"call ${i} "`, matches: 0 })).stats.fileCount).toBe(1);
  const gone = await engine.search({ query: `"call ${calls - 101} "`, matches: 0 });
  expect(gone.stats.fileCount).toBe(0);
});
