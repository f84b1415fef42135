/** Compares the words and lists of the kernel with a slow twin. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { entriesOf } from "../../src/store/words/merged-words.ts";
import { wordsOf } from "../../src/words/split.ts";
import { stemOf } from "../../src/words/stems.ts";
import { WINDOW_BYTES, WordTable } from "../../src/words/word-table.ts";

const WORDS: readonly (readonly [text: string, words: string])[] = [
  ["parseHTTPRequest2_all", "parse http request 2 all"],
  ["HTTPServer", "http server"],
  ["userIDs", "user ids"],
  ["URLs", "urls"],
  ["URLsOf", "urls of"],
  ["IDsea", "i dsea"],
  ["XMLHttpRequest", "xml http request"],
  ["snake_case_name", "snake case name"],
  ["SCREAMING_CASE", "screaming case"],
  ["utf8Decode", "utf 8 decode"],
  ["größe naïve", "größe naïve"],
  ["a-b.c/d", "a b c d"],
  ["constructor __proto__", "constructor proto"],
  ["", ""],
  ["x".repeat(32), "x".repeat(32)],
  ["x".repeat(33), ""],
];

describe("words of a text", () => {
  test.each(WORDS)("%j", (text, words) => {
    expect(wordsOf(text).join(" ")).toBe(words);
  });
});

/** Counts in how many windows of a text each stem is, line by line. */
function windowsOf(text: Buffer): Map<string, number> {
  const windows = new Map<string, Set<number>>();
  let [window, windowStart, at] = [0, 0, 0];
  for (const line of linesOf(text)) {
    if (at - windowStart >= WINDOW_BYTES) [window, windowStart] = [window + 1, at];
    at += line.length;
    if (line.length > 4096) continue;
    for (const word of wordsOf(line.toString())) {
      if (Buffer.byteLength(word) < 2) continue;
      const stem = stemOf(word);
      windows.set(stem, (windows.get(stem) ?? new Set()).add(window));
    }
  }
  return new Map([...windows].map(([stem, set]) => [stem, Math.min(255, set.size)]));
}

function* linesOf(text: Buffer): Generator<Buffer> {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf(10, from) + 1 || text.length;
    yield text.subarray(from, end);
    from = end;
  }
}

const identifier = fc.stringMatching(/^[a-zA-Z0-9_]{1,40}$/);
const line = fc.oneof(
  { weight: 8, arbitrary: fc.array(identifier, { maxLength: 12 }).map((each) => each.join(" ")) },
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constant("parser parsing HTTPServers ".repeat(200)), // longer than a line whose words count
);
const blob = fc
  .tuple(fc.array(line, { maxLength: 60 }), fc.boolean())
  .map(([lines, isClosed]) => Buffer.from(lines.join("\n") + (isClosed ? "\n" : "")));

test("lists have the blobs and windows that the slow twin counts", () => {
  fc.assert(
    fc.property(fc.array(blob, { minLength: 1, maxLength: 6 }), (blobs) => {
      const table = new WordTable();
      const expected = new Map<string, (readonly [number, number])[]>();
      blobs.forEach((text, i) => {
        table.addBlob(i, text);
        for (const [stem, windows] of windowsOf(text))
          expected.set(stem, [...(expected.get(stem) ?? []), [i, windows]]);
      });
      const lists: (readonly [string, unknown])[] = [];
      for (const [stem, list] of table.lists()) lists.push([stem, [...entriesOf(list)]]);
      expect(new Map(lists)).toEqual(expected);
      expect(lists.map(([stem]) => stem)).toEqual([...expected.keys()].sort());
    }),
  );
});

test("more words than the first table has room for", () => {
  const table = new WordTable();
  const words = Array.from(
    { length: 30_000 },
    (_, i) => `w${i.toString(26).replace(/\d/g, (d) => "qrstuvwxyz"[Number(d)]!)}`,
  );
  const text = Buffer.from(words.join("\n"));
  table.addBlob(7, text);
  expect(table.words).toBe(new Set(words.map((word) => word.toLowerCase())).size);
  for (const [, list] of table.lists()) expect([...entriesOf(list)][0]![0]).toBe(7);
});
