/**
 * Compares queries of the history with git, for a repository: patterns with `git log -G`, words of messages with
 * `git log --grep`, and authors and dates with `git log --author --since-as-filter --until`. The patterns come from
 * lines and messages of the repository itself. Prints each query with another result, and the numbers of equal ones.
 *
 *     node --import tsx scripts/compare-queries.ts REPOSITORY [COUNT] [SEED]
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git, open, type Engine } from "../src/index.ts";
import { quote } from "../src/query/ast.ts";
import { pureEnvironment } from "./pure-git.ts";

const ALL = 1_000_000_000;
const empty = mkdtempSync(join(tmpdir(), "quern-empty-"));

function log(folder: string, args: readonly string[]): string {
  const env = { ...pureEnvironment(folder, empty), LC_ALL: "C" };
  const settings = ["core.attributesFile=/dev/null", "core.bigFileThreshold=2097152"];
  return execFileSync(
    "git",
    [...settings.flatMap((one) => ["-c", one]), "log", "--no-mailmap", ...args, "HEAD"],
    {
      cwd: empty,
      env,
      maxBuffer: 2 ** 30,
      encoding: "latin1",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
}

/** Returns numbers from 0 up to 1. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

interface Comparison {
  readonly name: string;
  readonly query: string;
  readonly isRegex?: boolean;
  readonly isCaseSensitive?: boolean;
  readonly expected: () => string[];
}

function* comparisons(folder: string, count: number, seed: number): Generator<Comparison> {
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const ascii = /^[\x20-\x7e]{3,200}$/;
  const lines = log(folder, ["-p", "--no-merges", "--format="])
    .split("\n")
    .filter((line) => /^[+-][^+-]/.test(line) && ascii.test(line))
    .map((line) => line.slice(1).trim());
  const commits = log(folder, ["--format=%an <%ae>%x00%ct%x00%B%x00%x01"])
    .split("\x01")
    .filter((one) => one.includes("\0"))
    .map((one) => one.replace(/^\n/, "").split("\0") as [string, string, string]);
  const escaped = (text: string): string => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  for (let i = 0; i < count; i++) {
    const line = pick(lines);
    const words = line.match(/\w{2,}/g) ?? ["the"];
    const from = Math.floor(random() * Math.max(1, line.length - 8));
    const piece = line.slice(from, from + 4 + Math.floor(random() * 20)).trim() || "the";
    const [pattern, isRegex] = pick<readonly [string, boolean]>([
      [piece, false],
      [pick(words), false],
      [`^\\s*${escaped(pick(words))}`, true],
      [`${escaped(line.slice(-6))}$`, true],
      [`${escaped(words[0]!)}.*${escaped(words.at(-1)!)}`, true],
      [`\\b${escaped(pick(words))}\\b`, true],
      [
        `(${escaped(pick(words))}|${escaped(pick(pick(lines).match(/\w{2,}/g) ?? ["a"]))})\\(`,
        true,
      ],
    ]);
    yield {
      name: "-G",
      query: `type:diff ${quote(pattern)}`,
      isRegex,
      isCaseSensitive: true,
      expected: () => changesOf(folder, isRegex ? pattern : escaped(pattern)),
    };
  }
  for (let i = 0; i < count; i++) {
    const [, , message] = pick(commits);
    const word = pick(message.match(/[!-~]{3,}/g) ?? ["the"]);
    yield {
      name: "--grep",
      query: `type:commit ${quote(word)}`,
      expected: () => idsOf(folder, ["-F", "-i", `--grep=${word}`]),
    };
  }
  for (let i = 0; i < count; i++) {
    const [author, date] = pick(commits);
    const [, other] = pick(commits);
    const name = pick(author.match(/[!-~]{2,}/g) ?? ["a"]);
    const [since, until] = [date, other].map(Number).sort((a, b) => a - b) as [number, number];
    const iso = (seconds: number): string => new Date(1000 * seconds).toISOString().slice(0, 19);
    yield {
      name: "dates and authors",
      query: `type:commit author:${quote(escaped(name))} after:${iso(since)}Z before:${iso(until)}Z`,
      expected: () =>
        idsOf(folder, [
          "-F",
          "-i",
          `--author=${name}`,
          `--since-as-filter=@${since}`,
          `--until=@${until}`,
        ]),
    };
  }
}

const idsOf = (folder: string, args: readonly string[]): string[] =>
  log(folder, [...args, "--format=%H"])
    .split("\n")
    .filter((id) => id !== "");

/** Lists `commit path`. Changes of type are left out, because git compares both types, and shows them one by one. */
function changesOf(folder: string, pattern: string): string[] {
  const fields = log(folder, [
    `-G${pattern}`,
    "--no-merges",
    "-M",
    "-l1000",
    "--diff-filter=t",
    "--name-only",
    "-z",
    "--format=%x01%H",
  ]).split("\0");
  let commit = "";
  const found: string[] = [];
  for (const field of fields) {
    const text = field.replace(/^\n/, "");
    if (text.startsWith("\x01")) commit = text.slice(1);
    else if (text !== "") found.push(`${commit} ${Buffer.from(text, "latin1").toString()}`);
  }
  return found;
}

async function answerOf(engine: Engine, one: Comparison, typeChanges: ReadonlySet<string>) {
  const { files } = await engine.search({
    query: one.query,
    isRegexEnabled: one.isRegex ?? false,
    isCaseSensitivityEnabled: one.isCaseSensitive ?? false,
    matches: ALL,
    matchesPerFile: 1,
  });
  if (one.name !== "-G") return files.map(({ commit }) => commit!.hash);
  return files
    .map(({ commit, fileName }) => `${commit!.hash} ${fileName.text}`)
    .filter((key) => !typeChanges.has(key));
}

async function main([folder = ".", count = "50", seed = "1"]: readonly string[]): Promise<void> {
  const index = mkdtempSync(join(tmpdir(), "quern-compare-"));
  try {
    const engine = await open(index, { workers: 2, warmUp: false });
    await engine.index(git(folder, { history: true }), { symbols: "skip", words: "skip" });
    const typeChanges = new Set(
      log(folder, ["--diff-filter=T", "--name-only", "--no-merges", "--format=%x01%H"])
        .split("\x01")
        .flatMap((one) => {
          const [id, ...paths] = one.split("\n").filter((line) => line !== "");
          return paths.map((path) => `${id} ${path}`);
        }),
    );
    const totals = new Map<string, { equal: number; all: number; results: number }>();
    for (const one of comparisons(folder, Number(count), Number(seed))) {
      const total = totals.get(one.name) ?? { equal: 0, all: 0, results: 0 };
      totals.set(one.name, total);
      const ours = (await answerOf(engine, one, typeChanges)).sort();
      const theirs = one.expected().sort();
      total.all++;
      total.results += theirs.length;
      if (ours.join("\n") === theirs.join("\n")) total.equal++;
      else {
        process.exitCode = 1;
        const [extra, lost] = [
          ours.filter((key) => !theirs.includes(key)),
          theirs.filter((key) => !ours.includes(key)),
        ];
        console.log(`${one.name} ${one.query}: ${ours.length} here, ${theirs.length} in git`);
        console.log(`  extra ${extra.slice(0, 2).join()}  lost ${lost.slice(0, 2).join()}`);
      }
    }
    for (const [name, { equal, all, results }] of totals)
      console.log(`${folder} ${name}: ${equal} of ${all} equal, ${results} results`);
    await engine.close();
  } finally {
    rmSync(index, { recursive: true });
    rmSync(empty, { recursive: true });
  }
}

await main(process.argv.slice(2));
