/** Compares the lines of matches with a walk over the whole text, on lines of all lengths. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { lineMatches } from "../../src/http/line-matches.ts";
import type { FileResult, Position, Range } from "../../src/search/messages/response.ts";

const [LONG, WINDOW] = [1024, 256];

/** Returns the position of each code point of a text. */
function placesOf(text: string): Position[] {
  const places: Position[] = [];
  let at: Position = { byteOffset: 0, lineNumber: 1, column: 1 };
  for (const point of [...Array.from(text), ""]) {
    places.push(at);
    const byteOffset = at.byteOffset + Buffer.byteLength(point);
    at =
      point === "\n"
        ? { byteOffset, lineNumber: at.lineNumber + 1, column: 1 }
        : { byteOffset, lineNumber: at.lineNumber, column: at.column + 1 };
  }
  return places;
}

const fileOf = (content: string, contentStart: Position, matchRanges: Range[]): FileResult => ({
  fileName: { text: "a", matchRanges: [] },
  webUrl: "",
  repository: "r",
  repositoryId: 1,
  language: "",
  chunks: [{ content, contentStart, matchRanges }],
});

const piece = fc.oneof(
  fc.constantFrom("\n", "a", "é", "😀", "word", "\r\n", "\ufffd"),
  fc.tuple(fc.constantFrom("x", "é", "😀", "ab "), fc.nat(1500)).map(([text, n]) => text.repeat(n)),
);
const texts = fc
  .array(piece, { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.join(""))
  .filter((text) => text !== "");

/** The slow twin: it goes through all code points of the file for each match. */
function expected(text: string, from: number, { start, end }: Range) {
  const points = Array.from(text);
  const places = placesOf(text);
  const at = places.findIndex(({ byteOffset }) => byteOffset === start.byteOffset);
  let lineFrom = at;
  while (lineFrom > from && points[lineFrom - 1] !== "\n") lineFrom--;
  let lineTo = at;
  while (lineTo < points.length && points[lineTo] !== "\n") lineTo++;
  const line = points.slice(lineFrom, lineTo).join("");
  if (places[lineFrom]!.column === 1 && line.length <= LONG) return { lineContent: line };
  let first = at;
  while (first > lineFrom && at - first < WINDOW && points[first - 1] !== "\ufffd") first--;
  const length = end.lineNumber === start.lineNumber ? end.column - start.column : LONG;
  const last = Math.min(lineTo, at + Math.min(length, LONG) + WINDOW);
  const lineContent = points.slice(first, last).join("");
  const place = places[first]!;
  return place.column === 1 ? { lineContent } : { lineContent, lineContentStart: place };
}

test("each match has its line, or a window that says where it begins", () => {
  const cuts = fc.tuple(
    texts,
    fc.nat(),
    fc.array(fc.tuple(fc.nat(), fc.nat(40)), { maxLength: 9 }),
  );
  fc.assert(
    fc.property(cuts, ([text, cut, wanted]) => {
      const points = Array.from(text);
      const places = placesOf(text);
      const from = cut % points.length;
      const ranges = wanted
        .map(([at, length]) => {
          const start = from + (at % (points.length - from));
          return { start: places[start]!, end: places[Math.min(points.length, start + length)]! };
        })
        .sort((a, b) => a.start.byteOffset - b.start.byteOffset);
      const content = points.slice(from).join("");
      const shown = lineMatches(fileOf(content, places[from]!, ranges));
      const want = ranges.map((range) => ({ ...expected(text, from, range), range }));
      expect(shown).toEqual(want);
    }),
    { numRuns: 200 },
  );
});

test("a line of a megabyte with 100 000 matches is scanned once", () => {
  const text = "use(it);".repeat(100_000);
  const ranges = Array.from({ length: 100_000 }, (_, i): Range => {
    const place = (at: number): Position => ({ byteOffset: at, lineNumber: 1, column: at + 1 });
    return { start: place(8 * i + 4), end: place(8 * i + 6) };
  });
  const before = process.cpuUsage();
  const shown = lineMatches(fileOf(text, { byteOffset: 0, lineNumber: 1, column: 1 }, ranges));
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(5_000); // scanning anew for each match takes a minute
  expect(Math.max(...shown.map(({ lineContent }) => lineContent.length))).toBe(2 * WINDOW + 2);
});
