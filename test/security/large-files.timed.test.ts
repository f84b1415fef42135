/**
 * Hostile files, each as large as a file may be unless noted, with queries that another user may ask: a match in every
 * byte, and terms that all match. Time-outs and aborts still take effect.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchStalls } from "../../bench/stall.ts";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { tellFigure } from "../figures.ts";
import { someOf } from "../runs.ts";
import { HARD, hardText } from "../search/hard.ts";
import {
  afterAbort,
  afterTimeout,
  leastOf,
  MOST_LATE_MS,
  TICK_MS,
  type Asked,
} from "./lateness.ts";
import { workerClock } from "./worker-time.ts";

const BYTES = 2 * 2 ** 20;
const list = (count: number, of: (i: number) => string, between = " ") =>
  Array.from({ length: count }, (_, i) => of(i)).join(between);

const TAIL = `\n${list(1_990, (i) => `t${i}q`)}\n`;
const LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";
/** Returns text in random order, the same each time. */
function mixed(length: number): string {
  const bytes = Buffer.alloc(length);
  for (let i = 0, seed = 1; i < length; i++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    bytes[i] = LETTERS.charCodeAt((seed >> 8) % LETTERS.length);
  }
  return bytes.toString("latin1");
}
const FILES: Record<string, string> = {
  letter: "a".repeat(BYTES - TAIL.length) + TAIL,
  lines: "b\n".repeat(BYTES / 2),
  mixed: mixed(BYTES),
  digits: "0123456789".repeat(BYTES / 10),
  hard: hardText(BYTES, 0),
};

const ATTACKS: [what: string, asked: Asked][] = [
  [
    "a match in every byte, and 1 990 terms at the end",
    { query: `repo:letter a ${list(1_990, (i) => `t${i}q`)}`, matches: 10 },
  ],
  [
    "the same as alternatives",
    { query: `repo:letter (a or ${list(1_990, (i) => `t${i}q`, " or ")})`, matches: 10 },
  ],
  [
    "terms that hold each other",
    { query: `repo:letter (${list(440, (i) => "a".repeat(i + 1), " or ")})`, matches: 10 },
  ],
  ["every letter", { query: `repo:mixed ${LETTERS.split("").join(" ")}`, matches: 10 }],
  ["the best of a million lines", { query: "repo:lines b", matches: 10, matchesPerFile: 3 }],
  ["the best of two million matches", { query: "repo:letter a", matches: 10, matchesPerFile: 3 }],
  ["a match in every byte", { query: "repo:letter a", matches: 10 }],
  ["each letter of a file", { query: "repo:mixed [a-z]", matches: 10, isRegexEnabled: true }],
  ["ever new states in two passes", { ...HARD, query: `repo:hard ${HARD.query}`, matches: 10 }],
  ["no text at each place", { query: "repo:digits x*", matches: 10, isRegexEnabled: true }],
  [
    "a hundred thousand lines with a thousand around each",
    { query: "repo:lines b", matches: 100_000, contextLines: 1_000 },
  ],
  [
    "a hundred thousand best lines",
    { query: "repo:lines b", matches: 100_000, matchesPerFile: 100_000 },
  ],
  [
    "the best lines of a match in every byte",
    { query: `repo:mixed ${LETTERS.split("").join(" ")}`, matches: 10, matchesPerFile: 3 },
  ],
];

/** 400 terms, 10 KB. In the text that repeats the digits, forty of them match at each place. */
const DIGITS = list(
  400,
  (i) => `"${"0123456789".repeat(6).slice(i % 10, (i % 10) + Math.floor(i / 10) + 1)}"`,
  " or ",
);
/**
 * The maximum number of MiB by which this process may grow, without mapped files: 128 for the ranges, and some garbage.
 * Without limits, it grows by 418.
 */
const MOST_GROWN = 300;

/** Returns the MiB of memory of this process without mapped files. */
const memory = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "latin1"))![1]) / 1_024;

const TIMEOUT_MS = 60;
/**
 * The milliseconds of a search's work after which it is aborted. Each attack has one of them, or all with QUERN_RUNS.
 */
const ABORTED_AT = [10, 100, 250];
const TRIES = 5;
const MOST_MS = MOST_LATE_MS + TICK_MS;
/** The limit without workers: a slice of 4 ms, and a step. */
const MOST_INLINE_MS = 4 + 2 * MOST_LATE_MS;

const path = mkdtempSync(join(tmpdir(), "quern-large-"));
const sources = Object.entries(FILES).map(([name, content]) =>
  documents({ name, files: [{ path: "a.txt", content }] }),
);

beforeAll(async () => {
  await using engine = await open(path, { workers: 0 });
  await engine.index(sources, { symbols: "skip" });
});
afterAll(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));

describe.runIf(process.platform === "linux")("a worker", () => {
  let engine: Engine;
  let worked: () => number;
  afterAll(() => engine.close());
  beforeAll(async () => {
    engine = await open(path, { workers: 1, warmUp: false });
    worked = await workerClock(async () => {
      for (let i = 0; i < 10; i++)
        await engine.search({ query: `z.*${i}y`, isRegexEnabled: true, matches: 1 });
    });
  });

  test.each(someOf(ATTACKS, 3))("%s: a time-out ends it", async (_, asked) => {
    const after = () => afterTimeout({ engine, worked }, asked, TIMEOUT_MS);
    const late = await leastOf(TRIES, MOST_MS, after);
    tellFigure(`${late.toFixed(1)} ms after its time-out`);
    expect(late).toBeLessThan(MOST_MS);
  });

  test.each(
    someOf(
      ATTACKS.map((row, n) => [...row, n] as const),
      2,
    ),
  )("%s: an abort ends it", async (_, asked, n) => {
    for (const at of someOf(ABORTED_AT, ABORTED_AT.length, n)) {
      const late = await leastOf(TRIES, MOST_MS, () => afterAbort({ engine, worked }, asked, at));
      tellFigure(`${late.toFixed(1)} ms after an abort`);
      expect(late, `aborted after ${at} ms of its work`).toBeLessThan(MOST_MS);
    }
  });

  test("terms that contain each other end a search before they fill the memory", async () => {
    const before = memory();
    let most = 0;
    const looking = setInterval(() => (most = Math.max(most, memory() - before)), 10);
    const asked = { query: `repo:digits (${DIGITS})`, matches: 10 };
    const { isSearchExhaustive } = await engine.search(asked);
    clearInterval(looking);
    tellFigure(`${most.toFixed(0)} MiB`);
    expect(isSearchExhaustive).toBe(false);
    expect(most).toBeLessThan(MOST_GROWN);
    const { stats } = await engine.search({ query: "repo:digits 0123", matches: 1 });
    expect(stats.totalMatchCount).toBe(Math.floor(BYTES / 10));
  });
});

describe.runIf(process.platform === "linux")("without workers", () => {
  let engine: Engine;
  afterAll(() => engine.close());
  beforeAll(async () => {
    engine = await open(path, { workers: 0 });
    await engine.search({ query: "repo:mixed ab", matches: 1 });
  });

  test.each(someOf(ATTACKS, 3))("%s", async (_, asked) => {
    let turn = Infinity;
    for (let left = TRIES; left > 0 && turn > MOST_INLINE_MS; left--) {
      const stalls = watchStalls();
      await engine.search(asked, { timeoutMs: 500 });
      turn = Math.min(turn, (await stalls()).ownMs);
    }
    tellFigure(`${turn.toFixed(1)} ms a turn`);
    expect(turn).toBeLessThan(MOST_INLINE_MS);
  });
});
