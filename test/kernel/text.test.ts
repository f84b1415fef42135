/** Compares newlines, lines and edges with slow twins. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";

const kernel = createKernel();
const arena = new Arena(kernel);

/** Runs with the text in kernel memory, surrounded by newlines. */
function withText<T>(text: Uint8Array, run: (at: number) => T): T {
  const mark = arena.mark();
  const at = arena.take(text.length + 256) + 128;
  kernel.bytes.fill(10, at - 64, at + text.length + 64);
  kernel.bytes.set(text, at);
  const result = run(at);
  arena.release(mark);
  return result;
}

const lines = fc
  .string({ unit: fc.constantFrom(...Array.from("ab\n")), maxLength: 150 })
  .map((text) => Buffer.from(text));

test("newlines are counted in any range", () => {
  fc.assert(
    fc.property(lines, fc.nat(150), fc.nat(150), (text, a, b) => {
      const [from, to] = [Math.min(a, b, text.length), Math.min(Math.max(a, b), text.length)];
      const want = text.subarray(from, to).filter((byte) => byte === 10).length;
      expect(withText(text, (at) => kernel.run.countNewlines(at + from, at + to))).toBe(want);
    }),
  );
});

// slow twin: finds the line of each place, and joins neighbouring lines
function naiveLines(text: Buffer, places: readonly number[]): number[][] {
  const found: number[][] = [];
  for (const place of places) {
    const start = place === 0 ? 0 : text.lastIndexOf(10, place - 1) + 1;
    const newline = text.indexOf(10, place);
    const end = newline < 0 ? text.length : newline + 1;
    const last = found.at(-1);
    if (last && start <= last[1]!) last[1] = Math.max(last[1]!, end);
    else found.push([start, end]);
  }
  return found;
}

test("finds the lines around places, and joins neighbouring lines", () => {
  fc.assert(
    fc.property(lines, fc.array(fc.nat(150), { minLength: 1, maxLength: 10 }), (text, places) => {
      fc.pre(text.length > 0);
      const sorted = [...new Set(places.map((place) => place % text.length))].sort((a, b) => a - b);
      const got = withText(text, (at) => {
        const list = arena.put(
          new Uint8Array(Uint32Array.from(sorted, (place) => at + place).buffer),
        );
        const out = arena.take(8 * sorted.length);
        const count = kernel.run.linesAround(list, sorted.length, at, at + text.length, out);
        return Array.from({ length: count }, (_, i) => [
          kernel.words[(out >>> 2) + 2 * i]! - at,
          kernel.words[(out >>> 2) + 2 * i + 1]! - at,
        ]);
      });
      expect(got).toEqual(naiveLines(text, sorted));
    }),
    { numRuns: 1000 },
  );
});

// slow twin: takes the whole region if places are dense, and otherwise the lines of its places
function naiveStretches(text: Buffer, regions: number[][], places: number[], dense: number) {
  return regions.flatMap(([from, to]) => {
    const own = places.filter((place) => place >= from! && place < to!);
    if (own.length === 0) return [];
    if (own.length * dense > to! - from!) return [[from!, to!]];
    const within = own.map((place) => place - from!);
    return naiveLines(text.subarray(from, to), within).map(([a, b]) => [from! + a!, from! + b!]);
  });
}

const cut = fc.record({
  text: lines,
  ends: fc.uniqueArray(fc.nat(150), { maxLength: 8 }),
  places: fc.uniqueArray(fc.nat(150), { maxLength: 12 }),
  dense: fc.constantFrom(1, 5, 20),
});

test("finds the parts of regions with places", () => {
  fc.assert(
    fc.property(cut, ({ text, ends, places, dense }) => {
      const bounds = ends.map((end) => end % (text.length + 1)).sort((a, b) => a - b);
      const regions = bounds.flatMap((end, i) => (i % 2 === 1 ? [[bounds[i - 1]!, end]] : []));
      const inside = places
        .filter((place) => regions.some(([from, to]) => place >= from! && place < to!))
        .sort((a, b) => a - b);
      const got = withText(text, (at) => {
        const put = (numbers: readonly number[]) =>
          arena.put(new Uint8Array(Uint32Array.from(numbers, (number) => at + number).buffer));
        const [table, list] = [put(regions.flat()), put(inside)];
        const out = arena.take(8 * (regions.length + inside.length));
        const { length } = inside;
        const count = kernel.run.stretchesWith(table, regions.length, list, length, dense, out);
        return Array.from({ length: count }, (_, i) => [
          kernel.words[(out >>> 2) + 2 * i]! - at,
          kernel.words[(out >>> 2) + 2 * i + 1]! - at,
        ]);
      });
      expect(got).toEqual(naiveStretches(text, regions, inside, dense));
    }),
    { numRuns: 1000 },
  );
});

function edgeOf(text: string, match: string): number {
  const bytes = Buffer.from(text);
  const start = Buffer.from(text.slice(0, text.indexOf(match))).length;
  return withText(bytes, (at) => {
    const pair = Uint32Array.of(at + start, at + start + Buffer.byteLength(match));
    const pairs = arena.put(new Uint8Array(pair.buffer));
    return kernel.run.bestEdge(pairs, pairs + 8, at, at + bytes.length);
  });
}

test.each<[text: string, match: string, edge: number]>([
  ["foo", "foo", 4], // both ends of the text
  ["a foo b", "foo", 4],
  ["(foo)", "foo", 4],
  ["foo_bar", "foo", 3], // the end of a word, and a joint
  ["fooBar", "foo", 3],
  ["foo1", "foo", 3],
  ["a_foo_b", "foo", 2],
  ["getFooBar", "Foo", 2],
  ["foobar", "foo", 2], // one end only
  ["xfoo_", "foo", 1],
  ["xfoox", "foo", 0],
  ["éfooé", "foo", 0], // bytes beyond ASCII count as letters
  ["x(x", "(", 4], // characters outside words end every word
])("the edge of %j in it (%j) is %i", (text, match, edge) => {
  expect(edgeOf(text, match)).toBe(edge);
});
