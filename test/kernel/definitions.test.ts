/**
 * Compares the rating of matches by a stored run of definitions with a twin that looks at every pair of a match and a
 * definition.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowableBytes } from "../../src/base/growable.ts";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { MEMBER_KINDS, SYMBOL_KINDS } from "../../src/store/symbols/symbol-kinds.ts";
import { encodeSymbols } from "../../src/store/symbols/symbol-run.ts";

const kernel = createKernel();
const arena = new Arena(kernel);

type Range = readonly [start: number, end: number];

/** The kinds of the rows, in turn. */
const KINDS = (["function", "class", "constructor", "field", "property"] as const).map((kind) =>
  SYMBOL_KINDS.indexOf(kind),
);
const kindOf = (row: number): number => KINDS[row % KINDS.length]!;

interface Case {
  readonly text: string;
  readonly names: readonly Range[]; // ascending by start
  readonly matches: readonly Range[]; // ascending, apart
}

function put(values: Uint8Array | Uint32Array): number {
  return arena.put(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
}

function rated({ text, names, matches }: Case, damage?: (run: Uint8Array) => Uint8Array): number {
  const mark = arena.mark();
  const rows = names.flatMap(([start, end], row) => [
    start,
    end,
    kindOf(row),
    row > 0 && row % 2 === 0 ? 0 : -1,
  ]);
  const out = new GrowableBytes(16);
  encodeSymbols({ count: names.length, rows: Int32Array.from(rows) }, out);
  const run = damage?.(out.view.slice()) ?? out.view.slice();
  const [at, list] = [put(run), put(Uint32Array.from(matches.flat()))];
  const origin = put(Buffer.concat([Buffer.from("__"), Buffer.from(text), Buffer.from("__")])) + 2;
  const end = list + 8 * matches.length;
  const best = kernel.run.bestDefinition(at, at + run.length, list, end, origin, text.length);
  arena.release(mark);
  return best;
}

const isWord = (char: string | undefined) => char !== undefined && /\w/.test(char);

/** Rates an end of a match: 2 at the end of a word, 1 at a joint within a word, 0 elsewhere. */
function edge(left: string | undefined, right: string | undefined): number {
  if (!isWord(left) || !isWord(right)) return 2;
  if (left === "_" || right === "_") return 1;
  if (/[a-z]/.test(left!) && /[A-Z]/.test(right!)) return 1;
  return /\d/.test(left!) === /\d/.test(right!) ? 0 : 1;
}

function naive({ text, names, matches }: Case): number {
  let best = 0;
  for (const [row, [nameStart, nameEnd]] of names.entries())
    for (const [start, end] of matches) {
      if (start < nameStart || end > nameEnd || start === end) continue;
      const name = text.slice(nameStart, nameEnd);
      const [from, to] = [start - nameStart, end - nameStart];
      const isAtEnds = from === 0 && to === name.length;
      const isAtAnEnd = from === 0 || to === name.length;
      const edges = edge(name[from - 1], name[from]) + edge(name[to - 1], name[to]);
      const whole = MEMBER_KINDS.has(kindOf(row)) ? 2 : 3;
      best = Math.max(best, isAtEnds ? whole : isAtAnEnd && edges >= 3 ? 2 : 1);
    }
  return best;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    text: fc.string({
      unit: fc.constantFrom(...Array.from("aB_1 ab")),
      minLength: 1,
      maxLength: 400,
    }),
    cuts: fc.uniqueArray(fc.nat(400), { maxLength: 12 }),
    lengths: fc.array(fc.nat(20), { minLength: 12, maxLength: 12 }),
    ends: fc.uniqueArray(fc.nat(400), { maxLength: 16 }),
  })
  .map(({ text, cuts, lengths, ends }) => {
    const within = (places: readonly number[]) =>
      [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
    const names = within(cuts).map((start, i): Range => [
      start,
      Math.min(text.length, start + lengths[i]!),
    ]);
    const sorted = within(ends);
    const matches = sorted.flatMap((end, i): Range[] =>
      i % 2 === 1 ? [[sorted[i - 1]!, end]] : [],
    );
    return { text, names, matches };
  });

test.each<[string, Case, number]>([
  ["the name", { text: "int foo()", names: [[4, 7]], matches: [[4, 7]] }, 3],
  ["its beginning, up to a joint", { text: "foo_bar", names: [[0, 7]], matches: [[0, 3]] }, 2],
  ["its beginning, inside a word", { text: "foobar", names: [[0, 6]], matches: [[0, 3]] }, 1],
  ["its middle", { text: "a_foo_b", names: [[0, 7]], matches: [[2, 5]] }, 1],
  ["more than the name", { text: "foo()", names: [[0, 3]], matches: [[0, 4]] }, 0],
  ["another place", { text: "foo = foo", names: [[0, 3]], matches: [[6, 9]] }, 0],
  [
    "a constructor's name",
    {
      text: "a b Foo",
      names: [
        [0, 1],
        [2, 3],
        [4, 7],
      ],
      matches: [[4, 7]],
    },
    2,
  ],
  ["no definitions", { text: "foo", names: [], matches: [[0, 3]] }, 0],
])("%s", (_, one, want) => {
  expect(rated(one)).toBe(want);
  expect(naive(one)).toBe(want);
});

test("rates any matches by any definitions", () => {
  fc.assert(
    fc.property(cases, (one) => {
      expect(rated(one)).toBe(naive(one));
    }),
    { numRuns: 2_000 },
  );
});

const ended: Case = { text: "foo bar", names: [[0, 3], [4, 7]], matches: [[4, 6]] }; // prettier-ignore

test("a run that is truncated, or has names beyond the text, is invalid", () => {
  expect(rated(ended)).toBe(1);
  expect(rated(ended, (run) => run.subarray(0, 5))).toBe(-1);
  expect(rated({ ...ended, text: "foo ba" })).toBe(-1);
  expect(rated(ended, (run) => run.fill(255, 2, 3))).toBe(-1);
});

test("finds the names at places, as a look at every pair does", () => {
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 30 }), ({ text, names, matches }, reach) => {
      const places = matches.map(([start]) => start);
      const expected = names.filter(
        ([start, end]) =>
          places.length === 0 || places.some((place) => place < end && place + reach > start),
      );
      expect(namesAt({ text, names, places, reach })).toEqual(expected.flat());
    }),
    { numRuns: 2_000 },
  );
});

test("a run with names beyond the text, or with fewer names than it claims, is invalid", () => {
  const { text, names } = ended;
  const places: number[] = [];
  const all = { text, names, places, reach: 1 };
  expect(namesAt(all)).toEqual([0, 3, 4, 7]);
  expect(namesAt({ ...all, text: "foo ba" })).toBe(-1);
  expect(namesAt(all, (run) => run.fill(3, 0, 1))).toBe(-1);
  expect(namesAt(all, (run) => run.subarray(0, 5))).toBe(-1);
  expect(namesAt(all, (run) => run.fill(255, 2, 3))).toBe(-1);
});

interface Places extends Pick<Case, "text" | "names"> {
  readonly places: readonly number[];
  readonly reach: number;
}

/** Returns the starts and ends of the names at the places, or -1. `change` changes the run. */
function namesAt(
  { text, names, places, reach }: Places,
  change: (run: Uint8Array) => Uint8Array = (run) => run,
) {
  const mark = arena.mark();
  const encoded = new GrowableBytes(16);
  const rows = names.flatMap(([start, end], row) => [start, end, row % 5, row % 3 ? 0 : -1]);
  encodeSymbols({ count: names.length, rows: Int32Array.from(rows) }, encoded);
  const run = change(encoded.view.slice());
  const origin = put(Buffer.from(text));
  const [at, list] = [put(run), put(Uint32Array.from(places, (place) => place + origin))];
  const out = arena.take(8 * Math.ceil(run.length / 3));
  const { length } = Buffer.from(text);
  const listEnd = list + 4 * places.length;
  const count = kernel.run.namesAt(at, at + run.length, list, listEnd, origin, reach, length, out);
  const found = [...kernel.words.subarray(out >>> 2, (out >>> 2) + 2 * Math.max(0, count))];
  arena.release(mark);
  return count < 0 ? count : found;
}
