/**
 * Named classes have the same characters as RE2's. Each is tried on every character up to U+024F and on some others.
 */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { compareOn, matcherRanges } from "./differential.ts";

const POSIX =
  "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split(" ");
const UNICODE = "L Lu Ll N P S Z Greek Cyrillic Han Latin Any".split(" ");

const classes = [
  ...POSIX.flatMap((name) => [`[[:${name}:]]`, `[[:^${name}:]]`, `[^[:${name}:]x]`]),
  ..."dDsSwW".split("").map((letter) => `\\${letter}`),
  ...UNICODE.flatMap((name) => [`\\p{${name}}`, `\\P{${name}}`]),
];

const CHARACTERS = Buffer.from(
  [
    ...Array.from({ length: 0x250 }, (_, point) => point),
    0x3b1,
    0x416,
    0x4e2d,
    0x1e9e,
    0x212a,
    0x1f600,
  ]
    .map((point) => String.fromCodePoint(point))
    .join("\n"),
);

test.each(classes.flatMap((name) => [name, `(?i)${name}`]))("%s", (source) => {
  const expression = compileExpression(source, { caseSensitive: true });
  expect(compareOn(expression, CHARACTERS)).toBeUndefined();
  if (source !== "\\P{Any}" && source !== "(?i)\\P{Any}")
    expect(matcherRanges(expression, CHARACTERS).length).toBeGreaterThan(0);
});
