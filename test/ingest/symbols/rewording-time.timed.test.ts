/**
 * The rules of newer syntax take linear time on hostile texts. Some texts are written by hand, others consist of random
 * words of the rules.
 */

import { expect, test } from "vitest";
import { LANGUAGE_QUERIES, languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { randomFrom } from "../../regex/random.ts";
import { MOST_WORK_MS, workOnRepeated } from "./rewording-work.ts";

const CLASSES = "class a ".repeat(25);

test.each([
  ["Kotlin", "class   by "],
  ["Kotlin", `class ${"a".repeat(99)} by `],
  ["Kotlin", `${CLASSES}:${" by x".repeat(100)}`],
  ["Kotlin", `${CLASSES}:${"x".repeat(500)} by `],
  ["Kotlin", `${CLASSES}(${`(${"x".repeat(99)})`.repeat(99)} by `],
  ["C#", `extension(${"a".repeat(199)} ${"b".repeat(299)}`],
  ["TypeScript", "class a<in out "],
  ["CSS", "@container "],
])("%s takes linear time, row %#", (language, piece) => {
  expect(workOnRepeated(piece, languageQuery(language)!)).toBeLessThan(MOST_WORK_MS);
});

const MARKS = '( ) < > { } [ ] : = , . ; @ # ~ " -> \n'.split(" ");
const RUNS = [" ", " a ", "a ".repeat(30), "a".repeat(50)];
const TEXTS = 5; // for each rule

const rows = LANGUAGE_QUERIES.flatMap((query) => {
  const { rewordings = [], frame } = query;
  const rules = rewordings.map(({ words, newer }) => [...words, ...wordsOf(newer)]);
  if (frame) rules.push([...frame.words, ...wordsOf(frame.around)]);
  return rules.length === 0 ? [] : [{ language: query.names[0]!, query, rules }];
});

test.each(rows)("$language takes linear time on words of its rules", ({ query, rules }) => {
  const random = randomFrom(1);
  const pick = (parts: readonly string[]): string =>
    parts[random(parts.length)]!.repeat([1, 1, 9, 99][random(4)]!);
  for (const own of rules)
    for (let text = 0; text < TEXTS; text++) {
      const parts = [...own, ...own, ...MARKS, ...RUNS];
      const chosen = Array.from({ length: 1 + random(6) }, () => pick(parts));
      const piece = `${own[0]}${chosen.join("")}`;
      expect(workOnRepeated(piece, query), piece).toBeLessThan(MOST_WORK_MS);
    }
});

function wordsOf(expression: RegExp): string[] {
  return expression.source.match(/[A-Za-z_]{2,}/g) ?? [];
}
