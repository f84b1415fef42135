import fc from "fast-check";
import { expect, test } from "vitest";
import { boxFor, readingOf, sentFor } from "../../src/page/search/box-text.ts";

const raw = String.raw;

test.each<[text: string, regex: boolean, query: string, sentRegex: boolean]>([
  ["a b", false, "a b", false],
  ["a b", true, '"a b"', true],
  [raw`func \w+Route\(`, true, raw`"func \\w+Route\\("`, true],
  ["repo:gin a  b lang:go", true, 'repo:gin "a  b" lang:go', true],
  ['say "hi" to', true, 'say "hi" to', true], // the reader quotes
  ["a repo:gin b", true, "a repo:gin b", true], // a filter in between
  ["a", true, "a", true],
  ["std::a b", true, '"std::a b"', true], // std is no filter
  ["repo:gin", true, "repo:gin", true],
  ["a\nb", false, raw`"\Qa\E\s*\n\s*\Qb\E"`, true],
  ["  a(\n\n  b) \n", false, raw`  "\Qa(\E\s*\n\s*\Qb)\E" ` + "\n", true],
  ["repo:x a\nb file:y", false, raw`repo:x "\Qa\E\s*\n\s*\Qb\E" file:y`, true],
  ['"a\nb"', false, '"a\nb"', false],
])("the text %j with regex %s is sent as %j", (text, regex, query, sentRegex) => {
  expect(sentFor({ text, regex })).toEqual({ query, regex: sentRegex });
});

test.each<[query: string, regex: boolean, text: string, boxRegex: boolean]>([
  ['"a b"', true, "a b", true],
  ['"a b"', false, '"a b"', false],
  ["a b", true, "a b", true],
  ['"a"', true, '"a"', true],
  [raw`"func \w+Route"`, true, raw`"func \w+Route"`, true], // no text of the box is sent like this
  [raw`"\Qa\E\s*\n\s*\Qb\E" repo:x`, true, "a\nb repo:x", false],
])("the box shows %j with regex %s as %j", (query, regex, text, boxRegex) => {
  expect(boxFor({ query, regex })).toEqual({ text, regex: boxRegex });
});

test("the box shows what was typed, or a text that is sent as the same query", () => {
  const word = fc.constantFrom(
    "a",
    "b c",
    'd"',
    "\\w+",
    "\n",
    "repo:x",
    " ",
    "or",
    "(",
    "\\E",
    "\\Q",
    "e:f",
  );
  const texts = fc.array(word, { maxLength: 6 }).map((words) => words.join(" "));
  fc.assert(
    fc.property(texts, fc.boolean(), (text, regex) => {
      const sent = sentFor({ text, regex });
      expect(sentFor(boxFor(sent))).toEqual(sent);
      // a query that some box has sent is shown without its quotes and backslashes, unless a line contains \\E
      if (sent.query !== text && !text.includes("\\E"))
        expect(boxFor(sent).text).not.toBe(sent.query);
      const reading = readingOf(sent);
      if (reading !== undefined) expect(reading.other).not.toEqual(sent);
    }),
  );
});

test.each<[query: string, kind: string | undefined, other: string | undefined]>([
  ['"a b"', "expression", "a b"],
  ["a b", "parts", '"a b"'],
  ["a", undefined, undefined],
  ['say "hi" to', undefined, undefined],
])("%j is read as %s, and otherwise as %j", (query, kind, other) => {
  const reading = readingOf({ query, regex: true });
  expect([reading?.kind, reading?.other.query]).toEqual([kind, other]);
});
