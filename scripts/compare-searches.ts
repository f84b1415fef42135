/**
 * Compares all kinds of searches with those of another build, such as that of an older commit:
 *
 *     npx tsx scripts/compare-searches.ts FOLDER (--commit COMMIT | --engine DIST/INDEX.JS) [--searches N] [--seed N]
 *
 * Both engines index FOLDER into directories of their own, with one worker, so that both divide it into the same
 * segments. Then they answer the same random searches. Their answers must be equal in files, order and counters, except
 * for times. Where `maxBytes` ends an answer depends on which thread is faster, so it is not set. Exits with 1 at the first difference, and prints the request. `--commit` builds the commit first. Run
 * `npm run build` before, because this compares packages. `--index` and `--other` name indexes that exist already.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { filesOf } from "../bench/corpus.ts";
import { randomNumbers } from "../bench/generated.ts";
import type { Library } from "../bench/quern.ts";
import type { Engine, FileResult, SearchOptions, SearchRequest } from "../src/index.ts";

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commit: { type: "string" },
    engine: { type: "string" },
    index: { type: "string" },
    other: { type: "string" },
    searches: { type: "string", default: "2000" },
    seed: { type: "string", default: "1" },
  },
});
const [given] = positionals;
if (given === undefined) throw new Error("name a folder");
const folder = resolve(given);
const root = fileURLToPath(new URL("..", import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), "quern-compare-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

/** Builds a commit in a temporary worktree. Returns the entry of its package. */
function buildCommit(commit: string): string {
  const place = join(temporary, "commit");
  execFileSync("git", ["clone", "-q", root, place]);
  execFileSync("git", ["checkout", "-q", commit], { cwd: place });
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  execFileSync("npm", ["run", "build"], { cwd: place, stdio: ["ignore", "ignore", "inherit"] });
  return join(place, "dist/index.js");
}

/** Opens an engine on an index of the folder. The limit of memory makes several segments of a folder of 100 MB. */
async function openBuild(entry: string, existing: string | undefined): Promise<Engine> {
  const library = (await import(pathToFileURL(entry).href)) as Library;
  if (existing !== undefined) return library.open(existing, { workers: 2, readOnly: true });
  const path = mkdtempSync(join(temporary, "index-"));
  const writer = await library.open(path, { workers: 1, memoryBudget: 32 * 2 ** 20 });
  await writer.index(library.directory(folder, { name: "all", gitignore: false }), {});
  const part = join(
    folder,
    readdirSync(folder, { withFileTypes: true }).find((one) => one.isDirectory())!.name,
  );
  await writer.index(library.directory(part, { name: "part", gitignore: false }), {});
  await writer.close();
  return library.open(path, { workers: 2, readOnly: true });
}

const random = randomNumbers(Number(flags.seed));
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
const isLikely = (share: number): boolean => random() < share;

const paths = [...filesOf(folder)];
let text = "";

/** Returns a piece of the text of a file, from one line. Changes the file from time to time. */
function piece(): string {
  if (text === "" || isLikely(0.2)) text = readFileSync(pick(paths), "latin1");
  const lines = text.split("\n").filter((line) => line.length > 3);
  if (lines.length === 0) return "the";
  const line = pick(lines);
  const at = below(line.length - 2);
  return line.slice(at, at + 1 + below(12));
}

const word = (): string => /[A-Za-z_]\w*/.exec(piece())?.[0] ?? "int";
const inQuotes = (one: string): string => `"${one.replaceAll(/[\\"]/g, "\\$&")}"`;
const escaped = (one: string): string => one.replaceAll(/[^\w]/g, "\\$&");

/** Returns a term of a query. */
function term(isRegex: boolean): string {
  const way = below(isRegex ? 12 : 9);
  if (way < 3) return word();
  if (way < 5) return isRegex ? escaped(word()) : inQuotes(piece());
  if (way === 5) return `file:${escaped(/[^/]+$/.exec(pick(paths))![0].slice(0, 1 + below(8)))}`;
  if (way === 6) return `lang:${pick(["c", "python", "shell", "markdown", "text", "rust"])}`;
  if (way === 7) return `sym:${isLikely(0.5) ? `^${word()}$` : word()}`;
  if (way === 8) return `repo:${pick(["all", "part", "a"])}`;
  if (way === 9) return `${escaped(word())}\\w*`;
  return `${escaped(word())}${pick(["\\b", ".*;", "\\(", "[a-z]+", "|" + escaped(word())])}`;
}

function query(isRegex: boolean): string {
  const terms = Array.from({ length: 1 + below(isLikely(0.5) ? 1 : 3) }, () => {
    const one = term(isRegex);
    return isLikely(0.12) ? `-(${one})` : one;
  });
  return terms.join(isLikely(0.2) ? " or " : " ");
}

function request(): SearchRequest {
  const isRegexEnabled = isLikely(0.25);
  return {
    query: query(isRegexEnabled),
    matches: pick([0, 1, 7, 50, 50, 50, 500]),
    isRegexEnabled,
    ...(isLikely(0.2) && { isCaseSensitivityEnabled: true }),
    ...(isLikely(0.2) && { matchesPerFile: pick([1, 3]) }),
    ...(isLikely(0.2) && { contextLines: pick([1, 3]) }),
    ...(isLikely(0.1) && { enclosing: true }),
    ...(isLikely(0.03) && { whole: true }),
    ...(isLikely(0.1) && { facets: 5 }),
    ...(isLikely(0.15) && { after: "" }),
  };
}

function options(): SearchOptions {
  return isLikely(0.9) ? {} : { viewer: { repositoryIds: new Set([pick([1, 2])]) } };
}

/** Resolves to everything in an answer except times, or to the error. Cursors contain the order of pages. */
async function answer(engine: Engine, asked: SearchRequest, how: SearchOptions): Promise<unknown> {
  try {
    const { stats, ...rest } = await engine.search(asked, how);
    const times = { duration: 0, wait: 0, matchTreeConstruction: 0, matchTreeSearch: 0 };
    return { ...rest, counters: { ...stats, ...times } };
  } catch (error) {
    return String(error);
  }
}

/** Resolves to the files of a stream by their paths, and to its final counters. */
async function streamed(engine: Engine, asked: SearchRequest): Promise<unknown> {
  const files: FileResult[] = [];
  let total = 0;
  for await (const event of engine.stream(asked)) {
    if (event.type === "chunk") files.push(...event.files);
    else total = event.accumulatedStats.totalMatchCount;
  }
  const key = ({ repository, fileName }: FileResult) => `${repository}/${fileName.text}`;
  return { total, files: files.sort((a, b) => (key(a) < key(b) ? -1 : 1)) };
}

const other = flags.engine ?? (flags.commit === undefined ? undefined : buildCommit(flags.commit));
if (other === undefined) throw new Error("name a commit or an engine");
const engines = [
  await openBuild(join(root, "dist/index.js"), flags.index),
  await openBuild(other, flags.other),
] as const;
let [matched, streams] = [0, 0];
for (let i = 0; i < Number(flags.searches); i++) {
  const [asked, how] = [request(), options()];
  const [own, theirs] = [
    await answer(engines[0], asked, how),
    await answer(engines[1], asked, how),
  ];
  if (!isDeepStrictEqual(own, theirs)) {
    console.log(`search ${i} differs: ${JSON.stringify(asked)}`, how, own, theirs);
    process.exit(1);
  }
  if ((own as { counters?: { fileCount: number } }).counters?.fileCount) matched++;
  if (i % 10 > 0 || asked.after !== undefined || asked.facets !== undefined) continue;
  streams++;
  const whole = { ...asked, matches: 100_000, contextLines: 0, whole: false };
  const { totalMatchCount } = (await engines[1].search({ ...asked, matches: 0 })).stats;
  if (totalMatchCount > 50_000) continue;
  if (!isDeepStrictEqual(await streamed(engines[0], whole), await streamed(engines[1], whole))) {
    console.log(`stream ${i} differs: ${JSON.stringify(whole)}`);
    process.exit(1);
  }
}
console.log(`${flags.searches} searches are equal; ${matched} found something; ${streams} streams`);
for (const engine of engines) await engine.close();
process.exit(0);
