/** Searches and updates in a loop, as a service does them during a day, and the memory that they take. */

import { readFileSync } from "node:fs";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { randomFrom, type Random } from "../regex/random.ts";

export interface Soak {
  readonly searches: number;
  /** The number of updates, which are spread evenly among the searches. */
  readonly updates: number;
  readonly seed?: number;
  /** The number of samples, which are spread evenly over the run. */
  readonly samples: number;
  readonly onSample: (sample: Sample) => void;
}

export interface Sample {
  readonly searches: number;
  readonly updates: number;
  /** Bytes. */
  readonly anonymous: number;
}

/** Returns the memory of this process that maps no file: heaps, kernels and buffers, but not LMDB's map. Linux only. */
export function anonymousBytes(): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)![1]);
}

/**
 * Whether the median of the last quarter is more than a tenth above that of the second. The first quarter is the start,
 * and does not count.
 */
export function hasGrown(bytes: readonly number[]): boolean {
  const quarter = bytes.length / 4;
  return median(bytes.slice(-quarter)) > 1.1 * median(bytes.slice(quarter, 2 * quarter));
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

const FILES = 200;
const WORDS = ["needle", "return", "x", "parse", "Value", "é", "foo_bar", "0"];

const textOf = (random: Random): string =>
  Array.from({ length: 40 + random(400) }, () =>
    random(7) === 0 ? `\nfunction f${random(1000)}() {}\n` : WORDS[random(WORDS.length)]!,
  ).join(" ");

/** Every fourth file has symbols, because parsing a text that is not a program takes long. */
const fileOf = (random: Random, number: number) => ({
  path: `src/${number % 10}/f${number}.${number % 4 === 0 ? "ts" : "txt"}`,
  content: textOf(random),
});

export async function soak(engine: Engine, options: Soak): Promise<void> {
  const { searches, updates, samples, onSample, seed = 1 } = options;
  const random = randomFrom(seed);
  const files = Array.from({ length: FILES }, (_, number) => fileOf(random, number));
  await engine.index(documents({ name: "soaked", files }));
  let [updated, sampled] = [0, 0];
  for (let done = 0; done < searches; done++) {
    await search(engine, random);
    for (; updated < ((done + 1) * updates) / searches; updated++) {
      const changes = [fileOf(random, random(FILES))];
      await engine.index(documents({ name: "soaked", changes }));
    }
    if (done + 1 < ((sampled + 1) * searches) / samples) continue;
    sampled++;
    globalThis.gc?.();
    onSample({ searches: done + 1, updates: updated, anonymous: anonymousBytes() });
  }
}

/** Runs a search of any kind, nearly always with a new pattern. */
async function search(engine: Engine, random: Random): Promise<void> {
  const word = WORDS[random(WORDS.length)]!;
  const queries = [
    word,
    `${word} f${random(1000)}`,
    `file:f${random(FILES)} -(${word})`,
    `sym:f${random(1000)}`,
    `"${word} ${WORDS[random(WORDS.length)]}" or nothing${random(1e6)}`,
  ];
  const expressions = [
    `f[0-${random(10)}]+\\(`,
    `(needle|w${random(1e6)})\\s`,
    `[a-z]{${1 + random(20)}}_[a-z]`,
    `${word}.*x${random(1e6)}?`,
  ];
  const isRegexEnabled = random(2) === 0;
  const pool = isRegexEnabled ? expressions : queries;
  const request = {
    query: pool[random(pool.length)]!,
    matches: random(3) === 0 ? 0 : 1 + random(200),
    contextLines: random(3),
    isRegexEnabled,
    isCaseSensitivityEnabled: random(2) === 0,
  };
  if (random(5) > 0) return void (await engine.search(request));
  for await (const event of engine.stream(request)) if (random(4) === 0 && event) break;
}
