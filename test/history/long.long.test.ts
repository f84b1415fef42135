/**
 * Pages of a history of 40 000 commits: the first is costly, the others are cheap, wherever they begin, and after a
 * commit was added, too.
 */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { tempFolder } from "../ingest/listing.ts";
import { tellFigure } from "../figures.ts";
import { makeRepository } from "./generated.ts";
import { openHistory } from "./opened.ts";
import { isInTurn } from "../runs.ts";

const COMMITS = 40_000;
const ROUNDS = 20;
/** The largest share of the first page's processor time, git's and quern's together, that another page may take. */
const MOST_SHARE = 1 / 8;

function makeLong(): string {
  const folder = makeRepository([], tempFolder());
  const commits = Array.from({ length: COMMITS }, (_, n) =>
    [
      `commit refs/heads/main`,
      `committer Ada <ada@example.com> ${1_500_000_000 + n * 60} +0000`,
      `data ${`number ${n}`.length}`,
      `number ${n}`,
      ...(n === 0 ? ["M 100644 inline a.txt", "data 1", "x"] : []),
      "",
    ].join("\n"),
  );
  execFileSync("git", ["-C", folder, "fast-import", "--quiet"], { input: commits.join("\n") });
  return folder;
}

/** Returns the processor time of this process and of its children that have ended, in milliseconds. */
function worked(): number {
  const [user, system] = readFileSync("/proc/self/stat", "latin1")
    .split(") ")[1]!
    .split(" ")
    .slice(13, 15) as [string, string];
  const own = process.cpuUsage();
  return (Number(user) + Number(system)) * 10 + (own.user + own.system) / 1_000;
}

async function costOf(run: () => Promise<unknown>, rounds = 1): Promise<number> {
  const before = worked();
  for (let round = 0; round < rounds; round++) await run();
  return (worked() - before) / rounds;
}

test.runIf(process.platform === "linux" && isInTurn(3, 1))("a page after the first", async () => {
  const folder = makeLong();
  const { history } = await openHistory(folder);
  const page = async (skip: number): Promise<readonly [total: number, message: string]> => {
    const { total, commits } = await history.commits({ skip, limit: 50 });
    return [total, commits[0]!.message];
  };
  const first = await costOf(async () =>
    expect(await page(0)).toEqual([COMMITS, `number ${COMMITS - 1}`]),
  );
  await page(COMMITS / 2); // lists commits far back
  const again = await costOf(() => page(0), ROUNDS);
  const deep = await costOf(() => page(COMMITS / 2), ROUNDS);
  expect(await page(COMMITS / 2)).toEqual([COMMITS, `number ${COMMITS / 2 - 1}`]);
  const tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  const commit = ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b", "commit-tree", tree];
  execFileSync("git", ["-C", folder, "hash-object", "-t", "tree", "-w", "--stdin"], {
    input: "",
  });
  const id = execFileSync("git", [...commit, "-p", "main", "-m", "one more"])
    .toString()
    .trim();
  execFileSync("git", ["-C", folder, "update-ref", "refs/heads/main", id]);
  const moved = await costOf(async () => expect(await page(0)).toEqual([COMMITS + 1, "one more"]));
  const costs = { first, again, deep, moved };
  tellFigure(JSON.stringify(costs));
  expect(Math.max(again, deep), JSON.stringify(costs)).toBeLessThan(first * MOST_SHARE);
  expect(moved, JSON.stringify(costs)).toBeLessThan(first / 2); // does not count again
});
