/** A module with a meter, such as RE2, can be stopped, and otherwise behaves as before. */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { metered } from "../../src/re2/metered.ts";
import { newRangeList, pushRange } from "../../src/regex/range-list.ts";
import { Re2Stopped } from "../../src/re2/module.ts";
import { re2Find, type MustEnd } from "../../src/re2/re2.ts";
import { verifyRanges } from "../../src/re2/verify.ts";

const section = (id: number, ...parts: (number | number[])[]) => {
  const bytes = parts.flat();
  return [id, bytes.length, ...bytes];
};
const named = (name: string) => [name.length, ...Buffer.from(name)];

/** A function that never ends. Before its loop are bytes that could be mistaken for loops: 3 and 0x40. */
const BODY = [
  [1, 1, 0x7f], // a local i32
  [0x42, 3, 0x1a], // i64.const 3, drop
  [0x43, 3, 0x40, 3, 0x40, 0x1a], // f32.const
  [0x44, 3, 0x40, 3, 0x40, 3, 0x40, 3, 0x40, 0x1a], // f64.const
  [0x41, 0x83, 0x80, 3, 0x21, 0, 0x20, 0, 0xc0, 0x1a], // numbers of several bytes, sign extension
  [0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 0, 0x0b], // block, br_table
  [0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0xfc, 2, 0x1a], // a conversion behind a prefix
  [0x03, 0x40, 0x03, 0x40, 0x0c, 1, 0x0b, 0x0b], // a loop within a loop
  0x0b,
].flat();

const MODULE = Uint8Array.from(
  [
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, 1, 0x60, 0, 0),
    section(2, 2, named("e"), named("other"), 0, 0, named("e"), named("tick"), 0, 0),
    section(3, 1, 0),
    section(6, 1, 0x7f, 0, 0x41, 7, 0x0b),
    section(7, 1, named("run"), 0, 2),
    section(10, 1, BODY.length, ...BODY),
  ].flat(),
);

test("an endless function asks at each iteration whether it may continue", () => {
  let asked = 0;
  const e = {
    other: () => expect.unreachable(),
    tick: () => {
      fuel.value = 10;
      if (++asked === 5) throw new Error("enough");
    },
  };
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(metered(MODULE, "tick")), {
    e,
  });
  const fuel = exports["fuel"] as unknown as { value: number };
  expect(exports["run"] as () => void).toThrow("enough");
  expect(asked).toBe(5);
});

test("unknown instructions are rejected", () => {
  const simd = MODULE.slice();
  simd[simd.indexOf(0x42)] = 0xfd;
  expect(() => metered(simd, "tick")).toThrow(/unknown instruction/);
  expect(() => metered(MODULE, "tack")).toThrow(/no function tack/);
});

const text = Buffer.from("0123456789 -_=".repeat(5_000));
const all = { start: 0, end: text.length };
const find = (source: string, mustEnd?: MustEnd) =>
  re2Find(compileExpression(source, { caseSensitive: true }), text, all, 0, mustEnd);

/** Expressions that take RE2 from half a second to minutes if nothing stops it. */
const ENDLESS: readonly (readonly [what: string, source: string])[] = [
  ["compiling Unicode classes", "(\\pL+\\s*){30}"],
  ["compiling optional parts", "a?".repeat(1_500)],
  ["building states", "(?i)[^a-z]{900}"],
  ["running ever new states", "[\\d -]*0[\\d -_=]{300}x"],
];

test.each(ENDLESS)("RE2 can be stopped: %s", (_, source) => {
  let asked = 0;
  expect(() => find(source, () => ++asked > 20)).toThrow(Re2Stopped);
  expect(asked).toBe(21);
  expect(find("4[5-7]+")).toEqual({ start: 4, end: 8 });
});

test("a small question has no meter, and no more of them are asked when time is up", () => {
  const expression = compileExpression("4[5-7]+", { caseSensitive: true });
  let [asked, found] = [0, 0];
  const ask = () => re2Find(expression, text, { start: 0, end: 100 }, 0, () => ++asked > 3);
  expect(() => {
    for (; found < 10; found++) ask();
  }).toThrow(Re2Stopped);
  expect(found).toBe(3);
});

test("RE2 is not used when time is up, and has unlimited time if there is no limit", () => {
  const expression = compileExpression("4[5-7]+", { caseSensitive: true });
  const wrong = newRangeList();
  pushRange(wrong, 0, 1);
  const verify = (isLate?: MustEnd) =>
    verifyRanges(expression, {
      bytes: text,
      text: { start: 0, end: 100 },
      claimed: wrong,
      ...(isLate && { isLate }),
    });
  expect(verify(() => true)).toBeUndefined();
  expect(verify()?.data.slice(0, 2)).toEqual(Uint32Array.of(4, 8));
  expect(find("[0-9]+ -", () => false)).toEqual({ start: 0, end: 12 });
});
