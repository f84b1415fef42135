/** Why explain() has no candidate file in a segment: the operands of the query that exclude all of them. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";

const FILES: Record<string, string> = {
  "src/app.ts": "needle alpha\n",
  "src/other.py": "eddies beta\n",
  "README.md": "gamma Nothing, ever\n",
};
let words: Engine;
beforeAll(async () => {
  words = await open(mkdtempSync(join(tmpdir(), "quern-exclusion-")), { workers: 0 });
  const files = Object.entries(FILES).map(([path, content]) => ({ path, content }));
  await words.index(documents({ name: "words", files }));
});
afterAll(async () => {
  await words.close();
  rmSync(words.path, { recursive: true, force: true });
});

const segmentsOf = async (query: string) => (await words.explain({ query, matches: 1 })).segments;

/**
 * An operand that helps to exclude all files, the number of files that it alone leaves, and those of its texts that are
 * on no page.
 */
type Told = [operand: string, files: number, ...absent: string[]];

test.each<[query: string, excludedBy: Told[]]>([
  // one operand excludes every file, and is reported with its texts that are on no page
  ["zebra", [["zebra", 0, "zebra"]]],
  ["needle zebra", [["zebra", 0, "zebra"]]],
  ["needle lang:rust", [["lang:rust", 0]]],
  ["needle file:\\.rs$", [["file:\\.rs$", 0]]],
  ["needle repo:nowhere", [["repo:nowhere", 0]]],
  ["needle -repo:words", [["-repo:words", 0]]],
  ["needle archived:only", [["archived:only", 0]]],
  ["needle fork:only", [["fork:only", 0]]],
  ["needle visibility:public", [["visibility:public", 0]]],
  ["needle reposet:a,b", [["reposet:a,b", 0]]],
  ["needle rev:other", [["rev:other", 0]]],
  ["needle -file:.", [["-file:.", 0]]],
  ["needle sym:zebra", [["sym:zebra", 0, "zebra"]]],
  ["needle ()", [['-("")', 0]]],
  // each of several operands excludes every file
  [
    "zebra lang:rust alpha",
    [
      ["zebra", 0, "zebra"],
      ["lang:rust", 0],
    ],
  ],
  // no single operand does, so a minimal set is reported
  [
    "needle lang:python",
    [
      ["needle", 1],
      ["lang:python", 1],
    ],
  ],
  [
    "file:. alpha -file:app repo:words",
    [
      ["alpha", 1],
      ["-file:app", 2],
    ],
  ],
  [
    "file:\\.(ts|md) (alpha or beta) (beta or gamma)",
    [
      ['file:"\\\\.(ts|md)"', 2],
      ["alpha or beta", 2],
      ["beta or gamma", 2],
    ],
  ],
  // a group counts as one operand
  ["(zebra or quagga) needle", [["zebra or quagga", 0, "zebra", "quagga"]]],
  ["zebra or file:nowhere", [["zebra or file:nowhere", 0, "zebra"]]],
  ["-(file:. or zebra)", [["-(file:. or zebra)", 0]]],
])("%s", async (query, excludedBy) => {
  const segments = await segmentsOf(query);
  const told = segments.map((one) =>
    one.excludedBy!.map(({ query: operand, candidateFiles, literals }) => [
      operand,
      candidateFiles,
      ...literals,
    ]),
  );
  expect(told).toEqual([excludedBy]);
});

test("if many operands exclude all files only together, all of them are reported", async () => {
  const each = Array.from({ length: 40 }, (_, i) => `(needle or word${i})`).join(" ");
  const segments = await segmentsOf(`needle lang:python ${each}`);
  expect(segments[0]!.excludedBy).toHaveLength(42);
});

test("nothing is reported about an operand that was not skipped", async () => {
  const segments = await segmentsOf("needle");
  expect(segments[0]).not.toHaveProperty("excludedBy");
});

test("a file that is not found can be requested by its path", async () => {
  const segments = await segmentsOf("file:^src/other\\.py$ eddies needle");
  expect(segments[0]!.excludedBy).toEqual([
    { query: "file:^src/other\\.py$", candidateFiles: 1, literals: [] },
    { query: "needle", candidateFiles: 1, literals: [] },
  ]);
});
