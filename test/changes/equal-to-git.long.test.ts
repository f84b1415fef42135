/** Every change of generated histories equals what git log shows, and so do the results of patterns. */

import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { awkwardHistory, drawFrom, makeRepository, randomHistory } from "../history/generated.ts";
import { RUNS } from "../runs.ts";
import { logChanges, logCommits, pureGit, type LogChange } from "./git-log.ts";

const ALL = 1_000_000_000;
const utf8 = (bytes: string): string => Buffer.from(bytes, "latin1").toString();

async function indexed(folder: string): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(git(folder, { name: "made", history: true, revisions: ["*"] }), {
    symbols: "skip",
    words: "skip",
  });
  return engine;
}

/** Shows the lines of a result as `side line: text`. */
function shownLines({ chunks }: FileResult): string[] {
  return chunks.flatMap(({ content, contentStart, side }) =>
    content
      .replace(/\n$/, "")
      .split("\n")
      .map((text, i) => `${side} ${contentStart.lineNumber + i}: ${text}`),
  );
}

const loggedLines = ({ lines }: LogChange): string[] =>
  lines.map(({ side, line, text }) => `${side} ${line}: ${utf8(text)}`);

const keyOf = ({ commit, fileName }: FileResult): string => `${commit!.hash} ${fileName.text}`;

/** Sorts the log as the index orders results. The sort is stable, so equal dates stay in the order of git log. */
const newestFirst = (changes: readonly LogChange[]): LogChange[] =>
  changes.toSorted((a, b) => b.commit.date - a.commit.date);

async function expectAllEqual(folder: string): Promise<void> {
  const engine = await indexed(folder);
  const logged = newestFirst(logChanges(folder, ["--all"]));
  const listed = await engine.search({ query: "type:diff rev:*", matches: ALL });
  expect(listed.files.map(keyOf)).toEqual(
    logged.map(({ commit, path }) => `${commit.id} ${utf8(path)}`),
  );
  const { files, stats } = await engine.search({
    query: "type:diff rev:* ^",
    matches: ALL,
    isRegexEnabled: true,
  });
  const withLines = logged.filter(({ lines }) => lines.length > 0);
  expect(files.map((file) => [keyOf(file), shownLines(file)])).toEqual(
    withLines.map((one) => [`${one.commit.id} ${utf8(one.path)}`, loggedLines(one)]),
  );
  expect(stats.totalMatchCount).toBe(withLines.reduce((sum, { lines }) => sum + lines.length, 0));
  expect(stats.fileCount).toBe(withLines.length);
  const commits = await engine.search({ query: "type:commit rev:*", matches: ALL });
  expect(commits.files.map(({ commit }) => [commit!.hash, commit!.message.trimEnd()])).toEqual(
    logCommits(folder, ["--all"])
      .toSorted((a, b) => b.date - a.date)
      .map(({ id, message }) => [id, message.trimEnd()]),
  );
}

test("every line, side, line number and order of an awkward history", async () => {
  await expectAllEqual(makeRepository(awkwardHistory(), temporaryFolder()));
});

test("every line of random histories", async () => {
  for (let seed = 1; seed <= 3 * RUNS; seed++) {
    const made = makeRepository(randomHistory(drawFrom(seed), 60), temporaryFolder());
    await expectAllEqual(made).catch((error: unknown) => {
      throw new Error(`seed ${seed}`, { cause: error });
    });
  }
});

const PATTERNS = [
  "call",
  "line 1",
  "one$",
  "^t",
  "[^a-z ]line",
  "x\\s*$",
  "more\\(\\)",
  "ünï",
  "(one|two)",
];

test.each(PATTERNS)("the changes of %s are those of git log -G", async (pattern) => {
  const folder = makeRepository(awkwardHistory().slice(0, 9), temporaryFolder());
  const engine = await indexed(folder);
  const { files } = await engine.search({
    query: `type:diff rev:* "${pattern.replaceAll("\\", "\\\\")}"`,
    matches: ALL,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  });
  const args = ["-G", pattern, "--all", "--no-merges", "-M", "--format=@%H", "--name-only", "-z"];
  const log = pureGit(folder, ["log", "-E", ...args])
    .toString("latin1")
    .split("\0");
  const expected: string[] = [];
  let commit = "";
  for (const field of log) {
    const text = field.replace(/^\n/, "");
    if (text.startsWith("@")) commit = text.slice(1, 41);
    else if (text !== "") expected.push(`${commit} ${utf8(text)}`);
  }
  // git compares both types of a file that becomes a link, but its patch shows them one after the other
  const isCompared = (key: string): boolean => !key.endsWith(" turns.txt");
  expect(files.map(keyOf).filter(isCompared).sort()).toEqual(expected.filter(isCompared).sort());
});

test("an ordinary search sees nothing of the history", async () => {
  const folder = makeRepository(awkwardHistory().slice(0, 9), temporaryFolder());
  const [engine, plain] = [await indexed(folder), await openEngine()];
  await plain.index(git(folder, { name: "made", revisions: ["*"] }), {
    symbols: "skip",
    words: "skip",
  });
  for (const query of ["line", "rev:* old", "file:txt"]) {
    const [one, other] = await Promise.all(
      [engine, plain].map((each) => each.search({ query, matches: ALL })),
    );
    expect(one!.files).toEqual(other!.files);
    expect(one!.stats.totalMatchCount).toBe(other!.stats.totalMatchCount);
  }
});
