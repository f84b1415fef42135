/** Histories over several runs: new commits, force pushes, deleted branches, deepened clones, merges of segments. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { git, type GitOptions } from "../../src/ingest/sources/git.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { commit, git as run, repository } from "../ingest/listing.ts";

async function update(engine: Engine, folder: string, options: GitOptions = {}): Promise<void> {
  const source = git(folder, { name: "made", history: true, ...options });
  await engine.index(source, { symbols: "skip", words: "skip" });
}

/** Returns `hash path` of each change with the text, sorted. */
async function changesWith(engine: Engine, query: string): Promise<string[]> {
  const { files, isSearchExhaustive } = await engine.search({ query, matches: 100_000 });
  expect(isSearchExhaustive).toBe(true);
  return files.map((one) => `${one.commit!.hash} ${one.fileName.text}`).sort();
}

function logged(folder: string, text: string, ...revisions: string[]): string[] {
  const log = run(
    folder,
    "log",
    "--no-merges",
    "-G",
    text,
    "--format=@%H",
    "--name-only",
    ...revisions,
  );
  let id = "";
  const found: string[] = [];
  for (const line of log.split("\n"))
    if (line.startsWith("@")) id = line.slice(1);
    else if (line !== "") found.push(`${id} ${line}`);
  return found.sort();
}

test("each run adds the new commits, and many small segments are merged", async () => {
  const folder = repository({ "a.txt": "needle 0\n" });
  const engine = await openEngine();
  for (let round = 1; round <= 12; round++) {
    commit(folder, { "a.txt": `needle ${round}\n`, [`b${round}.txt`]: "needle\nneedle\n" });
    await update(engine, folder);
    expect(await changesWith(engine, "type:diff needle")).toEqual(logged(folder, "needle"));
  }
  const { ok, problems } = await engine.check();
  expect(problems).toEqual([]);
  expect(ok).toBe(true);
});

test("after a force push, commits that no revision reaches are not found", async () => {
  const folder = repository({ "a.txt": "first\n" });
  const base = run(folder, "rev-parse", "HEAD");
  commit(folder, { "a.txt": "secret\n" });
  commit(folder, { "b.txt": "secret again\n" });
  const engine = await openEngine();
  await update(engine, folder);
  expect(await changesWith(engine, "type:diff secret")).toHaveLength(2);
  run(folder, "reset", "-q", "--hard", base);
  commit(folder, { "a.txt": "other\n" });
  await update(engine, folder);
  expect(await changesWith(engine, "type:diff secret")).toEqual([]);
  expect(await changesWith(engine, "type:commit rev:* m")).toHaveLength(2);
  expect(await changesWith(engine, "type:diff other")).toHaveLength(1);
});

test("each revision has its own commits, until its branch is deleted", async () => {
  const folder = repository({ "a.txt": "common\n" });
  run(folder, "checkout", "-q", "-b", "side");
  commit(folder, { "side.txt": "only here\n" });
  run(folder, "checkout", "-q", "main");
  commit(folder, { "main.txt": "only there\n" });
  const engine = await openEngine();
  await update(engine, folder, { revisions: ["main", "side"] });
  expect(await changesWith(engine, "type:diff only")).toEqual(logged(folder, "only", "main"));
  expect(await changesWith(engine, "type:diff rev:side only")).toEqual(
    logged(folder, "only", "side"),
  );
  expect(await changesWith(engine, "type:diff rev:* only")).toEqual(
    logged(folder, "only", "--all"),
  );
  await update(engine, folder, { revisions: ["main"] });
  expect(await changesWith(engine, "type:diff rev:* only")).toEqual(logged(folder, "only", "main"));
});

test("a shallow clone has no changes at its boundary, until it is deepened", async () => {
  const origin = repository({ "a.txt": "oldest word\n" });
  commit(origin, { "a.txt": "middle word\n" });
  commit(origin, { "a.txt": "newest word\n" });
  const folder = join(temporaryFolder(), "clone");
  execFileSync("git", ["clone", "-q", "--depth=2", `file://${origin}`, folder]);
  const engine = await openEngine();
  await update(engine, folder);
  expect(await changesWith(engine, "type:commit m")).toHaveLength(2);
  expect(await changesWith(engine, "type:diff word")).toHaveLength(1);
  execFileSync("git", ["-C", folder, "fetch", "-q", "--unshallow"]);
  await update(engine, folder);
  expect(await changesWith(engine, "type:commit m")).toHaveLength(3);
  expect(await changesWith(engine, "type:diff word")).toEqual(logged(origin, "word"));
});

test("a run without history drops it, and a removed repository takes its history along", async () => {
  const folder = repository({ "a.txt": "word\n" });
  const engine = await openEngine();
  await update(engine, folder);
  await update(engine, folder, { history: false });
  const search = () => engine.search({ query: "type:diff word", matches: 1 });
  await expect(search()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await update(engine, folder);
  expect(await changesWith(engine, "type:diff word")).toHaveLength(1);
  await engine.remove("made");
  await expect(search()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("limits leave out old commits", async () => {
  const folder = repository({ "a.txt": "word 1\n" });
  for (let i = 2; i <= 5; i++) commit(folder, { "a.txt": `word ${i}\n` });
  const engine = await openEngine();
  await update(engine, folder, { history: { commits: 2 } });
  expect(await changesWith(engine, "type:commit m")).toHaveLength(2);
  await update(engine, folder, { history: { since: "2030-01-01" } });
  expect(await changesWith(engine, "type:commit m")).toHaveLength(0);
  await update(engine, folder);
  expect(await changesWith(engine, "type:commit m")).toHaveLength(5);
});

test("a partial clone is rejected", async () => {
  const origin = repository({ "a.txt": "word\n" });
  run(origin, "config", "uploadpack.allowFilter", "true");
  const folder = join(temporaryFolder(), "clone");
  execFileSync("git", ["clone", "-q", "--filter=blob:none", `file://${origin}`, folder]);
  const engine = await openEngine();
  await expect(update(engine, folder)).rejects.toMatchObject({
    code: "SOURCE_UNREADABLE",
    message: expect.stringContaining("partial clone") as string,
  });
});

test("a viewer learns nothing of histories that it may not see", async () => {
  const [shown, hidden] = [
    repository({ "a.txt": "equal line\nshown\n" }),
    repository({ "b.txt": "equal line\nhidden\n" }),
  ];
  const [both, one] = [await openEngine(), await openEngine()];
  for (const engine of [both, one])
    await engine.index(git(shown, { name: "shown", history: true }), { symbols: "skip" });
  await both.index(git(hidden, { name: "hidden", history: true }), { symbols: "skip" });
  const { id } = (await both.repository("shown"))!;
  const viewer = { repositoryIds: new Set([id]) };
  for (const query of [
    "type:diff equal",
    "type:diff hidden",
    "type:commit m",
    "type:diff -file:x",
  ]) {
    const [seen, alone] = await Promise.all([
      both.search({ query, matches: 100, after: "" }, { viewer }),
      one.search({ query, matches: 100, after: "" }),
    ]);
    const { duration: _, wait: __, ...stats } = seen.stats;
    expect(seen.files).toEqual(alone.files);
    expect(alone.stats).toMatchObject(stats);
  }
  const none = both.search(
    { query: "type:diff equal", matches: 1 },
    { viewer: { repositoryIds: new Set<number>() } },
  );
  await expect(none).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("queries that the history cannot answer are rejected with a reason, and words stay words elsewhere", async () => {
  const folder = repository({ "a.txt": "type:diff is a word\nadded:x\n" });
  const engine = await openEngine();
  await update(engine, folder);
  const outcome = async (query: string, rest = {}): Promise<string> => {
    try {
      const { stats } = await engine.search({ query, matches: 10, ...rest });
      return String(stats.fileCount);
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(await outcome('"type:diff" word')).toBe("1");
  expect(await outcome("added:x")).toBe("1");
  expect(await outcome("type:diff added:word")).toBe("1");
  expect(await outcome("type:diff removed:word")).toBe("0");
  expect(await outcome("type:diff -content:word")).toBe("0");
  expect(await outcome("type:diff author:^A.<a@example")).toBe("1");
  expect(await outcome("type:diff author:nobody")).toBe("0");
  expect(await outcome("type:diff after:2024-01-02 before:2024-01-03")).toBe("1");
  expect(await outcome("type:diff after:2024-01-03")).toBe("0");
  expect(await outcome("type:diff message:m file:a")).toBe("1");
  expect(await outcome("type:diff select:commit.diff.removed word")).toBe("0");
  for (const bad of [
    "-type:diff x",
    "type:diff or x",
    "type:file x",
    "type:diff sym:x",
    "type:diff lang:go x",
    "type:commit added:x",
    "type:diff before:someday",
    'type:diff "a\nb"',
  ])
    expect([bad, await outcome(bad)]).toEqual([bad, "QUERY_SYNTAX"]);
  expect(await outcome("type:diff a\\nb", { isRegexEnabled: true })).toBe("QUERY_SYNTAX");
  expect(await outcome("type:diff word", { whole: true })).toBe("INVALID_REQUEST");
  const { query } = await engine.explain({ query: "type:diff  word", matches: 0 });
  expect(query).toBe("type:diff word");
});

test("pages have every result once, in order", async () => {
  const folder = repository({ "a.txt": "word\nword\nword\n" });
  for (let i = 0; i < 4; i++)
    commit(folder, { [`${i}.txt`]: "word word\n", "a.txt": `word ${i}\n` });
  const engine = await openEngine();
  await update(engine, folder);
  const request = { query: "type:diff word", matches: 100_000 };
  const whole = await engine.search(request);
  const spans = (files: typeof whole.files): string[] =>
    files.flatMap(({ commit: of, fileName, chunks }) =>
      chunks.flatMap(({ side, matchRanges }) =>
        matchRanges.map(({ start }) => `${of!.hash} ${fileName.text} ${side} ${start.byteOffset}`),
      ),
    );
  const paged: string[] = [];
  let after: string | undefined = "";
  while (after !== undefined) {
    const page: typeof whole = await engine.search({ ...request, matches: 2, after });
    paged.push(...spans(page.files));
    after = page.nextCursor;
  }
  expect(paged).toEqual(spans(whole.files));
  expect(paged).toHaveLength(whole.stats.totalMatchCount);
});
