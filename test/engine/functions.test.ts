/**
 * A search runs few JavaScript functions, because V8 interprets those of a new process. Without workers, all of them run
 * on this thread, and are counted.
 */

import { Session } from "node:inspector/promises";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "./opened.ts";

/** The limits of one search for a word in one file of 4 000: 1.2 times what was measured. */
const MOST = { functions: 700, calls: 1900 };

test("a search for a rare word, asked for the first time", async () => {
  const engine = await openEngine({ workers: 0 });
  const files = Array.from({ length: 4000 }, (_, i) => ({
    path: `src/${i}.go`,
    content: `package main\n\nfunc Part${i}_() { rare${i}_ = ${i} }\n`,
  }));
  await engine.index(documents({ name: "one", files }));
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const counted: (typeof MOST)[] = [];
  for (let i = 0; i < 12; i++) {
    await session.post("Profiler.takePreciseCoverage");
    const { stats } = await engine.search({ query: `rare${300 * i}_`, matches: 50 });
    const { result } = await session.post("Profiler.takePreciseCoverage");
    expect(stats.totalMatchCount).toBe(1);
    const counts = result.flatMap((script) =>
      script.functions.map(({ ranges }) => ranges[0]!.count),
    );
    const run = counts.filter((count) => count > 0);
    counted.push({ functions: run.length, calls: run.reduce((sum, count) => sum + count, 0) });
  }
  session.disconnect();
  const median = (of: (one: typeof MOST) => number) => counted.map(of).sort((a, b) => a - b)[6]!;
  expect(median(({ functions }) => functions)).toBeGreaterThan(100); // the coverage was counted
  expect(median(({ functions }) => functions)).toBeLessThan(MOST.functions);
  expect(median(({ calls }) => calls)).toBeLessThan(MOST.calls);
});
