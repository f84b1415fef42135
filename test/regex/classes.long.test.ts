/**
 * Named classes have the same characters as RE2's. Each is tried on every character up to U+024F and on some others.
 */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { compareOn, matcherRanges } from "./differential.ts";
import { someOf } from "../runs.ts";

const POSIX =
  "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split(" ");
const UNICODE = "L Lu Ll N P S Z Greek Cyrillic Han Latin Any".split(" ");

const classes = [
  ...POSIX.flatMap((name) => [`[[:${name}:]]`, `[[:^${name}:]]`, `[^[:${name}:]x]`]),
  ..."dDsSwW".split("").map((letter) => `\\${letter}`),
  ...UNICODE.flatMap((name) => [`\\p{${name}}`, `\\P{${name}}`]),
];

const POINTS = [...Array(0x250).keys(), 0x3b1, 0x416, 0x4e2d, 0x1e9e, 0x212a, 0x1f600];

/** Several texts, because RE2 copies a text for each match in it. */
const TEXTS = Array.from({ length: Math.ceil(POINTS.length / 50) }, (_, i) =>
  Buffer.from(
    POINTS.slice(50 * i, 50 * (i + 1))
      .map((point) => String.fromCodePoint(point))
      .join("\n"),
  ),
);

test.each(
  someOf(
    classes.flatMap((name) => [name, `(?i)${name}`]),
    2,
  ),
)("%s", (source) => {
  const expression = compileExpression(source, { caseSensitive: true });
  for (const text of TEXTS) expect(compareOn(expression, text)).toBeUndefined();
  if (source !== "\\P{Any}" && source !== "(?i)\\P{Any}")
    expect(TEXTS.some((text) => matcherRanges(expression, text).length > 0)).toBe(true);
});
