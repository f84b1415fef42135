import fc from "fast-check";
import { expect, test } from "vitest";
import { definitionsQuery, referencesQuery } from "../../src/http/symbol-query.ts";
import { atomsOf } from "../../src/query/ast.ts";
import { parseQuery } from "../../src/query/parse.ts";

test.each<[string, string | undefined, string]>([
  ["foo", undefined, 'sym:"^foo$"'],
  ["foo", "", 'sym:"^foo$"'],
  ["foo", "go", 'sym:"^foo$" (lang:"go")'],
  ["foo", "tsx", 'sym:"^foo$" (lang:"TypeScript" or lang:"TSX" or lang:"JavaScript")'],
  ["foo", "C++", 'sym:"^foo$" (lang:"C" or lang:"C++")'],
  ["operator()", undefined, 'sym:"^operator\\\\(\\\\)$"'],
  ['a"b', undefined, 'sym:"^a\\\\\\"b$"'],
  ["a\nb", undefined, 'sym:"^a\\\\x0ab$"'],
])("the definitions of %j in %j", (symbolName, language, want) => {
  expect(definitionsQuery({ symbolName, language })).toBe(want);
});

test.each([
  ["foo", 'content:"\\\\bfoo\\\\b"'],
  ["$foo", 'content:"\\\\$foo\\\\b"'],
  ["foo!", 'content:"\\\\bfoo\\\\!"'],
  ["é", 'content:"é"'],
])("the references to %j", (symbolName, want) => {
  expect(referencesQuery({ symbolName })).toBe(want);
});

test("any name is parsed to one expression and the filters", () => {
  const name = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.string(),
  );
  fc.assert(
    fc.property(
      name.filter((text) => text !== ""),
      (symbolName) => {
        const search = { symbolName, language: "ts", revision: 'a "b" or c' };
        for (const query of [definitionsQuery(search), referencesQuery(search)]) {
          const atoms = atomsOf(parseQuery(query, { regex: true, caseSensitive: true }));
          expect(atoms.length, query).toBe(5);
        }
      },
    ),
  );
});
