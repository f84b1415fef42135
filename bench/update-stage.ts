/** What a change of one file costs, through documents({ changes }) and through git; and opening, and blocking. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Corpus } from "./peer.ts";
import { searcher } from "./question-stage.ts";
import { startSubject, type Subject } from "./quern.ts";
import type { EngineFigures } from "./record.ts";
import { spreadOf } from "./statistics.ts";
import { MEBIBYTE } from "./index-stage.ts";

const RUNS = 5;
const OPTIONS = { workers: 2, memoryBudget: 256 * MEBIBYTE };

/** REQUIRES: `path` is a data directory that holds the corpus; it is changed. */
export async function measureEngine(corpus: Corpus, path: string): Promise<EngineFigures> {
  const opens: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const subject = await startSubject();
    opens.push((await subject.do("open", { path, ...OPTIONS })).ms);
    await subject.end();
  }
  const subject = await searcher(path, 2);
  const contentBytes = await subject.do("contentBytes", {});
  const searchBlockMs = await subject.do("longestBlock", {
    request: { query: "the", matches: 100_000 },
  });
  const updates = await times(subject, (run) => ({
    kind: "changes",
    name: corpus.name,
    changes: [{ path: "quern-benchmark.c", content: `int quern_benchmark_${run};\n` }],
  }));
  await subject.end();
  return { open: spreadOf(opens), contentBytes, searchBlockMs, updateDocuments: spreadOf(updates) };
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

/** The corpus as a bare repository of one commit, indexed; then commits of one file each. */
export async function measureGit(corpus: Corpus, folder: string): Promise<EngineFigures> {
  const repository = join(folder, "corpus.git");
  const git = (...args: string[]) =>
    execFileSync("git", [...IDENTITY, `--git-dir=${repository}`, ...args], {
      encoding: "utf8",
      maxBuffer: 1 << 30,
    }).trim();
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", repository]);
  git(`--work-tree=${corpus.path}`, "add", "--all", "--force", ".");
  git("commit", "--quiet", "--message=all");
  const subject = await startSubject();
  await subject.do("open", { path: join(folder, "quern-git"), ...OPTIONS });
  const source = { kind: "git", path: repository, name: "corpus" } as const;
  const index = async () => (await subject.do("index", { source, symbols: true })).ms;
  await index();
  const ms: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    commitOne(git, repository, run);
    ms.push(await index());
  }
  await subject.end();
  return { updateGit: spreadOf(ms) };
}

const IDENTITY = [
  "-c",
  "user.name=quern",
  "-c",
  "user.email=quern@localhost",
  "-c",
  "core.bare=false",
];

function commitOne(git: (...args: string[]) => string, repository: string, run: number): void {
  const blob = execFileSync("git", [`--git-dir=${repository}`, "hash-object", "-w", "--stdin"], {
    input: `int quern_benchmark_${run};\n`,
    encoding: "utf8",
  }).trim();
  git("update-index", "--add", "--cacheinfo", `100644,${blob},quern-benchmark.c`);
  const tree = git("write-tree");
  const commit = git("commit-tree", "-p", "HEAD", "-m", `change ${run}`, tree);
  git("update-ref", "refs/heads/main", commit);
}
