import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { compileExpression } from "../../src/regex/expression.ts";
import { unicodeClass } from "../../src/regex/named-classes.ts";
import { re2Find } from "../../src/re2/re2.ts";
import { UNICODE_CLASSES } from "../../src/regex/unicode-table.ts";
import { encodeCodePoint } from "../../src/regex/utf8.ts";
import { compareVerdict } from "./differential.ts";

function refusal(source: string): [string, string, number | undefined] {
  try {
    compileExpression(source, { caseSensitive: true });
  } catch (error) {
    if (error instanceof QuernError)
      return [error.code, error.message.replace("regular expression: ", ""), error.position];
  }
  return ["accepted", "", undefined];
}

test.each<[string, string, number]>([
  ["a(b", "missing )", 1],
  ["a(b(c)", "missing )", 1],
  ["ab)", "unexpected )", 2],
  ["x[a-", "missing ]: [a-", 1],
  ["[]", "missing ]: []", 0],
  ["é[z-a]", "invalid character class range: z-a", 2],
  ["[[:foo:]]", "invalid character class range: [:foo:]", 1],
  ["\\p{Foo}", "invalid character class range: \\p{Foo}", 0],
  ["a\\8", "back-references are not supported, invalid escape sequence: \\8", 1],
  ["(a)\\1", "back-references are not supported, invalid escape sequence: \\1", 3],
  ["\\k<n>", "back-references are not supported, invalid escape sequence: \\k", 0],
  ["a\\g{1}", "back-references are not supported, invalid escape sequence: \\g", 1],
  ["(?P<n>a)(?P=n)", "back-references are not supported: (?P=", 8],
  ["(?Pn)", "invalid perl operator: (?P", 0],
  ["(?P<", "invalid perl operator: (?P", 0],
  ["\\", "trailing \\", 0],
  ["\\x{110000}", "invalid escape sequence: \\x{110000", 0],
  ["a\\x{4,}", "invalid escape sequence: \\x{4,", 1],
  ["[\\xgh]", "invalid escape sequence: \\xgh", 1],
  ["(?P<n>a)(?P<n>b", "missing )", 8],
  ["*a", "no argument for repetition operator: *", 0],
  ["a|+", "no argument for repetition operator: +", 2],
  ["a**", "bad repetition operator: **", 1],
  ["a{2}{3}", "bad repetition operator: {2}{3}", 1],
  ["a{3,2}", "invalid repetition size: {3,2}: the first count exceeds the second", 1],
  ["x(?=y)", "look-around is not supported: (?=", 1],
  ["(?!y)", "look-around is not supported: (?!", 0],
  ["(?<=y)", "look-around is not supported: (?<=", 0],
  ["(?<!y)", "look-around is not supported: (?<!", 0],
  ["x{1001}", "invalid repetition size: {1001}: a count is at most 1000", 1],
  ["x{1001,}", "invalid repetition size: {1001,}: a count is at most 1000", 1],
  ["x{2,1001}", "invalid repetition size: {2,1001}: a count is at most 1000", 1],
  [
    "((a{30}){30}){30}",
    "invalid repetition size: {30}: nested counts multiply to at most 1000",
    13,
  ],
  [
    "((a{100}){100}){100}",
    "invalid repetition size: {100}: nested counts multiply to at most 1000",
    9,
  ],
  ["(?<n>a)", "invalid perl operator: (?<", 0],
  ["(?x)a", "invalid perl operator: (?x", 0],
  ["(?P<n", "invalid named capture group: (?P<n", 0],
  ["(?P<n-1>a)", "invalid named capture group: (?P<n-1>", 0],
  ["(?P<>a)", "invalid named capture group: (?P<>", 0],
  ["a\ud800", "invalid UTF-8: a lone surrogate", 1],
])("%s: %s at %i", (source, message, position) => {
  expect(refusal(source)).toEqual(["REGEX_SYNTAX", message, position]);
  if (!/not supported|surrogate/.test(message))
    expect(compareVerdict(source, true)).toBeUndefined(); // RE2 has the same message
});

test.each<[string, string, number]>([
  ["(".repeat(1_001), "groups are nested deeper than 1000", 1_000],
  ["a".repeat(10_001), "longer than 10000 characters", 10_000],
  ["\\pL{1000}", "its repetitions are too large", 0],
])("%s is too large: %s at %i", (source, message, position) => {
  expect(refusal(source)).toEqual(["REGEX_TOO_LARGE", message, position]);
});

test.each(
  [
    [
      "(?i)a",
      "a(?i)*",
      "(?)a",
      "(?i-s:a)",
      "(?P<n_1>a)",
      "(?P<n>a)|(?P<n>b)",
      "[]a]",
      "[^]a]",
      "[a-]",
      "[-a]",
      "[a-b-c]",
    ],
    [
      "{",
      "a{",
      "a{,2}",
      "a{01}",
      "a{1",
      "\\Q",
      "\\Qa\\",
      "\\Qab\\E*",
      "\\_",
      "\\ ",
      "\\C",
      "\\pN",
      "\\p{^L}",
    ],
    [
      "\\P{^Lu}",
      "[[:word:]]",
      "[[:^word:]]",
      "[\\d-z]",
      "\\012",
      "\\12",
      "\\777",
      "^*",
      "$+",
      "\\b?",
      "(?U)a+",
    ],
    ["[[:a]", "(|a)*", "()", "a||b", "x{0}", "\\x{d800}", "a{1000}", "(a{31}){32}", ".{1000}"],
  ]
    .flat()
    .map((source) => [source]),
)("%s is accepted, as by RE2", (source) => {
  expect(compareVerdict(source, true)).toBeUndefined();
  expect(refusal(source)[0]).toBe("accepted");
});

test("every \\p{…} class equals RE2's", () => {
  for (const name of UNICODE_CLASSES.keys()) {
    const inside: number[] = [];
    const outside: number[] = [];
    const ranges = unicodeClass(name)!;
    for (let i = 0; i < ranges.length; i += 2) {
      inside.push(ranges[i]!, (ranges[i]! + ranges[i + 1]!) >> 1, ranges[i + 1]!);
      if (ranges[i]! > 0) outside.push(ranges[i]! - 1);
      if (ranges[i + 1]! < 0x10ffff) outside.push(ranges[i + 1]! + 1);
    }
    const find = (source: string, cps: number[]) => {
      const bytes = Uint8Array.from(cps.flatMap(encodeCodePoint));
      return re2Find({ source, caseSensitive: true }, bytes, { start: 0, end: bytes.length }, 0);
    };
    expect(find(`\\P{${name}}`, inside), name).toBeUndefined();
    expect(find(`\\p{${name}}`, outside), name).toBeUndefined();
  }
});

test("properties of expressions", () => {
  const traits = (source: string) => {
    const { crossesLines, matchesEmpty } = compileExpression(source, { caseSensitive: true });
    return [crossesLines, matchesEmpty];
  };
  expect(traits("foo.*bar$")).toEqual([false, false]);
  expect(traits("foo\\s")).toEqual([true, false]);
  expect(traits("foo[^x]")).toEqual([true, false]);
  expect(traits("a\\Cb")).toEqual([true, false]);
  expect(traits("\\Afoo")).toEqual([true, false]);
  expect(traits("foo(?-m:$)")).toEqual([true, false]);
  expect(traits("(?s)a.b")).toEqual([true, false]);
  expect(traits("x*")).toEqual([true, true]);
  expect(traits("^")).toEqual([true, true]);
  expect(traits("a|\\b")).toEqual([true, true]);
});
