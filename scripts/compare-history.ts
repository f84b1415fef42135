/**
 * Compares the results of engine.history() with git itself, over real clones:
 *
 *     node --import tsx scripts/compare-history.ts FOLDER [--rounds N] [--seed N]
 *
 * FOLDER contains clones, or is one. Each round calls every operation once, with random revisions, paths, dates and
 * expressions of the seed. Exits with 1 at the first difference. Finally prints how long pages of 50 commits take, with
 * their totals.
 */

import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { git, open, type History } from "../src/index.ts";
import { compareHistory } from "../test/history/compare.ts";
import { drawFrom } from "../test/history/generated.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

const isClone = (path: string): boolean =>
  existsSync(join(path, ".git")) || existsSync(join(path, "objects"));

function clonesIn(folder: string): string[] {
  if (isClone(folder)) return [folder];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter(isClone);
}

/** Measures the very first page, then the median of repeated pages, at the beginning and in the middle. */
async function timePages(history: History): Promise<string> {
  const ask = async (skip: number): Promise<number> => {
    const start = performance.now();
    await history.commits({ skip, limit: 50 });
    return performance.now() - start;
  };
  const first = await ask(0);
  const { total } = await history.commits({ limit: 0 });
  const middle = Math.floor(total / 2);
  await ask(middle); // lists all ids
  const medians: number[] = [];
  for (const skip of [0, middle]) {
    const times: number[] = [];
    for (let round = 0; round < 21; round++) times.push(await ask(skip));
    medians.push(times.sort((a, b) => a - b)[10]!);
  }
  const [again, deep] = medians.map((ms) => ms.toFixed(0));
  return `first ${first.toFixed(0)} ms, then ${again} ms; ${deep} ms from commit ${middle} of ${total} on`;
}

const index = mkdtempSync(join(tmpdir(), "quern-history-"));
const engine = await open(index, { maxFileSize: 1024 }); // so that most files are read from git
try {
  const [folder] = positionals;
  if (folder === undefined) throw new Error("name a folder of clones");
  for (const clone of clonesIn(resolve(folder))) {
    const name = basename(clone);
    await engine.index(git(clone, { name }), { symbols: "skip" });
    const history = await engine.history(name);
    if (history === undefined) throw new Error(`${name} has no history`);
    const draw = drawFrom(Number(values.seed));
    const pages = await timePages(history);
    const began = performance.now();
    const count = await compareHistory({ history, folder: clone, draw }, Number(values.rounds));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(
      `${name}: ${count} calls are as git has them (${seconds} s, --seed ${values.seed}); a page of 50 commits: ${pages}`,
    );
  }
} finally {
  await engine.close();
  rmSync(index, { recursive: true, force: true });
}
