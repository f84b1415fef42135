/** The machine's clock jumps while an index is written and searched. Answers are as if it did not. */

import { afterEach, expect, test, vi } from "vitest";
import { documents, type Engine } from "../../src/index.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

afterEach(() => void vi.restoreAllMocks());

const HOUR_MS = 3_600_000;
const realNow = Date.now.bind(Date);
let aheadMs = 0;
const jump = (ms: number): void => void (aheadMs += ms);

const linesOf = async (engine: Engine): Promise<string[]> => {
  const { files, isSearchExhaustive } = await engine.search({ query: "needle", matches: 100 });
  expect(isSearchExhaustive).toBe(true);
  return files.flatMap(({ chunks }) => chunks.map(({ content }) => content.trim())).toSorted();
};

const source = (name: string, text: string) =>
  documents({ name, files: [{ path: "a.ts", content: `const ${text} = "needle";\n` }] });

test.each([
  ["back", [-2 * HOUR_MS, -5 * HOUR_MS, -48 * HOUR_MS]],
  ["forward", [2 * HOUR_MS, 5 * HOUR_MS, 48 * HOUR_MS]],
  ["back and forth", [-40_000, 2 * HOUR_MS, -3 * HOUR_MS]],
])("the clock is put %s", async (_, jumps) => {
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + aheadMs);
  const path = temporaryFolder();
  const engine = await openEngine({ lockTimeoutMs: 1, internals: { retireMs: 50 } }, path);
  const expected: string[] = [];
  for (const [i, ms] of jumps.entries()) {
    await engine.index([source(`a${i}`, `one${i}`), source(`b${i}`, `two${i}`)], {
      onProgress: ({ stage }) => void (stage === "content" && jump(ms)),
    });
    expected.push(`const one${i} = "needle";`, `const two${i} = "needle";`);
    expect(await linesOf(engine)).toEqual(expected.toSorted());
    jump(-ms / 2);
    await engine.index(source("a0", "one0"));
    const compacted = engine.compact();
    jump(ms);
    expect(await compacted).toMatchObject({ segmentsAfter: 1 }); // it waits until nobody reads what it replaces
    expect(await linesOf(engine)).toEqual(expected.toSorted());
    expect(await engine.check()).toMatchObject({ ok: true });
  }
  await engine.close();
  const again = await openEngine({ lockTimeoutMs: 1 }, path);
  await again.index(source("a0", "one0"));
  expect(await linesOf(again)).toEqual(expected.toSorted());
});
