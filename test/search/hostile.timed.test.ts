/**
 * Hostile expressions, through the whole engine. Each gets an answer, a partial answer or a refusal, and the thread
 * survives.
 */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "../engine/opened.ts";

const HOSTILE: readonly (readonly [string, string])[] = [
  ["(a*)*b", "an answer"],
  ["(x+x+)+y", "an answer"],
  ["x*y|x", "an answer"],
  ["a{1000}", "an answer"],
  ["((a{100}){100}){100}", "REGEX_SYNTAX"],
  ["[^a]*".repeat(50), "an answer"],
  ["a".repeat(10_000), "an answer"],
  ["a".repeat(10_001), "REGEX_TOO_LARGE"],
  [Array.from({ length: 15_000 }, (_, i) => `w${i}`).join("|"), "REGEX_TOO_LARGE"],
  [Array.from({ length: 1_600 }, (_, i) => `w${i}`).join("|"), "an answer"],
  ["[a-q][^u-z]{400}[!?]", "an answer"],
  ["(?:a?){1000}b", "an answer"],
  ["(.*)(.*)(.*)(.*)(.*)[(]x", "an answer"],
];

test("each ends soon, and a worker can answer afterwards", async () => {
  const engine = await openEngine({ workers: 1 });
  const content = `${"x".repeat(200_000)}\n${"abcdefghijkl mnopq".repeat(5_000)}\nneedle\n`;
  await engine.index(documents({ name: "r", files: [{ path: "a.txt", content }] }));
  for (const [query, want] of HOSTILE) {
    const request = { query, isRegexEnabled: true, matches: 10 };
    const start = performance.now();
    const outcome = await engine.search(request, { timeoutMs: 300 }).then(
      () => "an answer",
      (error: { code: string }) => error.code,
    );
    expect(outcome, query.slice(0, 40)).toBe(want);
    expect(performance.now() - start, query.slice(0, 40)).toBeLessThan(10_000);
    const { stats } = await engine.search({ query: "needle", matches: 1 });
    expect(stats.totalMatchCount).toBe(1);
  }
});

test("10 000 matches over many lines in one file take at most three times as long as in ten files", async () => {
  const engine = await openEngine({ workers: 1 });
  const block = `${"x".repeat(60)}\nfoo {\n  bar\n}\n${"y".repeat(20)}\n`;
  const files = Array.from({ length: 10 }, (_, i) => ({
    path: `small/${i}.c`,
    content: `${i}\n${block.repeat(1_000)}`,
  }));
  files.push({ path: "large.c", content: block.repeat(10_000) });
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const cost = async (where: string) => {
    const request = { query: `\\{\\s+bar\\s+\\} file:${where}`, isRegexEnabled: true };
    let best = Infinity;
    for (let i = 0; i < 3; i++) {
      const before = process.cpuUsage();
      const { stats } = await engine.search({ ...request, matches: 10_000 });
      best = Math.min(best, process.cpuUsage(before).user / 1000);
      expect(stats.actualMatchCount).toBe(10_000);
    }
    return best;
  };
  const [small, large] = [await cost("small"), await cost("large")];
  expect(large).toBeLessThan(3 * small);
});
