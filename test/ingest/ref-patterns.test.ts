/** Revisions named by a pattern. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { expandPatterns, matches } from "../../src/git/ref-patterns.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { git as run, read, repository } from "./listing.ts";

/** The slow twin: it tries every way to split the text. */
function slowMatches(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  const rest = pattern.slice(1);
  if (pattern[0] !== "*")
    return (
      text !== "" &&
      (pattern[0] === "?" || pattern[0] === text[0]) &&
      slowMatches(rest, text.slice(1))
    );
  return Array.from({ length: text.length + 1 }, (_, n) => text.slice(n)).some((end) =>
    slowMatches(rest, end),
  );
}

test("matches the same as trying every split", () => {
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (p, t) => {
      expect(matches(p, t)).toBe(slowMatches(p, t));
    }),
    { numRuns: 2_000 },
  );
});

const REFS = [
  "refs/heads/release-2",
  "refs/heads/release-1",
  "refs/heads/main",
  "refs/tags/v2",
  "refs/tags/v1",
  "refs/tags/main",
  "refs/remotes/origin/topic/x",
];

test.each<[asked: string[], names: string, unmatched?: string]>([
  [["main", "v1"], "main v1"],
  [["release-*"], "release-2 release-1"],
  [["v1", "v*"], "v1 v2"],
  [["m*"], "main"],
  [["*"], "main release-2 release-1 v2 v1 origin/topic/x"],
  [["v?"], "v2 v1"],
  [["origin/*"], "origin/topic/x"],
  [["refs/heads/*"], "main release-2 release-1"],
  [["refs/tags/*"], "main v2 v1"],
  [["release-1", "refs/tags/*"], "release-1 v2 v1 main"],
  [["nope-*", "main"], "main", "nope-*"],
])("%j: %s", (asked, names, unmatched) => {
  const expanded = expandPatterns(asked, REFS, "main");
  expect(expanded.names.toSorted()).toEqual(names.split(" ").toSorted());
  expect(expanded.names[0]).toBe(names.split(" ")[0]);
  expect(expanded.unmatched.join(" ")).toBe(unmatched ?? "");
});

const folder = repository({ a: "1" });
for (const name of ["release-9", "release-10", "topic"]) run(folder, "branch", name);
run(folder, "tag", "v1.0");

test.each<[string[], string[]]>([
  [["release-*"], ["release-10", "release-9"]],
  [
    ["topic", "v*"],
    ["topic", "v1.0"],
  ],
  [["refs/heads/*"], ["main", "topic", "release-10", "release-9"]],
  [["refs/tags/*"], ["main", "v1.0"]],
])("a repository's %j are %j", async (revisions, names) => {
  const listing = await read(git(folder, { revisions }));
  expect(listing.revisions.map(({ name }) => name)).toEqual(names);
});

test.each([[["nope-*"]], [["main", "nope-*"]], [["refs/nope/*", "nope"]]])(
  "%j: REVISION_NOT_FOUND",
  async (revisions) => {
    await expect(read(git(folder, { revisions }))).rejects.toMatchObject({
      code: "REVISION_NOT_FOUND",
      message: expect.stringContaining("nope") as string,
    });
  },
);
