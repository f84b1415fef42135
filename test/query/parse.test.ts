/** Tables of the query language, row by row: the meaning of each text in both dialects. */

import { expect, test } from "vitest";
import { atomsOf, namesRevision, formatQuery, type Query } from "../../src/query/ast.ts";
import { parseInSlices, parseQuery } from "../../src/query/parse.ts";
import { outcome, outline } from "./outline.ts";

const literal = (text: string) => outcome(text, { regex: false, caseSensitive: false });
const regex = (text: string) => outcome(text, { regex: true, caseSensitive: false });

type Row = readonly [text: string, literal: string, regex?: string];

/**
 * `lit` and `re` are content atoms of the two dialects. A row with one column has the same meaning in both dialects,
 * except for these atoms.
 */
const TABLES: Record<string, readonly Row[]> = {
  blanks: [
    ["", "QUERY_SYNTAX 0"],
    [" \t\n ", "QUERY_SYNTAX 0"],
    [" a\tb\nc ", "(and lit:a lit:b lit:c)", "(and re:a re:b re:c)"],
    ["a\rb", "lit:a\rb", "re:a\rb"],
    ["a\u00a0b", "lit:a\u00a0b", "re:a\u00a0b"],
  ],
  or: [
    ["a or b", "(or lit:a lit:b)", "(or re:a re:b)"],
    ["a b or c", "(or (and lit:a lit:b) lit:c)", "(or (and re:a re:b) re:c)"],
    ["a or b or c", "(or lit:a lit:b lit:c)", "(or re:a re:b re:c)"],
    ["(a or b) c", "(and (or lit:a lit:b) lit:c)", "(and (or re:a re:b) re:c)"],
    ["or", "lit:or", "re:or"],
    [" or ", "lit:or", "re:or"],
    ["or a", "(and lit:or lit:a)", "(and re:or re:a)"],
    ["a or", "(and lit:a lit:or)", "(and re:a re:or)"],
    ["or or", "(and lit:or lit:or)", "(and re:or re:or)"],
    ["or or or", "(or lit:or lit:or)", "(or re:or re:or)"],
    ["a or or b", "QUERY_SYNTAX 5"],
    ["a or or", "(or lit:a lit:or)", "(or re:a re:or)"],
    ["(or a) b", "QUERY_SYNTAX 1"],
    ["b (a or)", "QUERY_SYNTAX 5"],
    ["a OR b", "(and lit:a lit:OR lit:b)", "(and re:a re:OR re:b)"],
    ["a and b AND not c", "(and lit:a lit:and lit:b lit:AND lit:not lit:c)"],
    ["a order b", "(and lit:a lit:order lit:b)", "(and re:a re:order re:b)"],
    ['a "or" b', "(and lit:a lit:or lit:b)", "(and re:a re:or re:b)"],
    ["a -or b", "(and lit:a lit:-or lit:b)", "(and re:a re:-or re:b)"],
    ["file:x or lang:go", "(or file:x lang:go)"],
  ],
  negation: [
    ["-file:x", "(not file:x)"],
    ["- file:x", "(not file:x)"],
    ["-\n file:x", "(not file:x)"],
    ["-foo", "lit:-foo", "re:-foo"],
    ['-"foo bar"', '(and lit:-"foo lit:bar")', '(and re:-"foo re:bar")'],
    ["--file:x", "lit:--file:x", "re:--file:x"],
    ["- -file:x", "(and lit:- (not file:x))", "(and re:- (not file:x))"],
    ["-http://x", "lit:-http://x", "re:-http://x"],
    ["-", "lit:-", "re:-"],
    ["- foo", "(and lit:- lit:foo)", "(and re:- re:foo)"],
    ["-(foo)", "(not lit:foo)", "re:-(foo)"],
    ["- (foo)", "(not lit:foo)", "(and re:- re:(foo))"],
    ["-(a b)", "(not (and lit:a lit:b))", "(not (and re:a re:b))"],
    ["-(file:x)", "(not file:x)"],
    ["-content:foo", "(not lit:foo)", "(not re:foo)"],
    ["-(-(a b))", "(not (not (and lit:a lit:b)))", "(not (not (and re:a re:b)))"],
    ["-(-file:x)", "(not (not file:x))"],
    ["-(foo", "lit:-(foo", "REGEX_SYNTAX"],
    ["-file:", "QUERY_SYNTAX 6"],
    ["-()", "all", "re:-()"],
    ['-("")', "none"],
  ],
  prefixes: [
    ["file:x", "file:x"],
    ["f:x", "file:x"],
    ["repo:x", "repo:x"],
    ["r:x", "repo:x"],
    ["content:x", "lit:x", "re:x"],
    ["c:x", "lit:x", "re:x"],
    ["lang:C++", "lang:C++"],
    ["sym:^x$", "symbol:^x$"],
    ["rev:*", "rev:*"],
    ["reposet:a,b/c", "reposet:a+b/c"],
    ["reposet:a,,b,", "reposet:a+b"],
    ["context:team", "context:team"],
    ["archived:yes", "archived:yes"],
    ["archived:no", "archived:no"],
    ["archived:only", "archived:only"],
    ["fork:yes", "fork:yes"],
    ["fork:no", "fork:no"],
    ["fork:only", "fork:only"],
    ["visibility:public", "visibility:public"],
    ["visibility:private", "visibility:private"],
    ["visibility:any", "visibility:any"],
    ["rev:a rev:b", "(and rev:a rev:b)"],
    ["lang:pyhton", "lang:pyhton"],
    ["file:a:b", "file:a:b"],
    ["file:file:x", "file:file:x"],
    ["a file:b c", "(and lit:a file:b lit:c)", "(and re:a file:b re:c)"],
  ],
  "impossible values": [
    ["file:", "QUERY_SYNTAX 5"],
    ["file: x", "QUERY_SYNTAX 5"],
    ['file:""', "QUERY_SYNTAX 5"],
    ["a (file:) b", "QUERY_SYNTAX 8"],
    ["archived:maybe", "QUERY_SYNTAX 9"],
    ["archived: only", "QUERY_SYNTAX 9"],
    ["archived:YES", "QUERY_SYNTAX 9"],
    ["fork:perhaps", "QUERY_SYNTAX 5"],
    ["visibility:yes", "QUERY_SYNTAX 11"],
    ["reposet:,", "QUERY_SYNTAX 8"],
    ["content:", "QUERY_SYNTAX 8"],
    ["lang:", "QUERY_SYNTAX 5"],
    ["sym:", "QUERY_SYNTAX 4"],
    ["rev:", "QUERY_SYNTAX 4"],
    ["context:", "QUERY_SYNTAX 8"],
    ["é \u{1f600} file:", "QUERY_SYNTAX 10"], // in UTF-16
  ],
  "words with a colon": [
    ["http://x", "lit:http://x", "re:http://x"],
    ["foo:bar", "lit:foo:bar", "re:foo:bar"],
    ["FILE:x", "lit:FILE:x", "re:FILE:x"],
    ["case:yes", "lit:case:yes", "re:case:yes"],
    ["path:x", "lit:path:x", "re:path:x"],
    ["xfile:x", "lit:xfile:x", "re:xfile:x"],
    ["constructor:x", "lit:constructor:x", "re:constructor:x"],
  ],
  quotes: [
    ['"a b"', "lit:a b", "re:a b"],
    ['"or"', "lit:or", "re:or"],
    ['"file:x"', "lit:file:x", "re:file:x"],
    ['"(a"', "lit:(a", "REGEX_SYNTAX"],
    ['file:"a b"', "file:a b"],
    ['f:"(a) (b)"', "file:(a) (b)"],
    ['"a\\"b"', 'lit:a"b', 're:a"b'],
    ['"a\\\\b"', "lit:a\\b", "re:a\\b"],
    ['"a\\.b"', "lit:a\\.b", "re:a\\.b"],
    ['"a\\\\"', "lit:a\\", "REGEX_SYNTAX"],
    ['a"b', 'lit:a"b', 're:a"b'],
    ['a"b c"d', '(and lit:a"b lit:c"d)', '(and re:a"b re:c"d)'],
    ['"abc', 'lit:"abc', 're:"abc'],
    ['"a b', '(and lit:"a lit:b)', '(and re:"a re:b)'],
    ['"a\n b"', "lit:a\n b", "re:a\n b"],
    ['"a\nb', '(and lit:"a lit:b)', '(and re:"a re:b)'],
    ['"a\nb c" "d"', "(and lit:a\nb c lit:d)", "(and re:a\nb c re:d)"],
    ['"a\\"', 'lit:"a\\"', 're:"a\\"'],
    ['file:"a', 'file:"a'],
    ['"a"b', "(and lit:a lit:b)", "(and re:a re:b)"],
    ['"a""b"', "(and lit:a lit:b)", "(and re:a re:b)"],
    ['""', "all"],
    ['a ""', "(and lit:a all)", "(and re:a all)"],
    ['content:""', "all"],
  ],
  parentheses: [
    ["test(", "lit:test(", "REGEX_SYNTAX"],
    ["a(b)", "lit:a(b)", "re:a(b)"],
    ["a)", "lit:a)", "REGEX_SYNTAX"],
    ["(a", "lit:(a", "REGEX_SYNTAX"],
    ["(file:x", "lit:(file:x", "REGEX_SYNTAX"],
    ["(a b", "(and lit:(a lit:b)", "REGEX_SYNTAX"],
    ["(a)", "lit:a", "re:(a)"],
    ["( a )", "lit:a", "re:a"],
    ["(a b)", "(and lit:a lit:b)", "(and re:a re:b)"],
    ["(a)b", "(and lit:a lit:b)", "re:(a)b"],
    ["(a b)c", "(and (and lit:a lit:b) lit:c)", "(and (and re:a re:b) re:c)"],
    ["file:(a|b)", "file:(a|b)"],
    ["(file:(a|b))", "file:(a|b)"],
    ["file:x\\)y", "file:x\\)y"],
    ["(file:x\\) y)", "(and file:x\\) lit:y)", "(and file:x\\) re:y)"],
    ["(file:[)] y)", "(and file:[)] lit:y)", "(and file:[)] re:y)"],
    ["content:()", "lit:()", "all"],
    ["foo(bar|baz)", "lit:foo(bar|baz)", "re:foo(bar|baz)"],
    ["a\\(b", "lit:a\\(b", "re:a\\(b"],
    ["(a|b)", "lit:a|b", "re:(a|b)"],
    ["(file:x or y)", "(or file:x lit:y)", "(or file:x re:y)"],
    ['("q")', "lit:q", "re:q"],
    ["(file:x)", "file:x"],
    ["(-file:x)", "(not file:x)"],
    ["((file:x))", "file:x"],
    ["((a b))", "(and lit:a lit:b)", "(and re:a re:b)"],
    ["(http://x)", "lit:http://x", "re:(http://x)"],
    ["()", "none", "all"],
    ["( )", "none", "all"],
    ["a ()", "(and lit:a none)", "(and re:a all)"],
    ["((a)", "lit:((a)", "REGEX_SYNTAX"],
    ["((a b)", "(and lit:((a lit:b))", "REGEX_SYNTAX"],
    ["(test( or foo)", "(or lit:test( lit:foo)", "REGEX_SYNTAX"],
    ["(a b))", "(and (and lit:a lit:b) lit:))", "REGEX_SYNTAX"],
    [") a", "(and lit:) lit:a)", "REGEX_SYNTAX"],
    ["(x f(y))", "(and lit:x lit:f(y))", "(and re:x re:f(y))"],
    ['require("x")', 'lit:require("x")', 're:require("x")'],
    ['("a', 'lit:("a', "REGEX_SYNTAX"],
    ['("a b"', '(and lit:("a lit:b")', "REGEX_SYNTAX"],
    ["(a [)] b)", "QUERY_OK", "(and re:a re:[)] re:b)"],
    ["(a [](] b)", "QUERY_OK", "(and re:a re:[](] re:b)"],
    ["(a [[:alpha:])] b)", "QUERY_OK", "(and re:a re:[[:alpha:])] re:b)"],
    ["(a \\Q)(\\E b)", "QUERY_OK", "(and re:a re:\\Q)(\\E re:b)"],
  ],
  "regular expressions": [
    ["file:[", "REGEX_SYNTAX 5"],
    ["\u{1f600} file:[", "REGEX_SYNTAX 8"],
    ["a file:(b", "REGEX_SYNTAX 7"],
    ["repo:*", "REGEX_SYNTAX 5"],
    ["sym:(a|b)", "symbol:(a|b)"],
    ["file:(?=x)", "REGEX_SYNTAX 5"],
    ["file:\\1", "REGEX_SYNTAX 5"],
    ["file:x{1001}", "REGEX_SYNTAX 6"],
    ["file:((a{30}){30}){30}", "REGEX_SYNTAX 18"],
    ["file:\\pL{1000}", "REGEX_TOO_LARGE 5"],
    [`file:${"x".repeat(10_001)}`, "REGEX_TOO_LARGE 10005"],
    ["x*", "lit:x*", "re:x*"],
    ["*", "lit:*", "REGEX_SYNTAX 0"],
    ['a "b\\"[', '(and lit:a lit:"b\\"[)', "REGEX_SYNTAX"],
  ],
};

for (const [name, rows] of Object.entries(TABLES)) {
  test.each(rows.map((row) => ({ row })))(`${name}: $row.0`, ({ row }) => {
    const [text, want, wantRegex = want.replaceAll("lit:", "re:")] = row;
    if (want !== "QUERY_OK") expect(literal(text).slice(0, lengthOf(want))).toBe(want);
    expect(regex(text).slice(0, lengthOf(wantRegex))).toBe(wantRegex);
  });
}

/** An error code without a position matches any position. */
function lengthOf(want: string): number | undefined {
  return /^REGEX_[A-Z_]+$/.test(want) ? want.length : undefined;
}

test("the case flag affects only terms, content:, file:, repo: and sym:", () => {
  const text = "a content:b file:c repo:d sym:e lang:f rev:g";
  for (const regex of [false, true]) {
    const flags = (caseSensitive: boolean) =>
      atomsOf(parseQuery(text, { regex, caseSensitive })).map((atom) =>
        "caseSensitive" in atom ? atom.caseSensitive : "none",
      );
    expect(flags(true)).toEqual([true, true, true, true, true, "none", "none"]);
    expect(flags(false)).toEqual([false, false, false, false, false, "none", "none"]);
  }
});

test("rev: is noticed anywhere in the query", () => {
  const names = (text: string) =>
    namesRevision(parseQuery(text, { regex: false, caseSensitive: false }));
  expect(names("a b")).toBe(false);
  expect(names('a "rev:b"')).toBe(false);
  expect(names("a (b or -rev:x)")).toBe(true);
  expect(names('"" or rev:x')).toBe(true);
});

test("canonical text", () => {
  const canonical = (text: string, regex: boolean) =>
    formatQuery(parseQuery(text, { regex, caseSensitive: false }));
  const rows: readonly [string, string, string?][] = [
    ["f:\\.ts$  a", "file:\\.ts$ a"],
    ["-(foo)", "-content:foo", '"-(foo)"'],
    ["(a  or b) ((c d))", "(a or b) (c d)"],
    ['"a" "or" "-x" "a b" "c:d"', 'a "or" "-x" "a b" "c:d"'],
    ['"q\\"\\\\"', '"q\\"\\\\"', "REGEX_SYNTAX"],
    ["-(a or b)", "-(a or b)"],
    ['-("")', '-("")'],
  ];
  for (const [text, want, wantRegex = want] of rows) {
    expect(canonical(text, false)).toBe(want);
    if (!wantRegex.startsWith("REGEX")) expect(canonical(text, true)).toBe(wantRegex);
  }
});

test("a query consists of plain data", () => {
  const query: Query = parseQuery("a -(b or file:c)", { regex: true, caseSensitive: true });
  expect(JSON.parse(JSON.stringify(query))).toEqual(query);
  expect(outline(structuredClone(query))).toBe(outline(query));
});

test("a class of all letters is prepared in steps", async () => {
  let steps = 0;
  const pause = () => void steps++;
  await parseInSlices("\\pL\\PL", { regex: true, caseSensitive: false }, pause);
  expect(steps).toBeGreaterThan(1_000);
});
