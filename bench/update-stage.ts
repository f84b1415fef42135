/**
 * Measures how long a change of one file takes, through documents({ changes }) and through git. Also measures opening
 * and blocking.
 */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { medianOf } from "./caller.ts";
import type { Corpus } from "./peer.ts";
import { searcher } from "./question-stage.ts";
import { startSubject, type Subject } from "./quern.ts";
import type { EngineFigures } from "./record.ts";
import { spreadOf } from "./statistics.ts";
import { MEBIBYTE } from "./index-stage.ts";

const RUNS = 5;
export const SEARCHES = 9;
const OPTIONS = { workers: 2, memoryBudget: 256 * MEBIBYTE };

/** Measures an engine. REQUIRES: `path` is a data directory with the corpus, which may be changed. */
export async function measureEngine(corpus: Corpus, path: string): Promise<EngineFigures> {
  const opens: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const subject = await startSubject();
    opens.push((await subject.do("open", { path, ...OPTIONS })).ms);
    await subject.end();
  }
  const subject = await searcher(path, 2);
  const contentBytes = await subject.do("contentBytes", {});
  const searchStall = medianOf(
    await subject.do("stalls", { request: { query: "the", matches: 100_000 }, searches: SEARCHES }),
  );
  const updates = await times(subject, (run) => ({
    kind: "changes",
    name: corpus.name,
    changes: [{ path: "quern-benchmark.c", content: `int quern_benchmark_${run};\n` }],
  }));
  await subject.end();
  return { open: spreadOf(opens), contentBytes, searchStall, updateDocuments: spreadOf(updates) };
}

async function times(
  subject: Subject,
  source: (run: number) => {
    kind: "changes";
    name: string;
    changes: { path: string; content: string }[];
  },
): Promise<number[]> {
  const ms: number[] = [];
  for (let run = 0; run <= RUNS; run++)
    ms.push((await subject.do("index", { source: source(run), symbols: true })).ms);
  return ms.slice(1); // the first one warms up
}

/** Indexes the corpus as a bare repository of one commit, then commits of one file each. */
export async function measureGit(corpus: Corpus, folder: string): Promise<EngineFigures> {
  const path = join(folder, "corpus.git");
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  const git: Git = (input, ...args) => {
    const where = [`--git-dir=${path}`, `--work-tree=${corpus.path}`];
    const options = { input, encoding: "utf8", maxBuffer: 1 << 28 } as const;
    return execFileSync("git", [...IDENTITY, ...where, ...args], options).trim();
  };
  git("", "add", "--all", "--force", ".");
  commit(git, "all");
  const subject = await startSubject();
  await subject.do("open", { path: join(folder, "quern-git"), ...OPTIONS });
  const source = { kind: "git", path, name: corpus.name } as const;
  const index = async () => (await subject.do("index", { source, symbols: true })).ms;
  await index();
  const ms: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const blob = git(`int quern_benchmark_${run};\n`, "hash-object", "-w", "--stdin");
    git("", "update-index", "--add", "--cacheinfo", `100644,${blob},quern-benchmark.c`);
    commit(git, `change ${run}`);
    ms.push(await index());
  }
  await subject.end();
  return { updateGit: spreadOf(ms) };
}

type Git = (input: string, ...args: string[]) => string;

const IDENTITY = ["-c", "user.name=quern", "-c", "user.email=quern@localhost"];

/** Commits what is staged. The work tree is never written. */
function commit(git: Git, message: string): void {
  const [head] = git("", "for-each-ref", "--format=%(objectname)", "refs/heads/main").split("\n");
  const parent = head ? ["-p", head] : [];
  const made = git("", "commit-tree", ...parent, "-m", message, git("", "write-tree"));
  git("", "update-ref", "refs/heads/main", made);
}
