import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MOST_BYTES, piecesOf } from "../../bench/corpus.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "quern-pieces-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test.each<[string, Record<string, number>, string[]]>([
  ["nothing is large", { a: 1, "b/c": MOST_BYTES }, [""]],
  ["a large file at the top", { a: MOST_BYTES + 1, "b/c": 1, "b/d/e": 1, f: 1 }, ["b", "f"]],
  [
    "one below",
    { a: 1, "b/c": MOST_BYTES + 1, "b/d": 1, "b/e/f": 1, "g/h": 1 },
    ["a", "b/d", "b/e", "g"],
  ],
  ["only large ones", { "a/b": MOST_BYTES + 1 }, []],
  ["one in .git, which nobody reads", { ".git/a": MOST_BYTES + 1, b: 1 }, [""]],
])("divides a tree with %s", (_, files, want) => {
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Buffer.alloc(bytes));
  }
  symlinkSync(folder, join(folder, "link"));
  expect(
    piecesOf(folder)
      .map((piece) => relative(folder, piece))
      .toSorted(),
  ).toEqual(want);
});
