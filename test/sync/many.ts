/**
 * Syncs many repositories of a local code host, served by git's own `upload-pack`: the first time, again without
 * changes, and again after some have changed, moved and vanished. Throws if a run does anything unexpected.
 */

import { deepStrictEqual } from "node:assert/strict";
import type { Engine } from "../../src/index.ts";
import { syncConnections, type SyncReport } from "../../src/sync/index.ts";
import { serveGitHub, type GitHub } from "./github-server.ts";
import { commit, removeRepository, renameRepository, type Remotes } from "./remotes.ts";

export interface Phase {
  readonly what: string;
  readonly ms: number;
}

interface Place {
  readonly remotes: Remotes;
  readonly github: GitHub;
  readonly engine: Engine;
}

/** Every twentieth of them changes, moves or vanishes: `count` is 20 or more. */
export async function syncMany(
  count: number,
  { remotes, engine }: Omit<Place, "github">,
): Promise<Phase[]> {
  const github = serveGitHub(remotes);
  const place = { remotes, github, engine };
  const phases: Phase[] = [];
  const timed = async <T>(what: string, run: () => T | Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await run();
    phases.push({ what, ms: performance.now() - start });
    return result;
  };
  await timed("making them", () => makeAll(count, place));
  const first = await timed("the first run", () => run(place));
  deepStrictEqual(countOutcomes(first), { indexed: count });
  deepStrictEqual(await found(engine, "needle", count), count);
  const again = await timed("nothing new", () => run(place));
  deepStrictEqual(countOutcomes(again), { unchanged: count });
  const some = changeSome(count, place);
  const third = await timed("a twentieth each changed, renamed, gone", () => run(place));
  const { unchanged, ...others } = countOutcomes(third);
  deepStrictEqual([unchanged, others], [count - 3 * some, { indexed: 2 * some, gone: some }]);
  deepStrictEqual(await found(engine, "changed", count), some);
  deepStrictEqual(await found(engine, "needle", count), count - some); // changed repositories no longer contain it
  deepStrictEqual(await namesWith(engine, "/moved-"), some);
  return phases;
}

const pathOf = (n: number): string => `acme/repository-${n}`;

function makeAll(count: number, { remotes, github }: Place): void {
  github.repositories = Array.from({ length: count }, (_, n) => {
    commit(remotes.root, pathOf(n), { "a.c": `int needle_${n};\n` });
    return { id: n + 1, full_name: pathOf(n), private: n % 2 === 0 };
  });
}

const run = ({ engine, remotes, github }: Place): Promise<SyncReport> => {
  const token = { env: "TOKEN" };
  const acme = { type: "github" as const, url: remotes.url, orgs: ["acme"], token };
  return syncConnections(engine, { connections: { acme } }, { env: { TOKEN: github.token } });
};

function countOutcomes({ connections }: SyncReport): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { problems, repositories } of connections) {
    deepStrictEqual(problems, []);
    for (const { outcome, message } of repositories) {
      const what = outcome === "failed" ? `failed: ${message}` : outcome;
      counts[what] = (counts[what] ?? 0) + 1;
    }
  }
  return counts;
}

async function found(engine: Engine, word: string, most: number): Promise<number> {
  const { files } = await engine.search({ query: word, matches: 2 * most });
  return new Set(files.map(({ repository }) => repository)).size;
}

const namesWith = async (engine: Engine, query: string): Promise<number> =>
  (await engine.repositories({ query })).length;

/** Changes, moves and removes some repositories. Returns the number of each. */
function changeSome(count: number, { remotes, github }: Place): number {
  const some = Math.floor(count / 20);
  for (let n = 0; n < some; n++) {
    commit(remotes.root, pathOf(n), { "a.c": `int changed_${n};\n` });
    const [from, to] = [pathOf(some + n), `acme/moved-${n}`];
    renameRepository(remotes.root, from, to);
    Object.assign(github.repositories[some + n]!, { full_name: to });
    removeRepository(remotes.root, pathOf(2 * some + n));
  }
  github.repositories.splice(2 * some, some);
  return some;
}
