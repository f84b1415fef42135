import { expect, test } from "vitest";
import { createKernel } from "../../src/kernel/kernel.ts";
import { compileExpression, type Expression } from "../../src/regex/expression.ts";
import { mayShare, SharedPass } from "../../src/regex/shared-pass.ts";
import { matcherRanges } from "./differential.ts";
import { randomFrom, randomPattern, randomText, type Random } from "./random.ts";

const kernel = createKernel();
const ROOM = 1 << 20;
const place = kernel.reserve(ROOM);
const compile = (source: string) => compileExpression(source, { caseSensitive: true });
const passOf = (...sources: string[]) => SharedPass.of(kernel, sources.map(compile));

/** Returns the starts of the lines that contain a place. */
function linesWithPlaces(pass: SharedPass, text: Buffer): number[] | undefined {
  kernel.bytes.set(text, place);
  const places = pass.places(place, place + text.length);
  return places && [...new Set([...places].map((at) => lineStart(text, at - place)))];
}

const lineStart = (text: Buffer, at: number) => text.subarray(0, at).lastIndexOf(10) + 1;

/** Returns a text in which few of many lines may match. */
function sparseText(random: Random): Buffer {
  const parts = [Buffer.from("~".repeat(random(40)))];
  for (let i = 0; i < 8; i++) {
    parts.push(
      Buffer.from("~~~~~~~~~~~~~~~\n".repeat(random(30))),
      Buffer.from(randomText(random)),
    );
    if (random(3) > 0) parts.push(Buffer.from("\n"));
  }
  return Buffer.concat(parts);
}

test("random expressions: a line contains a place if and only if one of them matches in it", () => {
  const random = randomFrom(Number(process.env["QUERN_SEED"] ?? 1));
  const pool: Expression[] = [];
  while (pool.length < 80) {
    const expression = compile(randomPattern(random));
    if (mayShare(expression)) pool.push(expression);
  }
  let hits = 0;
  for (let passes = 0; passes < 150; passes++) {
    const expressions = Array.from({ length: 2 + random(3) }, () => pool[random(pool.length)]!);
    const pass = SharedPass.of(kernel, expressions)!;
    for (let i = 0; i < 4 && !pass.isIdle; i++) {
      const text = sparseText(random);
      const want = expressions.flatMap((expression) => {
        const { data, length } = matcherRanges(expression, text);
        return Array.from({ length }, (_, range) => lineStart(text, data[2 * range]!));
      });
      const sources = expressions.map(({ source }) => source);
      const got = linesWithPlaces(pass, text);
      if (!got) continue;
      expect(got, JSON.stringify({ sources, text: text.toString("hex") })).toEqual(
        [...new Set(want)].sort((a, b) => a - b),
      );
      hits += want.length;
    }
  }
  expect(hits).toBeGreaterThan(300);
});

test.each<[string, string[], boolean]>([
  ["one alone", ["[a-z]{3}"], false],
  ["two", ["[a-z]{3}", "[0-9]{3}"], true],
  ["eight", Array.from({ length: 8 }, (_, i) => `[a-z]{${i + 2}}`), true],
  ["nine", Array.from({ length: 9 }, (_, i) => `[a-z]{${i + 2}}`), false],
  ["too large together", Array.from({ length: 8 }, (_, i) => `${"a".repeat(9_000)}${i}`), false],
])("%s: %#", (_, sources, shares) => {
  expect(passOf(...sources) !== undefined).toBe(shares);
});

test("expressions that cross lines or match the empty text may not share a pass", () => {
  expect(["a\\sb", "x*", "^", "\\Aa", "a[^x]"].map((source) => mayShare(compile(source)))).toEqual(
    Array.from({ length: 5 }, () => false),
  );
});

test("if matches are dense, the pass says so and stops", () => {
  const pass = passOf("[a-z]+", "[0-9]+")!;
  const text = Buffer.from("abc 123\n".repeat(100_000));
  expect(linesWithPlaces(pass, text)).toBeUndefined();
  expect(pass.isIdle).toBe(true);
  expect(linesWithPlaces(pass, Buffer.from("abc"))).toBeUndefined();
  // a new query tries again
  expect(linesWithPlaces(passOf("[a-z]+", "[0-9]+")!, Buffer.from("\nabc"))).toEqual([1]);
});

test("one match in a short text is not dense", () => {
  const pass = passOf("[a-z]+", "[0-9]+")!;
  expect(linesWithPlaces(pass, Buffer.from("?\n!\nabc\n?"))).toEqual([4]);
  expect(pass.isIdle).toBe(false);
});

test("an alternation that always needs new states is given up", () => {
  let seed = 7;
  const text = Buffer.alloc(ROOM);
  for (let i = 0; i < text.length; i++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    text[i] = i % 61 === 60 ? 10 : 97 + ((seed >> 16) % 26);
  }
  const pass = passOf("[a-q][^u-z\\n]{14}[0-9]", "[c-t][^a-f\\n]{14}[0-9]")!;
  expect(linesWithPlaces(pass, text)).toBeUndefined();
  expect(pass.isIdle).toBe(true);
});

test("if the budget ends the pass, its result is unknown", () => {
  const pass = passOf("[a-z]{3}", "[0-9]{3}")!;
  kernel.bytes.fill(10, place, place + ROOM);
  let asked = 0;
  expect(pass.places(place, place + ROOM, () => ++asked > 2)).toBeUndefined();
  expect(asked).toBe(3);
  expect(pass.isIdle).toBe(false);
  expect(pass.places(place, place + ROOM)).toEqual(new Uint32Array(0));
});
