/**
 * Measures what following a folder costs: until a written file is found, at rest, and in each search. Compares this
 * with tools that read the folder for each question. Also measures many work trees of one repository.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { isOnPath, sizeOnDisk } from "./command.ts";
import { readCorpus } from "./corpus.ts";
import { generatedFiles, randomNumbers } from "./generated.ts";
import { MEBIBYTE } from "./index-stage.ts";
import type { Corpus } from "./peer.ts";
import { startSubject, type Subject } from "./quern.ts";
import { spreadOf } from "./statistics.ts";
import type {
  ChangedCost,
  Cost,
  Findable,
  WorkspaceFigures,
  WorkTreeFigures,
} from "./workspace-figures.ts";

const OPTIONS = { workers: 2, memoryBudget: 256 * MEBIBYTE };
const MINUTE_MS = 60_000;
const WRITES = 200;
const ROUNDS = 200;
const CHANGED = [1, 100, 10_000];
const SEARCHES = 20;
const PEER_RUNS = 5;
const ABSENT = "quern_is_nowhere_here_";

/** Makes a copy of the corpus that may be changed, as a repository of one commit. */
export function copyCorpus(corpus: Corpus, path: string): string {
  cpSync(realpathSync(corpus.path), path, { recursive: true, verbatimSymlinks: true });
  rmSync(join(path, ".gitignore"), { force: true }); // that of a Debian source package excludes everything
  commitAll(path);
  return path;
}

const MONOREPO = { packages: 3_000, files: 100 };

/** Makes 300 000 files of half a kilobyte to two kilobytes, in 3 000 folders. */
export function makeMonorepo(path: string): string {
  const random = randomNumbers(23);
  const pool = Buffer.concat([...generatedFiles(0, 30_000)].map(({ content }) => content));
  for (let part = 0; part < MONOREPO.packages; part++) {
    const folder = join(path, `area_${part % 30}`, `package_${part}`);
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < MONOREPO.files; file++) {
      const from = Math.floor(random() * (pool.length - 2_000));
      const text = pool.toString("latin1", from, from + 500 + Math.floor(random() * 1_500));
      writeFileSync(join(folder, `file_${file}.txt`), `package ${part} file ${file}\n${text}\n`);
    }
  }
  commitAll(path);
  return path;
}

function commitAll(path: string): void {
  git(path, "init", "--quiet", "--initial-branch=main");
  git(path, "add", "--all");
  git(path, "commit", "--quiet", "--message=all");
}

const IDENTITY = ["-c", "user.name=quern", "-c", "user.email=quern@localhost", "-c", "gc.auto=0"];
const git = (path: string, ...args: string[]) =>
  execFileSync("git", ["-C", path, ...IDENTITY, ...args], { stdio: "ignore" });

export interface Following {
  readonly name: string;
  /** The folder, which is changed and changed back. */
  readonly path: string;
  /** The data directory. */
  readonly data: string;
}

export async function measureWorkspace({ name, path, data }: Following): Promise<WorkspaceFigures> {
  const first = await startSubject(); // indexes it, if that has not been done
  await first.do("open", { path: data, ...OPTIONS });
  await first.do("follow", { path });
  await first.end();
  const subject = await startSubject();
  await subject.do("open", { path: data, ...OPTIONS });
  const request = { query: ABSENT, matches: 10 };
  await subject.do("ask", { request, patience: { least: 100, most: 100, ms: 0 } });
  const heapBefore = await subject.do("heap", {});
  const { ms: openMs } = await subject.do("follow", { path });
  const heapAfter = await subject.do("heap", {});
  const alone = await startSubject();
  await alone.do("open", { path: data, ...OPTIONS });
  await alone.do("ask", { request, patience: { least: 100, most: 100, ms: 0 } });
  await alone.do("heap", {});
  const [engineAlone, followed] = await Promise.all(
    [alone, subject].map((one) => one.do("idle", { ms: MINUTE_MS })),
  );
  await alone.end();
  const restIn = (minute: number) => ({
    engineMs: engineAlone!.processorMs[minute]!,
    followedMs: followed!.processorMs[minute]!,
  });
  const costs = await subject.do("unchanged", { request, rounds: ROUNDS });
  const found = await subject.do("findable", { path, runs: WRITES });
  const changed = await changedCosts(subject, path);
  await subject.end();
  const { files, bytes } = readCorpus({ name, path });
  return {
    name,
    files,
    bytes,
    openSeconds: openMs / 1000,
    heapBytes: heapAfter - heapBefore,
    idle: { ...restIn(0), written: followed!.written },
    laterIdle: [restIn(1), restIn(2)],
    findable: findableOf(found),
    unchanged: { engine: medianCost(costs.engine), workspace: medianCost(costs.workspace) },
    changed,
    peers: peerCosts(path),
    load: loadavg()[2]!,
  };
}

async function changedCosts(subject: Subject, path: string): Promise<ChangedCost[]> {
  const costs: ChangedCost[] = [];
  for (const files of CHANGED) {
    const { first, next } = await subject.do("changed", { path, files, searches: SEARCHES });
    costs.push({ files, first, next: medianCost(next) });
  }
  return costs;
}

function findableOf(costs: readonly Cost[]): Findable {
  const sorted = costs.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1]!;
  return { ...spreadOf(sorted), p99, processorMs: medianCost(costs).processorMs };
}

const medianCost = (costs: readonly Cost[]): Cost => ({
  ms: spreadOf(costs.map(({ ms }) => ms)).median,
  processorMs: spreadOf(costs.map(({ processorMs }) => processorMs)).median,
});

const PEERS: Readonly<Record<string, readonly string[]>> = {
  rg: ["rg", "--no-config", "--count", ABSENT, "./"],
  "git grep": ["git", "grep", "--untracked", "--count", ABSENT],
};

/** Measures other tools with a word that does not occur, in the same folder. */
function peerCosts(cwd: string): WorkspaceFigures["peers"] {
  return Object.entries(PEERS)
    .filter(([, [program]]) => isOnPath(program!))
    .map(([name, command]) => {
      const runs = Array.from({ length: PEER_RUNS + 1 }, () => processCost(command, cwd));
      return { name, cost: medianCost(runs.slice(1)) };
    });
}

/** Returns the time of a command, as the shell reports it for its child processes. */
function processCost(command: readonly string[], cwd: string): Cost {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null || true';
  const { stderr } = spawnSync("bash", ["-c", script, "bash", ...command], { cwd });
  const [real, user, system] = stderr.toString().trim().split(" ").map(Number);
  return { ms: 1000 * real!, processorMs: 1000 * (user! + system!) };
}

const TREES = 100;
const TREE_BYTES = 10_000_000;

/** Measures work trees of a generated repository of 10 MB, each with a file of its own. */
export async function measureWorkTrees(folder: string): Promise<WorkTreeFigures> {
  const main = join(folder, "work-trees", "main");
  const files = [...generatedFiles(1, TREE_BYTES)];
  for (const { path, content } of files) {
    mkdirSync(join(main, path, ".."), { recursive: true });
    writeFileSync(join(main, path), content);
  }
  commitAll(main);
  const data = join(folder, "quern-work-trees");
  const subject = await startSubject();
  await subject.do("open", { path: data, ...OPTIONS });
  await subject.do("follow", { path: main });
  const [diskBefore, heapBefore] = [sizeOnDisk(data), await subject.do("heap", {})];
  const start = performance.now();
  for (let tree = 1; tree < TREES; tree++) {
    const path = join(folder, "work-trees", `tree-${tree}`);
    git(main, "worktree", "add", "--quiet", "-b", `branch-${tree}`, path);
    appendFileSync(join(path, files[tree]!.path), `int tree_${tree}_;\n`);
    await subject.do("follow", { path });
  }
  const seconds = (performance.now() - start) / 1000;
  const others = TREES - 1;
  const figures = {
    trees: TREES,
    files: files.length,
    bytes: TREE_BYTES,
    diskBytes: (sizeOnDisk(data) - diskBefore) / others,
    heapBytes: ((await subject.do("heap", {})) - heapBefore) / others,
    seconds: seconds / others,
  };
  await subject.end();
  return figures;
}
