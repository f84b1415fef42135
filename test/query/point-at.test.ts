/** The caret is under the place of the error, whatever is around it. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { pointAt } from "../../src/query/point-at.ts";

const long = "0123456789".repeat(20);

test.each<[string, number, string]>([
  ["file:[", 5, "  file:[\n       ^"],
  ["", 0, "  \n  ^"],
  ["a\tb c", 4, "  a b c\n      ^"],
  ["one\ntwo or", 8, "  two or\n      ^"],
  ["one\ntwo", 3, "  one\n     ^"],
  ["\u{1f600}x", 2, "  \u{1f600}x\n   ^"],
  [long, 100, `  …${long.slice(60, 140)}…\n   ${" ".repeat(40)}^`],
  [long, 0, `  ${long.slice(0, 40)}…\n  ^`],
  [long, 200, `  …${long.slice(160)}\n   ${" ".repeat(40)}^`],
])("%j at %i", (query, position, want) => {
  expect(pointAt(query, position)).toBe(want);
});

test("the caret is under the character at the position", () => {
  const text = fc.string({ unit: "grapheme-ascii", maxLength: 200 });
  fc.assert(
    fc.property(text, fc.nat(), (query, seed) => {
      const position = seed % (query.length + 1);
      const [line, caret] = pointAt(query, position).split("\n");
      if (position < query.length) expect(line![caret!.length - 1]).toBe(query[position]);
    }),
  );
});
