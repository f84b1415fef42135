/**
 * A process whose memory is measured: nothing else is in it. Run with --expose-gc; prints JSON.
 *
 *     loop SEARCHES UPDATES    the samples of a soak
 *     matches MATCHES          an answer of so many ranges out of 1.7 million: before, at the highest, after
 *     languages FILES          an index run that parses so many files of more languages than a thread keeps grammars
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { anonymousBytes, soak, type Sample } from "./soak.ts";

export interface Parsing {
  readonly symbols: number;
  /** The bytes of memory at the beginning. */
  readonly before: number;
  /** The bytes of memory after each range of files. */
  readonly bytes: readonly number[];
}

export interface Answer {
  readonly matches: number;
  readonly ranges: number;
  /** Bytes. */
  readonly before: number;
  readonly highest: number;
  readonly after: number;
}

/**
 * Makes an engine with 1.7 million times "the": 1 000 in each file, one on each line. An answer of this form takes the
 * most memory.
 */
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

const LANGUAGES = "go py rb js php css lua toml java rs ts sh zig json".split(" ");

/**
 * Indexes several ranges of files, each with all languages. Memory is measured at the beginning of each range and at
 * the end.
 */
async function languages(engine: Engine, files: number): Promise<Parsing> {
  const texts = LANGUAGES.map((name) => readFileSync(`corpus/languages/sample.${name}`, "utf8"));
  const before = anonymousBytes();
  const bytes: number[] = [];
  const source = documents({
    name: "mixed",
    files: Array.from({ length: files }, (_, i) => ({
      path: `${i}.${LANGUAGES[i % LANGUAGES.length]}`,
      content: texts[i % texts.length] + "\n".repeat(16_000 + i),
    })),
  });
  const [report] = await engine.index(source, {
    onProgress: ({ stage }) => {
      if (stage === "symbols") bytes.push(anonymousBytes());
    },
  });
  return { symbols: report!.symbols, before, bytes };
}

function run(name: string | undefined): Promise<unknown> {
  if (name === "loop") return loop(engine, first, second);
  return name === "languages" ? languages(engine, first) : answer(engine, first);
}

const [command, ...numbers] = process.argv.slice(2);
const [first = 0, second = 0] = numbers.map(Number);
const path = mkdtempSync(join(tmpdir(), "quern-memory-"));
const engine = await open(path, {
  workers: command === "languages" ? 1 : 2,
  warmUp: false,
});
const result = await run(command);
console.log(JSON.stringify(result));
await engine.close();
rmSync(path, { recursive: true, force: true, maxRetries: 3 });
