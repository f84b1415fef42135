/**
 * Measures the bounds of docs/limits.md: memory does not grow, answers have a known size, and the caller is not
 * blocked.
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { THREAD_TIMES } from "../../src/ingest/symbols/work-limit.ts";
import type { Answer, Parsing } from "./memory-process.ts";
import { openEngine } from "./opened.ts";
import type { Sample } from "./soak.ts";
import { tellFigure } from "../figures.ts";
import { bundledPrograms } from "../programs.ts";
import { isInTurn, someOf } from "../runs.ts";

const MIB = 2 ** 20;
const isLinux = process.platform === "linux";

const PROGRAM = "test/engine/memory-process.ts";
/** The size of V8's young generation in MiB. It is so large that it does not grow while a long answer is made. */
const GROWN = 64;

let bundled: readonly string[];
beforeAll(async () => {
  const [program] = await bundledPrograms([PROGRAM]);
  // otherwise the heap is so small at first that its own growth of about 40 MiB would be counted
  bundled = ["--min-semi-space-size=16", program!];
});

/** Runs in a separate process, because the memory of this one would hide the result. */
async function measured<T>(program: readonly string[], ...args: (string | number)[]): Promise<T> {
  const options = ["--expose-gc", ...program, ...args.map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  return JSON.parse(stdout) as T;
}

describe.skipIf(!isLinux)("memory", () => {
  test.runIf(isInTurn(3))(
    "the second half of 120 searches and 4 updates adds little memory",
    async () => {
      const samples = await measured<Sample[]>(bundled, "loop", 120, 4);
      const [middle, end] = [samples[4]!, samples[9]!].map(({ anonymous }) => anonymous / MIB);
      tellFigure(`RssAnon after 60 and 120 searches: ${middle!.toFixed()}, ${end!.toFixed()} MiB`);
      expect(samples.at(-1)).toMatchObject({ searches: 120, updates: 4 });
      expect(end! - middle!).toBeLessThan(24); // 9 in measurements
    },
  );

  test.runIf(isInTurn(3, 1))(
    "parsers of 14 languages, of which a thread keeps ten, are loaded alternately in several ranges",
    async () => {
      const { symbols, before, bytes } = await measured<Parsing>(bundled, "languages", 300);
      tellFigure(
        `RssAnon after each range: ${bytes.map((one) => (one / MIB).toFixed()).join(" ")}`,
      );
      expect(symbols).toBeGreaterThan(7_000);
      expect(bytes.length).toBeGreaterThanOrEqual(5);
      expect(Math.max(...bytes) - before).toBeLessThan(180 * MIB); // 100 in measurements
      expect(bytes.at(-1)! - bytes[2]!).toBeLessThan(20 * MIB);
    },
  );

  test.runIf(isInTurn(3, 1))(
    "an answer with 100 000 of 1.7 million ranges, one per line, takes at most 1 KiB per range",
    async () => {
      const { matches, ranges, before, highest } = await measured<Answer>(
        [`--min-semi-space-size=${GROWN}`, bundled[1]!],
        "matches",
        100_000,
      );
      tellFigure(`${((highest - before) / MIB).toFixed()} MiB for ${ranges} ranges`);
      expect([matches, ranges]).toEqual([1_700_000, 100_000]);
      expect(highest - before).toBeLessThan(1024 * ranges);
    },
  );
});

/**
 * Returns the milliseconds that this thread has worked, in steps of up to 4 ms. Waiting for a busy machine does not
 * count.
 */
const now = (): number => THREAD_TIMES.worked() ?? THREAD_TIMES.clock();

async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, now(), false];
  const turn = () => {
    const end = now();
    longest = Math.max(longest, end - last);
    last = end;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  turn();
  return longest;
}

const FORMS: [what: string, content: string][] = [
  ["a line each", `${"x".repeat(9)} needle\n`.repeat(100_000)],
  ["in one line", `${"x".repeat(9)} needle`.repeat(100_000)],
];

describe.each(someOf([0, 1], 2))("%i workers", (workers) => {
  test.each(FORMS)(
    "100 000 ranges of one file, %s, do not block the caller",
    async (_, content) => {
      const engine = await openEngine({ workers });
      await engine.index(documents({ name: "r", files: [{ path: "a", content }] }), {
        symbols: "skip",
      });
      const request = { query: "needle", matches: 100_000 };
      const turns: number[] = [];
      for (let run = 0; run < 3; run++)
        turns.push(
          await longestTurn(async () => {
            const { stats } = await engine.search(request);
            expect(stats.actualMatchCount).toBe(100_000);
          }),
        );
      const median = turns.toSorted((a, b) => a - b)[1]!;
      tellFigure(`${workers} workers: longest turn ${median.toFixed(1)} ms (median of 3)`);
      expect(median).toBeLessThan(isLinux ? 20 : 200);
    },
  );
});
