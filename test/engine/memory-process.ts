/**
 * A process whose memory is measured: nothing else is in it. Run with --expose-gc; prints JSON.
 *
 *     loop SEARCHES UPDATES    the samples of a soak
 *     matches MATCHES          an answer of so many ranges out of 1.7 million: before, at the highest, after
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open, type Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/documents.ts";
import { anonymousBytes, soak, type Sample } from "./soak.ts";

export interface Answer {
  readonly matches: number;
  readonly ranges: number;
  /** Bytes. */
  readonly before: number;
  readonly highest: number;
  readonly after: number;
}

/** 1.7 million times "the", 1 000 in each file, one a line: the form of an answer that takes most memory. */
function manyMatches() {
  const content = "  in the line\n".repeat(1000);
  const files = Array.from({ length: 1700 }, (_, i) => ({
    path: `${i}`,
    content: `${content}${i}`,
  }));
  return documents({ name: "many", files });
}

async function answer(engine: Engine, matches: number): Promise<Answer> {
  await engine.index(manyMatches(), { symbols: "skip" });
  await engine.search({ query: "the", matches: 10 });
  globalThis.gc?.();
  const before = anonymousBytes();
  let highest = before;
  const look = () => (highest = Math.max(highest, anonymousBytes()));
  const timer = setInterval(look, 2);
  let [ranges, total] = [0, 0];
  for (let run = 0; run < 3; run++) {
    const { stats } = await engine.search({ query: "the", matches });
    look();
    [ranges, total] = [stats.actualMatchCount, stats.totalMatchCount];
  }
  clearInterval(timer);
  globalThis.gc?.();
  return { matches: total, ranges, before, highest, after: anonymousBytes() };
}

async function loop(engine: Engine, searches: number, updates: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  await soak(engine, { searches, updates, samples: 10, onSample: (one) => void samples.push(one) });
  return samples;
}

const [command, ...numbers] = process.argv.slice(2);
const [first = 0, second = 0] = numbers.map(Number);
const path = mkdtempSync(join(tmpdir(), "quern-memory-"));
const engine = await open(path, { workers: 2 });
const result = await (command === "loop" ? loop(engine, first, second) : answer(engine, first));
console.log(JSON.stringify(result));
await engine.close();
rmSync(path, { recursive: true, force: true, maxRetries: 3 });
