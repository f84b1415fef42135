import fc from "fast-check";
import { expect, test } from "vitest";
import { partsOf, type Mark } from "../../src/page/frame/marks.ts";
import { linesOf, withoutIndentation } from "../../src/page/search/lines.ts";
import { widen } from "../../src/page/search/widen.ts";
import type { Chunk } from "../../src/page/wire/answers.ts";

const at = (lineNumber: number, column: number) => ({ lineNumber, column });
const show = (chunk: Chunk): string[] =>
  linesOf(chunk).map(
    ({ number, text, marks, symbol }) =>
      `${number} ${partsOf(text, marks)
        .map(({ text: part, marked }) => (marked ? `[${part}]` : part))
        .join("")}${symbol ? ` ${symbol.kind}` : ""}`,
  );

test.each<[string, Chunk, string[]]>([
  [
    "a line",
    {
      content: "a needle\n",
      contentStart: at(3, 1),
      matchRanges: [{ start: at(3, 3), end: at(3, 9) }],
    },
    ["3 a [needle]"],
  ],
  [
    "columns in code points",
    {
      content: "😀😀x\n",
      contentStart: at(1, 1),
      matchRanges: [{ start: at(1, 2), end: at(1, 4) }],
    },
    ["1 😀[😀x]"],
  ],
  [
    "a range over several lines",
    {
      content: "ab\ncd\nef\n",
      contentStart: at(7, 1),
      matchRanges: [{ start: at(7, 2), end: at(9, 2) }],
    },
    ["7 a[b]", "8 [cd]", "9 [e]f"],
  ],
  [
    "a window of a long line",
    {
      content: "xneedle",
      contentStart: at(1, 501),
      matchRanges: [{ start: at(1, 502), end: at(1, 508) }],
    },
    ["1 x[needle]"],
  ],
  [
    "line ends of Windows",
    { content: "a\r\nb\r\n", contentStart: at(1, 1), matchRanges: [] },
    ["1 a", "2 b"],
  ],
  [
    "a definition",
    {
      content: "x\nfunction parse() {}\n",
      contentStart: at(1, 1),
      matchRanges: [{ start: at(2, 10), end: at(2, 13) }],
      symbols: [{ symbol: "parse", kind: "function" }],
    },
    ["1 x", "2 function [par]se() {} function"],
  ],
])("shows %s", (_name, chunk, shown) => {
  expect(show(chunk)).toEqual(shown);
});

test("a line without its indentation has the same marks", () => {
  const line = { number: 3, text: "\t  a needle", marks: [{ from: 5, to: 11 }] };
  expect(withoutIndentation(line)).toEqual({
    ...line,
    text: "a needle",
    marks: [{ from: 2, to: 8 }],
  });
});

test("parts together are the text, and exactly the marks are marked", () => {
  const marks = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 5 });
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), marks, (text, pairs) => {
      const given: Mark[] = pairs.map(([a, b]) => ({
        from: Math.min(a, b, text.length),
        to: Math.min(Math.max(a, b), text.length),
      }));
      const parts = partsOf(text, given);
      const flags = parts.flatMap(({ text: part, marked }) => part.split("").map(() => marked));
      const naive = text.split("").map((_, i) => given.some(({ from, to }) => from <= i && i < to));
      expect(parts.map(({ text: part }) => part).join("")).toBe(text);
      expect(flags).toEqual(naive);
    }),
  );
});

test("wider blocks contain each line near a match once, and no other line", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }),
      fc.nat(5),
      (matches, around) => {
        const source = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
        const lines = matches.map((number) => ({
          number,
          text: source[number - 1]!,
          marks: [{ from: 0, to: 1 }],
        }));
        const blocks = widen(lines, [...source, ""], around);
        const naive = source
          .map((_, i) => i + 1)
          .filter((number) => matches.some((match) => Math.abs(match - number) <= around));
        expect(blocks.flat().map(({ number }) => number)).toEqual(naive);
        for (const block of blocks)
          for (const [i, { number }] of block.entries()) expect(number).toBe(block[0]!.number + i);
        for (let i = 1; i < blocks.length; i++)
          expect(blocks[i]![0]!.number).toBeGreaterThan(blocks[i - 1]!.at(-1)!.number + 1);
      },
    ),
  );
});
