/** The hints about words of other search engines. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { hintsOf } from "../../src/query/hints.ts";
import { parseQuery } from "../../src/query/parse.ts";

const LITERAL = { regex: false, caseSensitive: false };

/** `query` is the suggested query, or "" if no query expresses the meaning. */
test.each<[text: string, word: string, query: string]>([
  ["path:src foo", "path:src", "file:src foo"],
  ["foo filename:a", "filename:a", "foo file:a"],
  ["language:go x", "language:go", "lang:go x"],
  ["symbol:^parse", "symbol:^parse", "sym:^parse"],
  ["branch:main x", "branch:main", "rev:main x"],
  ["repository:shop x", "repository:shop", "repo:shop x"],
  ["FILE:x y", "FILE:x", "file:x y"],
  ["Lang:go y", "Lang:go", "lang:go y"],
  ["-path:test x", "-path:test", "-file:test x"],
  ["ext:ts x", "ext:ts", "file:\\.ts$ x"],
  ["case:yes x", "case:yes", ""],
  ["count:all x", "count:all", ""],
  ["type:file x", "type:file", ""],
  ["x select:repo", "select:repo", ""],
  ["lng:go x", "lng:go", "lang:go x"],
  ["contnet:x", "contnet:x", "content:x"],
  ["/foo/", "/foo/", ""],
  ["a OR b", "OR", "a or b"],
  ["a || b", "||", "a or b"],
  ["a AND b", "AND", "a b"],
  ["a and b", "and", "a b"],
  ["a && b", "&&", "a b"],
  ["a NOT b", "NOT", "a -content:b"],
  ["a not lang:go", "not", "a -lang:go"],
  ["a NOT (b c)", "NOT", ""],
  ["raid5 -sector", "-sector", "raid5 -(sector)"],
  ["(a path:b)", "path:b", "(a file:b)"],
  ["/foo.*bar/", "/foo.*bar/", ""],
  ["file:src/*.ts x", "file:src/*.ts", "file:^src/[^/]*\\.ts$ x"],
  ["lang:pyhton x", "lang:pyhton", "lang:Python x"],
  ["(x -lang:pyhton)", "lang:pyhton", "(x -lang:Python)"],
  ["lang:klingon x", "lang:klingon", ""],
])("%s", (text, word, query) => {
  expect(hintsOf(text, LITERAL)).toEqual([
    {
      position: text.indexOf(word),
      word,
      message: expect.any(String) as string,
      ...(query !== "" && { query }),
    },
  ]);
});

test.each([
  "foo",
  "file:x lang:go sym:y rev:* repo:z",
  '"path:x" "OR"',
  "http://x",
  "std::vector",
  "foo:bar",
  "path:",
  "/usr/bin/",
  "key:x",
  "--verbose",
  "-(a)",
  "-file:x",
  "- file:x",
  "content:path:x",
  "file:\\.ts$",
  "nor",
])("%s has no hint", (text) => expect(hintsOf(text, LITERAL)).toEqual([]));

test("in the regex dialect", () => {
  const regex = { regex: true, caseSensitive: false };
  expect(hintsOf("a -b", regex)).toMatchObject([{ query: "a -content:b" }]);
  expect(hintsOf("/a.*b/", regex)).toEqual([]);
});

const PIECES = [
  "path:",
  "file:",
  "OR",
  "NOT",
  "and",
  "-",
  "(",
  ")",
  '"',
  " ",
  "a",
  "*",
  "/",
  ".",
  "\\",
  "[",
  "x:",
];

test("every valid query has only valid hints", () => {
  const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, fc.boolean(), (query, regex) => {
      const dialect = { regex, caseSensitive: false };
      if (!parses(query, dialect)) return;
      for (const hint of hintsOf(query, dialect)) {
        expect(query.slice(hint.position, hint.position + hint.word.length)).toBe(hint.word);
        if (hint.query !== undefined)
          expect(parses(hint.query, dialect), `${query} => ${hint.query}`).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
});

function parses(query: string, dialect: typeof LITERAL): boolean {
  try {
    parseQuery(query, dialect);
    return true;
  } catch (error) {
    if (error instanceof QuernError) return false;
    throw error;
  }
}

test.each([
  ["*.ts", "file:\\.ts$"],
  ["**/test/*.ts", 'file:"^(.*/)?test/[^/]*\\\\.ts$"'],
])("file:%s is rejected with a suggestion", (glob, instead) => {
  expect(() => parseQuery(`file:${glob}`, LITERAL)).toThrow(
    expect.objectContaining({
      code: "REGEX_SYNTAX",
      message: expect.stringContaining(`as a glob it is ${instead}`) as string,
    }),
  );
});
