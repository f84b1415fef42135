import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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
  symlinkSync("x/nowhere", join(path, "link"));
});
afterAll(() => rmSync(path, { recursive: true }));

/** A peer that counts `files`, and cannot read a NUL. */
const peer = (files: Record<string, number>): Peer => ({
  name: "rg",
  version: "",
  method: "",
  index: undefined,
  words: () => [],
  count: async () => ({ matches: 0, unit: "matches" }),
  first: async () => 0,
  perFile: async () => new Map(Object.entries(files)),
  excuse({ bytes, isLink, ours, theirs }) {
    if (isLink) return `${bytes.toString()} ${ours} ${theirs}`;
    return bytes.includes(0) ? "a NUL" : undefined;
  },
  close: async () => {},
});

const dispute = (files: Record<string, number>, theirs: Count) => ({
  corpus: { name: "", path },
  question,
  peer: peer(files),
  words: [],
  theirs,
  ours: 3,
  perFile: async () => ours,
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
  [
    "of a link that points nowhere",
    { plain: 2, odd: 1, link: 5 },
    "matches",
    "8 matches: x/nowhere 0 5 (1)",
    true,
  ],
])("explains a count %s", async (...[, files, unit, text, isExplained]) => {
  const matches = Object.values(files).reduce((a, b) => a + b, 0);
  expect(await agree(dispute(files, { matches, unit }))).toEqual({ text, isExplained });
});

test("counts by file explain nothing if they do not add up to the count", async () => {
  const { text, isExplained } = await agree(dispute({ plain: 2 }, { matches: 7, unit: "matches" }));
  expect([text, isExplained]).toEqual(["7 matches: by file they are 2", false]);
});

test.each([
  [4, true],
  [2, true],
  [1, false],
  [9, false],
])("a difference in the nature of the question: %i instead of 3", async (matches, isExplained) => {
  const differs = { rg: { why: "by other rules", most: 0.35 } };
  const asked = {
    ...dispute({}, { matches, unit: "matches" }),
    question: { ...question, differs },
  };
  expect(await agree(asked)).toEqual({ text: `${matches} matches: by other rules`, isExplained });
});
