import { expect, test } from "vitest";
import type { Peer, SuspectFile } from "../../bench/peer.ts";
import { csearchExcuse, csearchWords } from "../../bench/peer-csearch.ts";
import { rgExcuse, rgWords } from "../../bench/peer-rg.ts";
import { zoektExcuse, zoektWords } from "../../bench/peer-zoekt.ts";
import type { Question } from "../../bench/queries.ts";

const question = (query: string, more: Partial<Question> = {}): Question => ({
  name: query,
  group: "",
  query,
  isRegex: false,
  isCaseSensitive: false,
  isMultiline: false,
  words: {},
  differs: {},
  ...more,
});

const REGEX = { isRegex: true, isCaseSensitive: true };

test.each<[Question, string[], string[], string[]]>([
  [
    question("->a.b"),
    ["--fixed-strings", "--ignore-case", "--regexp=->a.b"],
    ["-i", "--", "->a\\.b"],
    ['content:"->a\\\\.b"', "case:no"],
  ],
  [
    question('"a \\"b"', { isCaseSensitive: true }),
    ["--fixed-strings", '--regexp=a "b'],
    ["--", 'a "b'],
    ['content:"a \\"b"', "case:yes"],
  ],
  [
    question("a\\s+b", { ...REGEX, isMultiline: true }),
    ["--multiline", "--regexp=a\\s+b"],
    ["--", "a\\s+b"],
    ['content:"a\\\\s+b"', "case:yes"],
  ],
])("$query is translated for rg, csearch and zoekt", (asked, rg, csearch, zoekt) => {
  expect([rgWords(asked), csearchWords(asked), zoektWords(asked)]).toEqual([rg, csearch, zoekt]);
});

test("a question's own words for a peer are used first, and null means that the peer cannot answer", () => {
  const asked = question("a b", { words: { rg: null, csearch: null, zoekt: ["a", "b"] } });
  expect([rgWords(asked), csearchWords(asked), zoektWords(asked)]).toEqual([
    undefined,
    undefined,
    ["a", "b"],
  ]);
});

const file = (content: string | Buffer, path = "a/b.c"): SuspectFile => ({
  path,
  isLink: false,
  bytes: Buffer.from(content as string),
  ours: 0,
  theirs: 0,
});
const counted = (content: string | Buffer, ours: number, theirs: number): SuspectFile => ({
  ...file(content),
  ours,
  theirs,
});
const link = (...args: Parameters<typeof counted>) => ({ ...counted(...args), isLink: true });
const large = Buffer.alloc((2 << 20) + 1, "the\n");
const manyGrams = Buffer.from(
  Array.from({ length: 40_000 }, (_, i) => `${String.fromCodePoint(0x4e00 + (i % 20_000))}\n`).join(
    "",
  ),
);

test.each<[Peer["excuse"], SuspectFile, Question, RegExp | undefined]>([
  [rgExcuse, file("plain"), question("x"), undefined],
  [rgExcuse, file("a\0"), question("x"), /NUL/],
  [rgExcuse, file("é"), question("x"), undefined],
  [rgExcuse, file("é"), question("\\bx", REGEX), /Unicode/],
  [rgExcuse, file("é"), question("[a-z]x", REGEX), undefined],
  [csearchExcuse, file("plain"), question("x"), undefined],
  [csearchExcuse, file("plain", "a/.b/c"), question("x"), /hidden/],
  [csearchExcuse, file("plain", "a/b~"), question("x"), /temporary/],
  [csearchExcuse, file("a\0"), question("x"), /NUL/],
  [csearchExcuse, file(Buffer.of(0xff)), question("x"), /UTF-8/],
  [csearchExcuse, file("x".repeat(2000)), question("x"), undefined],
  [csearchExcuse, file("x".repeat(2001)), question("x"), /2 000/],
  [csearchExcuse, file(manyGrams), question("x"), /trigrams/],
  [csearchExcuse, counted("plain", 2, 1), question("x", { isMultiline: true }), /line by line/],
  [csearchExcuse, counted("plain", 1, 2), question("x", { isMultiline: true }), undefined],
  [zoektExcuse, file("plain"), question("x"), undefined],
  [zoektExcuse, counted("a\0bc", 1, 0), question("the"), /NUL/],
  [zoektExcuse, counted("a\0bc", 1, 1), question("binary"), /NUL/],
  [zoektExcuse, counted("a\0bc", 1, 1), question("the"), undefined], // otherwise it searched the content
  [zoektExcuse, counted("ab", 1, 0), question("a b"), /3 bytes/],
  [zoektExcuse, counted(large, 0, 1), question("the"), /2 MiB/],
  [zoektExcuse, counted(large, 0, 6), question("(?i)E[XD]|S", REGEX), /2 MiB/],
  [zoektExcuse, counted(large, 0, 2), question("the"), undefined],
  [zoektExcuse, counted(large, 0, 5), question("(?i)E[XD]|S", REGEX), undefined],
  [zoektExcuse, counted(large, 1, 2), question("the"), undefined],
  [zoektExcuse, counted(large.subarray(1), 0, 1), question("the"), undefined],
  [zoektExcuse, link("../x/rif.sh", 0, 1), question("if"), /links/],
  [zoektExcuse, link("../x/rif.sh", 0, 2), question("if"), undefined],
  [zoektExcuse, link("../x/rif.sh", 1, 1), question("if"), undefined],
  [zoektExcuse, link("../x/rif.sh", 0, 1), question("file:x", { words: { zoekt: [] } }), /links/],
  [zoektExcuse, counted("../x/rif.sh", 0, 1), question("if"), undefined],
  [zoektExcuse, file("plain", "a/.svn/c"), question("x"), /svn/],
  [zoektExcuse, file("étoile"), question("x"), undefined],
  [zoektExcuse, file("\u212aelvin"), question("x"), /ASCII/],
  [zoektExcuse, file("\u212aelvin"), question("x", { isCaseSensitive: true }), undefined],
])("%o: the files that the peer counts differently, %#", (excuse, suspect, asked, want) => {
  const reason = excuse(suspect, asked);
  if (want) expect(reason).toMatch(want);
  else expect(reason).toBeUndefined();
});
