import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { agree } from "../../bench/agreement.ts";
import type { Count, Peer } from "../../bench/peer.ts";
import { readQuestions, type Question } from "../../bench/queries.ts";

const [question] = readQuestions(new URL("../../bench/queries.json", import.meta.url)) as [
  Question,
];
let path: string;

beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), "quern-agreement-"));
  writeFileSync(join(path, "plain"), "x x\n");
  writeFileSync(join(path, "odd"), "x\0\n");
});

/** A peer that counts `files`, and cannot read a NUL. */
const peer = (files: Record<string, number>): Peer => ({
  name: "rg",
  version: "",
  method: "",
  index: undefined,
  words: () => [],
  count: async () => ({ matches: 0, unit: "matches" }),
  first: async () => {},
  perFile: async () => new Map(Object.entries(files)),
  mostPerFile: Infinity,
  excuse: ({ bytes }) => (bytes.includes(0) ? "a NUL" : undefined),
  close: async () => {},
});

const ours = [
  { path: "plain", matches: 2, lines: 1 },
  { path: "odd", matches: 1, lines: 1 },
];

test.each<[string, Record<string, number>, Count["unit"], string, boolean]>([
  ["equal", { plain: 2, odd: 1 }, "matches", "equal", true],
  ["equal in lines", { plain: 1, odd: 1 }, "lines", "equal", true],
  ["without the odd file", { plain: 2 }, "matches", "2 matches: a NUL (1)", true],
  [
    "without the plain file",
    { odd: 1 },
    "matches",
    "1 matches: unexplained: plain (quern 2, 0)",
    false,
  ],
  ["neither", {}, "matches", "0 matches: a NUL (1); unexplained: plain (quern 2, 0)", false],
  [
    "fewer in a file",
    { plain: 1, odd: 1 },
    "matches",
    "2 matches: unexplained: plain (quern 2, 1)",
    false,
  ],
])("a count that is %s", async (...[, files, unit, text, isExplained]) => {
  const matches = Object.values(files).reduce((a, b) => a + b, 0);
  const dispute = {
    corpus: { name: "", path },
    question,
    peer: peer(files),
    words: [],
    theirs: { matches, unit },
    ours: 3,
    perFile: async () => ours,
  };
  expect(await agree(dispute)).toEqual({ text, isExplained });
});
