/** Every change of generated histories equals what git log shows, and so do the results of patterns. */

import { expect, test } from "vitest";
import { git } from "../../src/ingest/sources/git.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { awkwardHistory, drawFrom, makeRepository, randomHistory } from "../history/generated.ts";
import { RUNS, someOf } from "../runs.ts";
import { ALL, expectAllEqual, indexed, keyOf, utf8 } from "./compared.ts";
import { pureGit } from "./git-log.ts";

test("every line, side, line number and order of an awkward history", async () => {
  await expectAllEqual(makeRepository(awkwardHistory(), temporaryFolder()));
});

test("every line of random histories", async () => {
  for (let seed = 1; seed <= 2 * RUNS; seed++) {
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

test.each(someOf(PATTERNS, 3))("the changes of %s are those of git log -G", async (pattern) => {
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
