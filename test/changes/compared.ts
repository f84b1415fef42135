/** Indexes the history of a repository, and compares all of it with what git log shows. */

import { expect } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { openEngine } from "../engine/opened.ts";
import { logChanges, logCommits, type LogChange } from "./git-log.ts";

/** More than all ranges of a history. */
export const ALL = 1_000_000_000;

export const utf8 = (bytes: string): string => Buffer.from(bytes, "latin1").toString();

export async function indexed(folder: string): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(git(folder, { name: "made", history: true, revisions: ["*"] }), {
    symbols: "skip",
    words: "skip",
  });
  return engine;
}

/** Shows the lines of a result as `side line: text`. */
export function shownLines({ chunks }: FileResult): string[] {
  return chunks.flatMap(({ content, contentStart, side }) =>
    content
      .replace(/\n$/, "")
      .split("\n")
      .map((text, i) => `${side} ${contentStart.lineNumber + i}: ${text}`),
  );
}

const loggedLines = ({ lines }: LogChange): string[] =>
  lines.map(({ side, line, text }) => `${side} ${line}: ${utf8(text)}`);

export const keyOf = ({ commit, fileName }: FileResult): string =>
  `${commit!.hash} ${fileName.text}`;

/** Sorts the log as the index orders results. The sort is stable, so equal dates stay in the order of git log. */
const newestFirst = (changes: readonly LogChange[]): LogChange[] =>
  changes.toSorted((a, b) => b.commit.date - a.commit.date);

/** Compares all changes, their lines, and all commits, of all revisions. */
export async function expectAllEqual(folder: string): Promise<void> {
  await expectEqual(await indexed(folder), folder);
}

export async function expectEqual(engine: Engine, folder: string): Promise<void> {
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
