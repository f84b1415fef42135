/** Random queries over random histories equal a brute-force reader of git log: results, ranges, pages, streams, viewers. */

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { drawFrom, makeRepository, type Draw } from "../history/generated.ts";
import { RUNS } from "../runs.ts";
import { bruteForce, type Asked, type Expected, type Logged } from "./brute-force.ts";
import { logChanges, logCommits } from "./git-log.ts";
import { pick, randomCommits, randomQuery, written } from "./made.ts";

const BRANCHES = ["main", "side", "third"];
const ALL = 1_000_000_000;

const run = (folder: string, ...args: string[]): string =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();

function read(repository: string, folder: string): Logged {
  const branches = run(folder, "branch", "--format=%(refname:short)").split("\n");
  return {
    repository,
    reached: new Map(
      BRANCHES.filter((name) => branches.includes(name)).map((name) => [
        name,
        new Set(run(folder, "rev-list", name).split("\n")),
      ]),
    ),
    changes: logChanges(folder, ["--branches"]),
    commits: logCommits(folder, ["--branches"]),
  };
}

const index = async (engine: Engine, name: string, folder: string): Promise<void> => {
  const source = git(folder, { name, history: true, revisions: ["main", "*"] });
  await engine.index(source, { symbols: "skip", words: "skip" });
};

/** Returns a result as the brute-force reader describes it. */
function described({ repository, commit, fileName, chunks }: FileResult): Expected {
  const ranges = chunks.flatMap(({ content, contentStart, matchRanges, side }) =>
    matchRanges.map(({ start, end }) => {
      const lines = content.split("\n");
      const at = ({ lineNumber, column }: typeof start): number => {
        const text = lines[lineNumber - contentStart.lineNumber]!;
        return Buffer.byteLength(
          Array.from(text)
            .slice(0, column - 1)
            .join(""),
        );
      };
      return `${side ?? "message"} ${start.lineNumber} ${at(start)}-${at(end)}`;
    }),
  );
  return { key: `${repository} ${commit!.hash} ${fileName.text}`, ranges };
}

/** Joins the parts of results that begin on one page and continue on the next. */
function joined(pages: readonly SearchResponse[]): Expected[] {
  const all: Expected[] = [];
  for (const one of pages.flatMap(({ files }) => files.map(described))) {
    const last = all.at(-1);
    if (last?.key === one.key)
      all.splice(-1, 1, { key: one.key, ranges: [...last.ranges, ...one.ranges] });
    else all.push(one);
  }
  return all;
}

async function pagesOf(
  engine: Engine,
  request: SearchRequest,
  options: object,
): Promise<SearchResponse[]> {
  const pages: SearchResponse[] = [];
  for (let after: string | undefined = ""; after !== undefined; after = pages.at(-1)!.nextCursor)
    pages.push(await engine.search({ ...request, after }, options));
  return pages;
}

interface Question {
  readonly asked: Asked;
  readonly request: SearchRequest;
}

function question(draw: Draw): Question {
  const [isDiff, isRegex, isCaseSensitive] = [draw(4) > 0, draw(2) === 0, draw(3) === 0];
  const side = isDiff && draw(4) === 0 ? pick(draw, ["added", "removed"] as const) : undefined;
  const query = randomQuery(draw, { isDiff, isRegex });
  const type = isDiff ? "type:diff" : "type:commit";
  const select = side ? ` select:commit.diff.${side}` : "";
  return {
    asked: { query, isDiff, isRegex, isCaseSensitive, side },
    request: {
      query: `${type}${select} ${written(query)}`,
      isRegexEnabled: isRegex,
      isCaseSensitivityEnabled: isCaseSensitive,
      matches: ALL,
    },
  };
}

test("random queries over two repositories", async () => {
  let [found, ranged] = [0, 0];
  for (let seed = 1; seed <= 2 * RUNS; seed++) {
    const draw = drawFrom(seed);
    const engine = await openEngine();
    const all: Logged[] = [];
    for (const name of ["one", "two"]) {
      const folder = makeRepository(randomCommits(draw, 25), temporaryFolder());
      await index(engine, name, folder);
      all.push(read(name, folder));
    }
    const { id } = (await engine.repository("two"))!;
    for (let i = 0; i < 80; i++) {
      const { asked, request } = question(draw);
      const where = `seed ${seed}, question ${i}: ${JSON.stringify(request)}`;
      const isLimited = draw(4) === 0;
      const options = isLimited ? { viewer: { repositoryIds: new Set([id]) } } : {};
      const expected = bruteForce(isLimited ? all.slice(1) : all, asked);
      const whole = await engine.search(request, options);
      expect([where, whole.files.map(described)]).toEqual([where, expected]);
      expect([where, whole.isSearchExhaustive]).toEqual([where, true]);
      const counts = {
        fileCount: expected.length,
        totalMatchCount: expected.reduce((sum, { ranges }) => sum + Math.max(1, ranges.length), 0),
      };
      expect([where, whole.stats]).toMatchObject([where, counts]);
      found += expected.length > 0 ? 1 : 0;
      ranged += expected.some(({ ranges }) => ranges.length > 1) ? 1 : 0;
      if (i % 8 === 0) {
        const matches = 1 + draw(1 + Math.ceil(counts.totalMatchCount / 3));
        const pages = await pagesOf(engine, { ...request, matches }, options);
        expect([where, joined(pages)]).toEqual([where, expected]);
        for (const { stats } of pages) expect([where, stats]).toMatchObject([where, counts]);
        const streamed: FileResult[] = [];
        for await (const event of engine.stream(request, options))
          if (event.type === "chunk") streamed.push(...event.files);
        expect([where, streamed.map(described)]).toEqual([where, expected]);
      }
    }
  }
  expect(found).toBeGreaterThan(50 * RUNS);
  expect(ranged).toBeGreaterThan(25 * RUNS);
});

test("random queries after each of several updates", async () => {
  for (let seed = 101; seed <= 100 + 2 * RUNS; seed++) {
    const draw = drawFrom(seed);
    const engine = await openEngine();
    const folder = makeRepository(randomCommits(draw, 60), temporaryFolder());
    const commits = run(folder, "rev-list", "--branches").split("\n");
    const tips = BRANCHES.map((name) => [name, commits[draw(10)]!] as const);
    for (let round = 0; round < 6; round++) {
      // branches move to any commit, so that they are also forced, deleted and made again
      for (const [name] of tips)
        if (name === "main" || draw(4) > 0)
          run(folder, "update-ref", `refs/heads/${name}`, commits[draw(commits.length)]!);
        else run(folder, "update-ref", "-d", `refs/heads/${name}`);
      await index(engine, "one", folder);
      const logged = read("one", folder);
      for (let i = 0; i < 25; i++) {
        const { asked, request } = question(draw);
        const where = `seed ${seed}, round ${round}, question ${i}: ${JSON.stringify(request)}`;
        const { files } = await engine.search(request);
        // commits with equal dates come in the order of their segments
        const sorted = (list: readonly Expected[]) =>
          list.toSorted((a, b) => (a.key < b.key ? -1 : 1));
        expect([where, sorted(files.map(described))]).toEqual([
          where,
          sorted(bruteForce([logged], asked)),
        ]);
      }
    }
    const { problems } = await engine.check();
    expect([seed, problems]).toEqual([seed, []]);
  }
});
