import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addFilter,
  facetValuesIn,
  filterFor,
  filterWord,
  hasFilter,
  namesRevisions,
  isOfHistory,
  removeFilter,
  splitQuestion,
  withFacetValues,
  wordAt,
  type FacetKind,
} from "../../src/page/search/query-text.ts";

test.each<[string, string, string]>([
  ["", "lang:go", "lang:go"],
  ["a b ", "lang:go", "a b lang:go"],
  ["a lang:go", "lang:go", "a lang:go"],
  ["a or b", "lang:go", "(a or b) lang:go"],
  ["order", "lang:go", "order lang:go"],
  ['"a or b', "lang:go", '("a or b) lang:go'],
])("the query %j with the filter %s is %j", (query, filter, both) => {
  expect(addFilter(query, filter)).toBe(both);
  expect(hasFilter(both, filter)).toBe(true);
  expect(hasFilter(removeFilter(both, filter), filter)).toBe(false);
});

test.each([
  [filterFor("repo", "acme/shop.js"), String.raw`repo:^acme/shop\.js$`],
  [filterFor("repo", "my shop"), 'repo:"^my shop$"'],
  [filterFor("repo", "a (b)"), String.raw`repo:"^a \\(b\\)$"`],
  [filterFor("lang", "Vim Script"), 'lang:"Vim Script"'],
  [filterFor("folder", "src/a+b"), String.raw`file:^src/a\+b/`],
])("writes the filter %s", (filter, written) => {
  expect(filter).toBe(written);
});

test.each<[string, string, number, number]>([
  ["a|", "a", 0, 1],
  ["a lang:g|o x", "lang:g", 2, 9],
  ["a |", "", 2, 2],
  ['x file:"my d|oc" y', 'file:"my d', 2, 15],
])("finds the word at the caret of %s", (marked, text, start, end) => {
  const caret = marked.indexOf("|");
  expect(wordAt(marked.replace("|", ""), caret)).toEqual({ text, start, end });
});

test.each([
  ["lang:go", { before: "", keyword: "lang", value: "go" }],
  ["-(file:x", { before: "-(", keyword: "file", value: "x" }],
  ['file:"a b', { before: "", keyword: "file", value: "a b" }],
  ["go", undefined],
  ["a::b", { before: "", keyword: "a", value: ":b" }],
])("parses %s as a filter", (text, word) => {
  expect(filterWord(text)).toEqual(word);
});

test.each([
  ["rev:main a", true],
  ["(rev:main or a)", true],
  ["prev:main", false],
])("%s asks for revisions: %s", (query, does) => {
  expect(namesRevisions(query)).toBe(does);
});

test.each<[string, FacetKind, string[], string[]]>([
  ["a lang:Go", "lang", ["Go"], []],
  ["a (lang:Go or lang:C)", "lang", ["Go", "C"], []],
  ["a (lang:Go or lang:C) -lang:Rust", "lang", ["Go", "C"], ["Rust"]],
  ['a lang:"Vim Script"', "lang", ["Vim Script"], []],
  [String.raw`repo:^a\.b$ -repo:^c$`, "repo", ["a.b"], ["c"]],
  ["file:^src/ x", "folder", ["src"], []],
  ["repo:a", "repo", [], []], // the reader has written it
  ["(a or lang:Go)", "lang", [], []],
  ["lang:Go lang:C", "lang", [], []],
  ["(lang:Go or x)", "lang", [], []],
])("%j has these values of %s: %j, without %j", (query, kind, only, without) => {
  expect(facetValuesIn(query, kind)).toEqual({ only, without });
});

test("values of facets can be chosen and undone in any query", () => {
  const values = ["a", "b.c", 'd "e"', "f (g)", "h|i", "Vim Script", "x\\y"];
  const some = fc.subarray(values, { maxLength: 4 });
  const kinds = fc.constantFrom<FacetKind>("repo", "lang", "folder");
  const terms = fc.constantFrom("term", "x or y", '"q r"', "repo:z", "(m n)");
  fc.assert(
    fc.property(terms, kinds, some, some, some, (query, kind, first, second, third) => {
      const none = { only: [], without: [] };
      const start = withFacetValues(query, kind, none, none);
      const chosen = { only: first, without: second.filter((value) => !first.includes(value)) };
      const once = withFacetValues(start, kind, none, chosen);
      expect(facetValuesIn(once, kind)).toEqual(chosen);
      const next = { only: third, without: [] };
      const twice = withFacetValues(once, kind, chosen, next);
      expect(facetValuesIn(twice, kind)).toEqual(next);
      const back = withFacetValues(twice, kind, next, none);
      expect([start, `(${start})`]).toContain(back);
    }),
  );
});

test.each([
  ["type:diff x", true],
  ["(a or type:commit)", true],
  ["type:diffs x", false],
  ["x type:file", false],
])("%j is a query of the history: %s", (query, is) => {
  expect(isOfHistory(query)).toBe(is);
});

test.each([
  ["where is it repo:shop", "where is it", "repo:shop"],
  ["lang:go retry -file:test delay", "retry delay", "lang:go -file:test"],
  ["what does type: mean", "what does type: mean", ""],
])("the question %j is split", (question, text, filters) => {
  expect(splitQuestion(question)).toEqual({ text, filters });
});
