/**
 * Three neighbouring classes that every match contains: a table, a comparison with RE2's matches, and hostile sizes.
 */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { requiredClasses, tripleTables, type Triple } from "../../src/regex/required-classes.ts";
import { re2Ranges } from "../../src/re2/verify.ts";
import { RUNS } from "../runs.ts";
import { randomFrom } from "./random.ts";

const show = (triple: Triple | undefined): string =>
  (triple ?? [])
    .map((set) =>
      set.reduce((text, cp, i) => {
        const char = String.fromCharCode(cp);
        if (i % 2 === 0) return text + char;
        return set[i - 1] === cp ? text : `${text}-${char}`;
      }, ""),
    )
    .join(" ");

const tripleOf = (source: string, caseSensitive = true): Triple | undefined =>
  requiredClasses(compileExpression(source, { caseSensitive }).syntax);

test.each<[source: string, triple: string]>([
  ["[a-z]{3}_[A-Z]{4}", "a-z _ A-Z"],
  ["(19|20)[0-9]{2}-[0-9]{2}", "0-9 - 0-9"],
  ["0x[0-9a-f]{8}", "0 x 0-9a-f"],
  ["a+-b+", "a - b"], // the last a, the first b
  ["[a-f]+x[0-9]*y", ""], // the part between them may be empty
  ["[a-f]?-x-", "- x -"],
  ["(?:-x)+!", "- x !"],
  ["(?:x-){2}", "- x -"],
  ["(?:-!?){2}-", ""],
  ["\\b-x\\b-", "- x -"], // an assertion separates nothing
  ["(-)(x)(-)", "- x -"],
  ["-(?:xy|z)-", ""],
  ["-(?:x|y)-", "- x-y -"],
  ["-[xy]-", "- x-y -"],
  ["-.-", ""],
  ["-é-x-", "- x -"],
  ["-[^a]-x", ""], // the set contains everything beyond ASCII
  ["[a-z][a-z][a-z]", ""], // as frequent as any byte
  ["-\\C-x", ""],
  ["-x", ""],
  ["-x{0}--", "- - -"],
])("%s", (source, want) => {
  expect(show(tripleOf(source))).toBe(want);
});

test("without case, both cases represent a letter, and letters that fold to non-ASCII represent none", () => {
  expect(show(tripleOf("-x-", false))).toBe("- Xx -");
  expect(show(tripleOf("-k-!-", false))).toBe("- ! -");
});

/** Whether three neighbouring bytes of the text are members of the classes. */
function holds(text: Uint8Array, triple: Triple): boolean {
  const isIn = (place: number, byte: number) =>
    triple[place]!.some((low, i, set) => i % 2 === 0 && byte >= low && byte <= set[i + 1]!);
  return text.some(
    (byte, at) =>
      at + 2 < text.length && isIn(0, byte) && isIn(1, text[at + 1]!) && isIn(2, text[at + 2]!),
  );
}

/** Parts of a pattern, each with texts that it matches. */
const PARTS: readonly (readonly [source: string, ...samples: string[]])[] = [
  ["-", "-"],
  ["_", "_"],
  ["[a-c]", "a", "c"],
  ["[A-Z]{2}", "AB"],
  ["\\d+", "1", "123", "12345"],
  ["(?:x|yz)", "x", "yz"],
  ["(?:x|y)", "x", "y"],
  ["[0-9]?", "", "7"],
  ["(?:-a){1,3}", "-a", "-a-a-a"],
  ["(?:-[a-c]?_){2}", "-_-b_", "-a_-_"],
  ["(?:(?:!x){2}_){2,}", "!x!x_!x!x_", "!x!x_!x!x_!x!x_"],
  ["(?i:q)", "q", "Q"],
  ["(?i:k)", "k", "K", "\u212a"],
  [".", "e", "é"],
  ["\\b", ""],
];

test("every match of RE2 contains the classes", () => {
  const random = randomFrom(Number(process.env["QUERN_SEED"] ?? 1));
  let held = 0;
  for (let round = 0; round < 1_500 * RUNS; round++) {
    const parts = Array.from({ length: 3 + random(4) }, () => PARTS[random(PARTS.length)]!);
    const source = parts.map(([each]) => each).join("");
    const expression = compileExpression(source, { caseSensitive: random(2) === 0 });
    const triple = requiredClasses(expression.syntax);
    if (!triple) continue;
    const sample = parts.map(([, ...samples]) => samples[random(samples.length)]).join("");
    const text = Buffer.from(` ${sample} ${sample}`);
    const { data, length } = re2Ranges(expression, {
      bytes: text,
      text: { start: 0, end: text.length },
    });
    for (let i = 0; i < length; i++, held++) {
      const match = text.subarray(data[2 * i], data[2 * i + 1]);
      expect(holds(match, triple), `${source} on ${match.toString()}: ${show(triple)}`).toBe(true);
    }
  }
  expect(held).toBeGreaterThan(500);
});

test("nested repetitions and long patterns take little time", () => {
  const start = performance.now();
  tripleOf("((((((([a-c]-x){3}){3}){3}y){2,}){2,}z){2,}){2,}");
  tripleOf("[0-9a-f]-".repeat(1_000));
  expect(performance.now() - start).toBeLessThan(5_000);
});

test("the tables contain the members of each set", () => {
  const tables = tripleTables([[97, 99], [95, 95], [0, 127]]); // prettier-ignore
  const isIn = (place: number, byte: number) =>
    ((tables[16 * place + (byte & 15)]! >> (byte >> 4)) & 1) === 1;
  for (let byte = 0; byte < 128; byte++)
    expect([isIn(0, byte), isIn(1, byte), isIn(2, byte)]).toEqual([
      byte >= 97 && byte <= 99,
      byte === 95,
      true,
    ]);
});
