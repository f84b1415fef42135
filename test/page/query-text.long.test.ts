import { expect, test } from "vitest";
import {
  addFilter,
  filterFor,
  filterWord,
  hasFilter,
  namesRevisions,
  removeFilter,
  wordAt,
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
