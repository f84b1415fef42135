/**
 * Measures how long a request takes, and how long it blocks the caller's thread in processor time, with two
 * repositories and with many:
 *
 *     npx tsx scripts/many-repositories.ts [COUNT]        default 100 000; compared with two of as many files
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchStalls } from "../bench/stall.ts";
import { terminalTable } from "../bench/table.ts";
import { open } from "../src/opened-engine.ts";
import { drain, MANY_REQUESTS, subjectOf, type Subject } from "../test/http/many-requests.ts";
import { writeManyRepositories } from "../test/store/many-repositories.ts";

const ROUNDS = 200;
/** The number of repositories to compare with. They have as many files together. */
const FEW = 2;
const count = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), "quern-many-"));

interface Measured {
  readonly first: number;
  readonly median: number;
  readonly stall: number;
}

async function measure(subject: Subject, ask: (subject: Subject) => Promise<unknown>) {
  const longest = watchStalls();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await drain(await ask(subject));
    times.push(performance.now() - start);
    await new Promise((turn) => setImmediate(turn));
    if (times.reduce((a, b) => a + b, 0) > 20_000) break;
  }
  const [first] = times as [number];
  times.sort((a, b) => a - b);
  return { first, median: times[times.length >> 1]!, stall: (await longest()).ownMs };
}

/** Measures an index of `repositories` repositories, which always have the same number of files together. */
async function measureAll(repositories: number): Promise<Map<string, Measured>> {
  const path = join(folder, String(repositories));
  await writeManyRepositories(path, repositories, count);
  const measured = new Map<string, Measured>();
  const opening = watchStalls();
  const start = performance.now();
  const engine = await open(path, { readOnly: true, workers: 1 });
  const opened = performance.now() - start;
  measured.set("open", { first: opened, median: opened, stall: (await opening()).ownMs });
  const subject = subjectOf(engine, repositories);
  for (const [what, ask] of MANY_REQUESTS) {
    measured.set(what, await measure(subject, ask));
  }
  await engine.close();
  return measured;
}

try {
  const [one, many] = [await measureAll(FEW), await measureAll(count)];
  const rows = [...many].map(([what, { first, median, stall }]) => {
    const few = one.get(what)!;
    const shown = [first, few.median, median, median - few.median, few.stall, stall];
    return [what, ...shown.map((ms) => ms.toFixed(2))];
  });
  const head = ["ms", "first", `${FEW} repositories`, `${count}`, "more", "turn", `${count}`];
  console.log(terminalTable(head, rows));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
