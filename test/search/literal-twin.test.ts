/**
 * The search for one literal in the kernel answers what its slow twin answers, which tries every place of every file. The
 * twin takes scores from score.ts, and lines and columns from the oracle.
 */

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { foldText } from "../../src/kernel/folding.ts";
import { MARGIN } from "../../src/kernel/job.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { LiteralRun } from "../../src/search/thread/literal/literal-run.ts";
import { LiteralWork } from "../../src/search/thread/literal/literal-work.ts";
import {
  atomScore,
  languageScore,
  pathFit,
  scoreOf,
} from "../../src/search/thread/ranking/score.ts";
import { LAYOUT } from "../../src/store/format/format.ts";
import { openEngine, SMALL_LAYOUT } from "../engine/opened.ts";
import { chunksOf } from "../oracle/positions.ts";
import type { Span } from "../oracle/re2.ts";
import { spansOfLiteral } from "../oracle/spans.ts";
import { RUNS } from "../runs.ts";

interface Asked {
  readonly literal: string;
  readonly caseSensitive: boolean;
  readonly matches: number;
  readonly contextLines: number;
}

type Files = ReadonlyMap<string, Buffer>;

/** Rates the end of a match between two bytes, as docs/ranking.md says. */
function edge(left: number | undefined, right: number | undefined): number {
  if (left === undefined || right === undefined) return 2;
  const [a, b] = [String.fromCharCode(left), String.fromCharCode(right)];
  const isWord = (char: string) => /[\w\x80-\xff]/.test(char);
  if (!isWord(a) || !isWord(b)) return 2;
  if (a === "_" || b === "_" || (/[a-z]/.test(a) && /[A-Z]/.test(b))) return 1;
  return /\d/.test(a) === /\d/.test(b) ? 0 : 1;
}

const edgesOf = (text: Buffer, { start, end }: Span): number =>
  edge(text[start - 1], text[start]) + edge(text[end - 1], text[end]);

/** Returns the answer: the counts, and the shown files in order. */
function twin(files: Files, { literal, caseSensitive, matches, contextLines }: Asked) {
  const found = Array.from(files, ([path, bytes]) => {
    const spans = spansOfLiteral(literal, caseSensitive, bytes);
    const best = Math.max(0, ...spans.map((span) => edgesOf(bytes, span)));
    const fit = atomScore(best, 0, pathFit(path.toLowerCase(), foldText(literal)));
    const language = languageScore("Text");
    const [flags, rank, distance] = [0, 0.5, -1];
    const score = scoreOf({ fit, count: spans.length, flags, language, rank, distance });
    return { path, bytes, spans, score };
  }).filter(({ spans }) => spans.length > 0);
  found.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  let left = matches;
  const shown = found.flatMap(({ path, bytes, spans }) => {
    const some = spans.slice(0, left);
    left -= some.length;
    const chunks = chunksOf({ bytes }, some, { contextLines, enclosing: false });
    return some.length === 0 ? [] : [{ path, chunks }];
  });
  const total = found.reduce((sum, { spans }) => sum + spans.length, 0);
  return { fileCount: found.length, total, shown };
}

/** Words that contain each other, and letters whose case has forms beyond ASCII. */
const WORDS = [
  "task",
  "Task_",
  "TASKS",
  "tas\u212a",
  "ta\u017fk",
  "ask",
  "kk",
  "É",
  "ünd",
  "1task2",
];
const piece = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...WORDS, " ", "\n", "\t", "_", "x") },
  { weight: 1, arbitrary: fc.constantFrom("\ud83d\ude00", "\x80", "y".repeat(300), "\n\n\n") },
);
/** A text. The character \x80 stands for the byte 0x80, which is no UTF-8 by itself. */
const text = fc
  .record({ pieces: fc.array(piece, { maxLength: 60 }), times: fc.constantFrom(1, 1, 1, 7, 40) })
  .map(({ pieces, times }) =>
    Buffer.concat(
      Array.from(pieces.join("").repeat(times), (char) =>
        char === "\x80" ? Buffer.of(0x80) : Buffer.from(char),
      ),
    ),
  );
const path = fc.constantFrom(
  "a",
  "task",
  "b/Task",
  "c/tasks",
  "d/x_task/y",
  "e.task",
  "f",
  "g",
  "h",
);
const nameFile = ([name, bytes]: readonly [string, Buffer]) => [`${name}.txt`, bytes] as const;
const state = fc.record({
  files: fc
    .array(fc.tuple(path, text), { minLength: 1, maxLength: 9 })
    .map((all): Files => new Map([...all, ["copy", all[0]![1]] as const].map(nameFile))),
  asked: fc.array(
    fc.record({
      literal: fc.constantFrom(
        "task",
        "TASK",
        "ask",
        "task_",
        "kkk",
        "tasktask",
        "k\nt",
        "sk\n",
        "absent",
        "tas\u212a",
        "\u017fk",
      ),
      caseSensitive: fc.boolean(),
      matches: fc.constantFrom(0, 1, 3, 50, 1000),
      contextLines: fc.constantFrom(0, 0, 1, 4),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/**
 * Writes letters around each text that the kernel reads, because it must not depend on what an earlier search has left
 * there.
 */
function spoilAround(): void {
  let bytes!: Uint8Array;
  const begin = LiteralRun.begin.bind(LiteralRun);
  vi.spyOn(LiteralRun, "begin").mockImplementation((query, options) => {
    bytes = options.tools.room!.bytes;
    return begin(query, options);
  });
  const { value } = Object.getOwnPropertyDescriptor(LiteralWork.prototype, "readText")!;
  const readText = value as (this: LiteralWork, from: number, to: number, at: number) => void;
  vi.spyOn(LiteralWork.prototype, "readText").mockImplementation(function (
    this: LiteralWork,
    from,
    to,
    at,
  ) {
    const end = at + to - from;
    for (const [first, last] of [
      [at - 1, at],
      [end, end + MARGIN],
    ])
      bytes.fill("k".charCodeAt(0), first, last);
    readText.call(this, from, to, at);
  });
}

test.each([
  ["pages of 4 KiB", LAYOUT],
  ["small pages", SMALL_LAYOUT],
])("any text and literal: %s", async (_, layout) => {
  const step = vi.spyOn(LiteralWork.prototype, "step");
  spoilAround();
  const engine = await openEngine({ internals: { layout } });
  const check = async ({ files, asked }: { files: Files; asked: readonly Asked[] }) => {
    const all = Array.from(files, ([name, content]) => ({ path: name, content }));
    await engine.index(documents({ name: "all", files: all }));
    for (const one of asked) {
      const { literal, caseSensitive, matches, contextLines } = one;
      const query = JSON.stringify(literal).replace("\\n", "\n");
      const flags = { isCaseSensitivityEnabled: caseSensitive, matches, contextLines };
      const answer = await engine.search({ query, ...flags });
      const shown = answer.files.map(({ fileName, chunks }) => ({ path: fileName.text, chunks }));
      const { fileCount, totalMatchCount: total } = answer.stats;
      expect({ fileCount, total, shown }).toEqual(twin(files, one));
    }
  };
  await fc.assert(fc.asyncProperty(state, check), { numRuns: 25 * RUNS });
  expect(step.mock.calls.length).toBeGreaterThan(20); // the kernel has searched
  vi.restoreAllMocks();
});

test("a text that is longer than what is read at once, with matches around the ends of its pieces", async () => {
  const engine = await openEngine();
  const long = Buffer.alloc(900_000, "tas ");
  for (let at = 262_138; at < long.length - 8; at += 262_139) long.write("task_task", at);
  long.write("TAS\u212a", 500_000);
  const files = new Map([
    ["long.txt", long],
    ["short.txt", Buffer.from("a task\n")],
  ]);
  const all = Array.from(files, ([name, content]) => ({ path: name, content }));
  await engine.index(documents({ name: "all", files: all }));
  for (const caseSensitive of [true, false]) {
    const { stats } = await engine.search({
      query: '"task"',
      matches: 0,
      isCaseSensitivityEnabled: caseSensitive,
    });
    const expected = Array.from(files.values(), (one) =>
      spansOfLiteral("task", caseSensitive, one),
    );
    expect(stats.totalMatchCount).toBe(expected.flat().length);
  }
});

test("a match around the end of a page whose neighbours are no candidates", async () => {
  spoilAround();
  const engine = await openEngine({ internals: { layout: SMALL_LAYOUT } });
  const { pageBytes } = SMALL_LAYOUT;
  // its match is better than that of the other file, which comes first by its path
  const other = Buffer.from("x_task_x\n");
  for (let offset = -8; offset <= 8; offset++) {
    const text = Buffer.alloc(9 * pageBytes, "y\n");
    text.write("\ntask\n", 4 * pageBytes + offset);
    const files = new Map([
      ["a.txt", other],
      ["b.txt", text],
    ]);
    const all = Array.from(files, ([name, content]) => ({ path: name, content }));
    await engine.index(documents({ name: "all", files: all }));
    for (const caseSensitive of [true, false]) {
      const asked = { literal: "task", caseSensitive, matches: 9, contextLines: 1 };
      const flags = { isCaseSensitivityEnabled: caseSensitive, matches: 9, contextLines: 1 };
      const answer = await engine.search({ query: "task", ...flags });
      const shown = answer.files.map(({ fileName, chunks }) => ({ path: fileName.text, chunks }));
      const { fileCount, totalMatchCount: total } = answer.stats;
      expect({ fileCount, total, shown }, `${offset}`).toEqual(twin(files, asked));
    }
  }
  vi.restoreAllMocks();
});
