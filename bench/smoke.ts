/**
 * Runs the quick benchmark over the fixture repositories, in this process, with the `benchmark` package. Every count is
 * compared with that of JavaScript's own expressions over the same files.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Benchmark from "benchmark";
import type { Engine } from "../src/engine.ts";
import { corpusAt, filesOf } from "./corpus.ts";
import { loadQuern } from "./quern.ts";
import { countIn, readQuestions, type Question } from "./queries.ts";
import { requestOf } from "./question-stage.ts";
import { figure, terminalTable, type Cell } from "./table.ts";

const SECONDS_EACH = 0.6;

/** Resolves to whether every count is right. */
export async function smoke(queries: string | URL): Promise<boolean> {
  const corpus = corpusAt(fileURLToPath(new URL("../corpus", import.meta.url)));
  const folder = mkdtempSync(join(tmpdir(), "quern-smoke-"));
  const quern = await loadQuern();
  const engine = await quern.open(join(folder, "data"), {});
  try {
    const start = performance.now();
    const source = quern.directory(corpus.path, { name: corpus.name, gitignore: false });
    const [report] = await engine.index(source);
    const seconds = (performance.now() - start) / 1000;
    console.log(`indexed ${report?.added} files with symbols in ${figure(seconds)} s\n`);
    return await askAll(engine, corpus.path, readQuestions(queries));
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function askAll(engine: Engine, path: string, questions: Question[]): Promise<boolean> {
  const texts = [...filesOf(path)].map(readText).filter((text) => text !== undefined);
  const rows: Cell[][] = [];
  const wrong: string[] = [];
  for (const question of questions) {
    const { stats } = await engine.search(requestOf(question));
    const expected = isPlain(question)
      ? texts.reduce((sum, text) => sum + countIn(text, question), 0)
      : undefined;
    if (expected !== undefined && expected !== stats.totalMatchCount)
      wrong.push(`${question.name}: ${stats.totalMatchCount} matches, expected ${expected}`);
    const { mean, rme, runs } = await timeOf(engine, question);
    rows.push([question.name, stats.totalMatchCount, mean * 1000, `± ${figure(rme)} %`, runs]);
  }
  console.log(terminalTable(["question", "matches", "mean, ms", "", "runs"], rows));
  for (const text of wrong) console.log(`WRONG ${text}`);
  return wrong.length === 0;
}

/** Returns the text as it is indexed, or undefined if it is not. */
function readText(path: string): string | undefined {
  const bytes = readFileSync(path);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString("utf16le");
  return bytes.subarray(0, 8000).includes(0) ? undefined : bytes.toString();
}

const isPlain = ({ words }: Question) => Object.keys(words).length === 0;

function timeOf(engine: Engine, question: Question) {
  const request = requestOf(question);
  return new Promise<{ mean: number; rme: number; runs: number }>((resolve, reject) => {
    new Benchmark(question.name, {
      defer: true,
      maxTime: SECONDS_EACH,
      fn: (deferred: Benchmark.Deferred) => {
        void engine.search(request).then(() => deferred.resolve());
      },
      onComplete(this: Benchmark) {
        if (this.error) reject(this.error as unknown as Error);
        const { mean, rme, sample } = this.stats;
        resolve({ mean, rme, runs: sample.length });
      },
    }).run({ async: true });
  });
}
