/**
 * Scores find() on questions whose answers are known. FOLDER has one folder for each repository, and FOLDER or the
 * option --queries has `questions.json`:
 *
 *     [{ name, language, root, commit?, queries: [{ query, class, targets: [path or { path }] }] }]
 *
 * The folder `root` of a repository is indexed, and targets are paths in the repository. The score of a question is
 * NDCG@10 with binary gain: 1 if all targets come first, and less for each that comes later. A repository that is not
 * in FOLDER is left out, and named.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directory, open, type FindResponse } from "../src/index.ts";

interface Repository {
  readonly name: string;
  readonly language: string;
  readonly root: string;
  readonly queries: readonly {
    readonly query: string;
    readonly class: string;
    readonly targets: readonly (string | { readonly path: string })[];
  }[];
}

const PLACES = 10;

/** Indexes the repositories, asks all questions, and prints the mean scores and the times. */
export async function scoreFind(folder: string, questions?: string): Promise<void> {
  const file = questions ?? join(folder, "questions.json");
  const repositories = JSON.parse(readFileSync(file, "utf8")) as Repository[];
  const scores = new Map<string, number[]>();
  const add = (group: string, score: number): void => {
    scores.set(group, [...(scores.get(group) ?? []), score]);
  };
  const times: number[] = [];
  const absent: string[] = [];
  for (const { name, language, root, queries } of repositories) {
    const path = join(folder, name, root);
    if (!existsSync(path)) {
      absent.push(name);
      continue;
    }
    const data = mkdtempSync(join(tmpdir(), "quern-find-"));
    const engine = await open(data);
    try {
      await engine.index(directory(path, { name, gitignore: false }));
      for (const { query, class: kind, targets } of queries) {
        const startedAt = performance.now();
        const answer = await engine.find({ text: query, places: PLACES });
        times.push(performance.now() - startedAt);
        if (!answer.isComplete) throw new Error(`${name}: the answer to "${query}" is incomplete`);
        const score = ndcg(answer, relativeTo(root, targets));
        for (const group of ["all", kind, `language ${language}`]) add(group, score);
      }
    } finally {
      await engine.close();
      rmSync(data, { recursive: true, force: true, maxRetries: 3 });
    }
  }
  for (const [group, all] of [...scores].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${group.padEnd(24)} ${mean(all).toFixed(3)}  (${all.length})`);
  times.sort((a, b) => a - b);
  console.log(`median ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms`);
  if (absent.length > 0) console.log(`not in ${folder}: ${absent.join(", ")}`);
}

function relativeTo(root: string, targets: Repository["queries"][number]["targets"]): Set<string> {
  const paths = targets.map((target) => (typeof target === "string" ? target : target.path));
  const prefix = root === "" ? "" : `${root}/`;
  return new Set(paths.map((path) => (path.startsWith(prefix) ? path.slice(prefix.length) : path)));
}

function ndcg({ places }: FindResponse, targets: ReadonlySet<string>): number {
  const gain = (rank: number): number => 1 / Math.log2(rank + 2);
  const found = places.map(({ path }, rank) => (targets.has(path) ? gain(rank) : 0));
  const ideal = Array.from({ length: Math.min(PLACES, targets.size) }, (_, rank) => gain(rank));
  return total(found) / total(ideal);
}

const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);
const mean = (values: readonly number[]): number => total(values) / values.length;
const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
