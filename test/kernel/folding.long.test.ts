import { createRequire } from "node:module";
import { expect, test } from "vitest";
import {
  foldCodePoint,
  foldingCodePoints,
  foldingPages,
  foldText,
  FOLDING_TABLE_BYTES,
  orbit,
  writeFoldingTable,
} from "../../src/kernel/folding.ts";
import { isInTurn, someOf } from "../runs.ts";

interface Pattern {
  ok(): boolean;
  match(text: string, start: number, groups: boolean): { index: number };
  delete(): void;
}
const { WrappedRE2 } = createRequire(import.meta.url)("re2-wasm/build/wasm/re2.js") as {
  WrappedRE2: new (source: string, ignoreCase: boolean, multi: boolean, dotAll: boolean) => Pattern;
};

const hex = (cp: number) => `\\x{${cp.toString(16)}}`;
const isSurrogate = (cp: number) => cp >= 0xd800 && cp <= 0xdfff;

/** Whether RE2 finds the class in the text, ignoring case. */
function finds(members: string, text: string): boolean {
  const pattern = new WrappedRE2(`[${members}]`, true, false, false);
  expect(pattern.ok()).toBe(true);
  const { index } = pattern.match(text, 0, false);
  pattern.delete();
  return index >= 0;
}

test.each<[string, string]>([
  ["ABC xyz 09_", "abc xyz 09_"],
  ["\u212a\u017f", "ks"],
  ["ÉéÅ\u212b", "ééåå"],
  ["Σσς", "σσσ"],
  ["ẞß", "ßß"],
  ["\u01c4\u01c5\u01c6", "\u01c6\u01c6\u01c6"],
  ["İıIi", "İıii"],
  ["Ꭰꭰ", "ꭰꭰ"],
  ["\u{10400}\u{10428}", "\u{10428}\u{10428}"],
  ["\u{1e900}", "\u{1e922}"],
  ["\ud800", "\ud800"],
])("%s folds to %s", (text, want) => {
  expect(foldText(text)).toBe(want);
});

test("an orbit contains each member once, and that of a code point without other cases contains only itself", () => {
  expect(orbit(0x6b)).toEqual([0x4b, 0x6b, 0x212a]);
  expect(orbit(0x3c2)).toEqual([0x3a3, 0x3c2, 0x3c3]);
  expect(orbit(0x31)).toEqual([0x31]);
  for (const cp of foldingCodePoints()) expect(orbit(foldCodePoint(cp))).toContain(cp);
});

test.runIf(isInTurn(3, 1))("RE2 matches exactly the members of each orbit", () => {
  const all = foldingCodePoints().map((cp) => String.fromCodePoint(cp));
  const places = new Map(all.map((text, place) => [text, place]));
  for (const cp of someOf(foldingCodePoints(), 4)) {
    const members = orbit(cp).map((member) => String.fromCodePoint(member));
    const pattern = new WrappedRE2(hex(cp), true, false, false);
    const isFound = (text: string) => pattern.match(text, 0, false).index >= 0;
    expect(members.filter(isFound), hex(cp)).toEqual(members);
    // one text of all other code points, which takes most of the time
    const left = new Set(members.map((member) => places.get(member)));
    expect(isFound(all.filter((_, place) => !left.has(place)).join("")), hex(cp)).toBe(false);
    pattern.delete();
  }
});

/**
 * Two code points that fold together differ in some bit. So nothing outside the table folds if, for every bit, RE2
 * cannot find the points with that bit among those without it. Bits 0–6 are tested block by block, because a class of
 * many ranges is slow to build.
 */
const lone = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => from + i).filter(
    (cp) => !isSurrogate(cp) && orbit(cp).length === 1,
  );

const string = (cps: readonly number[]) => {
  let text = "";
  for (const cp of cps) text += String.fromCodePoint(cp);
  return text;
};

function ranges(cps: readonly number[]): string {
  let out = "";
  for (let i = 0, j = 0; i < cps.length; i = j) {
    for (j = i + 1; cps[j] === cps[j - 1]! + 1;) j++;
    out += `${hex(cps[i]!)}-${hex(cps[j - 1]!)}`;
  }
  return out;
}

function splitByBit(points: readonly number[], bit: number): void {
  const having = points.filter((cp) => (cp >> bit) & 1);
  const lacking = points.filter((cp) => !((cp >> bit) & 1));
  if (having.length > 0 && lacking.length > 0)
    expect(finds(ranges(having), string(lacking)), `bit ${bit} from ${points[0]}`).toBe(false);
}

function splitBlock(from: number): void {
  const points = lone(from, from + 128);
  for (let bit = 0; bit < 7; bit++) splitByBit(points, bit);
}

/** Blocks of scripts without cases: one block in eight, or all with QUERN_EXHAUSTIVE=1. */
const mayFold = (from: number): boolean =>
  process.env["QUERN_EXHAUSTIVE"] !== undefined ||
  from % (8 * 128) === 0 ||
  /[\p{Cased}\p{CWCM}]/u.test(string(lone(from, from + 128)));

test("RE2 folds no code point below 0x20000 that the table omits", () => {
  const blocks: number[] = [];
  for (let from = 0; from < 0x20000; from += 128) if (mayFold(from)) blocks.push(from);
  someOf(blocks, 2).forEach(splitBlock);
  const points = lone(0, 0x20000);
  for (let bit = 7; bit < 17; bit++) splitByBit(points, bit);
  expect(finds(ranges(points), string(foldingCodePoints()))).toBe(false);
});

// all blocks of the higher planes take 20 s, so only one in 64 is tested without QUERN_EXHAUSTIVE=1
test.runIf(isInTurn(3))("RE2 folds nothing at or above 0x20000", () => {
  const stride = process.env["QUERN_EXHAUSTIVE"] ? 128 : 64 * 128;
  for (let from = 0x20000; from < 0x110000; from += stride) splitBlock(from);
  for (let plane = 0x20000; plane < 0x110000; plane += 0x10000) {
    const points = lone(plane, plane + 0x10000);
    for (let bit = 10; bit < 16; bit++) splitByBit(points, bit);
    const planeRange = `${hex(plane)}-${hex(plane + 0xffff)}`;
    expect(finds(planeRange, string(lone(0, 0x20000)))).toBe(false);
    expect(finds(planeRange, string(foldingCodePoints()))).toBe(false);
  }
});

test("the table in memory equals foldCodePoint()", () => {
  const bytes = new Uint8Array(FOLDING_TABLE_BYTES + 8);
  writeFoldingTable(bytes, 4);
  const deltas = new Int32Array(bytes.buffer, 4 + 1024, (FOLDING_TABLE_BYTES - 1024) / 4);
  for (let cp = 0; cp < 0x20000; cp++)
    if (cp + deltas[bytes[4 + (cp >> 7)]! * 128 + (cp & 127)]! !== foldCodePoint(cp))
      expect.fail(`U+${cp.toString(16)}`);
  expect(foldingPages().blocks.length * 4 + 1024).toBe(FOLDING_TABLE_BYTES);
});
