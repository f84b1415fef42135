/** Compares the literal scan with a slow twin that tries every place. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { FOLDING_TABLE_BYTES, orbit, writeFoldingTable } from "../../src/kernel/folding.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { prepareLiteral } from "../../src/search/thread/reading/literal.ts";

interface Run {
  readonly from: number;
  readonly starts: number;
}

const kernel = createKernel();
const arena = new Arena(kernel);
const folding = kernel.reserve(FOLDING_TABLE_BYTES);
writeFoldingTable(kernel.bytes, folding);

// slow twin: tries every place, code point by code point, leftmost and without overlaps across runs
function naive(
  text: Uint8Array,
  needle: string,
  caseSensitive: boolean,
  runs: readonly Run[],
): number[][] {
  const forms = Array.from(needle, (char) => {
    const point = char.codePointAt(0)!;
    return (caseSensitive ? [point] : orbit(point)).map((one) =>
      Buffer.from(String.fromCodePoint(one)),
    );
  });
  const found: number[][] = [];
  let floor = 0;
  for (const { from, starts } of runs) {
    for (let at = Math.max(from, floor); at < starts; at++) {
      let end: number | undefined = at;
      for (const form of forms) {
        const fits = form.find((bytes) => bytes.every((byte, i) => text[end! + i] === byte));
        end = fits && end + fits.length;
        if (end === undefined) break;
      }
      if (end === undefined) continue;
      found.push([at, end]);
      floor = end;
      at = end - 1;
    }
  }
  return found;
}

function scan(
  text: Uint8Array,
  needle: string,
  how: { caseSensitive: boolean; folded: boolean },
  runs: readonly Run[],
): number[][] {
  const mark = arena.mark();
  const literal = prepareLiteral({
    kind: "literal",
    text: needle,
    caseSensitive: how.caseSensitive,
  });
  const at = arena.take(text.length + 256) + 128;
  kernel.bytes.fill(0x6b, at - 64, at + text.length + 64); // 'k' all around, because bytes outside must not matter
  kernel.bytes.set(text, at);
  const table = runs.flatMap(({ from, starts }) => [
    at + from,
    at + starts,
    at + text.length,
    at,
    7,
    7,
  ]);
  const runsAt = arena.put(new Uint8Array(Uint32Array.from(table).buffer));
  const out = arena.take(8 * (text.length + runs.length + 1));
  const [bytes, masks, leads] = [literal.bytes, literal.masks, literal.leads].map((one) =>
    arena.put(one),
  );
  const points = arena.put(new Uint8Array(literal.points.buffer));
  const [first, second] = literal.rarest;
  const count = how.folded
    ? kernel.run.scanFolded(
        runsAt,
        runs.length,
        points,
        literal.points.length,
        leads!,
        folding,
        0,
        out,
      )
    : kernel.run.scanLiteral(
        runsAt,
        runs.length,
        bytes!,
        masks!,
        literal.length,
        first,
        second,
        0,
        out,
      );
  const word = out >>> 2;
  const pairs = Array.from({ length: count }, (_, i) => [
    kernel.words[word + 2 * i]! - at,
    kernel.words[word + 2 * i + 1]! - at,
  ]);
  const counts = runs.map((_, i) => kernel.words[(runsAt >>> 2) + 6 * i + 4]!);
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
  arena.release(mark);
  return pairs;
}

const whole = (text: Uint8Array): Run[] => [{ from: 0, starts: text.length }];

const ascii = fc.string({ unit: fc.constantFrom(...Array.from("abAB_ kK\n")), maxLength: 200 });
const odd = fc.string({
  unit: fc.constantFrom(...Array.from("abkKſsSéÉσςΣ\u212a İßẞ日")),
  maxLength: 80,
});

test("finds ASCII in both cases with its fast loop", () => {
  fc.assert(
    fc.property(
      ascii,
      fc.string({ unit: fc.constantFrom(...Array.from("abAB_ k")), minLength: 1, maxLength: 20 }),
      fc.boolean(),
      (text, needle, caseSensitive) => {
        const bytes = Buffer.from(text);
        const got = scan(bytes, needle, { caseSensitive, folded: false }, whole(bytes));
        expect(got).toEqual(naive(bytes, needle, caseSensitive, whole(bytes)));
      },
    ),
    { numRuns: 2000 },
  );
});

test("finds any text in any case, code point by code point", () => {
  fc.assert(
    fc.property(
      odd,
      fc.string({
        unit: fc.constantFrom(...Array.from("akKſséÉσςΣ\u212aß日")),
        minLength: 1,
        maxLength: 6,
      }),
      (text, needle) => {
        const bytes = Buffer.from(text);
        const got = scan(bytes, needle, { caseSensitive: false, folded: true }, whole(bytes));
        expect(got).toEqual(naive(bytes, needle, false, whole(bytes)));
      },
    ),
    { numRuns: 2000 },
  );
});

test("invalid UTF-8 matches nothing that folds, and does not stop the scan", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom("k", "é", "σ", "日", "ka"),
      (bytes, needle) => {
        const text = Buffer.concat([bytes, Buffer.from("K\u212aÉΣ日ka"), bytes]);
        const got = scan(text, needle, { caseSensitive: false, folded: true }, whole(text));
        expect(got).toEqual(naive(text, needle, false, whole(text)));
      },
    ),
  );
});

test("matches start inside runs, may end behind them, and do not overlap from one run to the next", () => {
  const runs = fc.array(fc.nat(120), { minLength: 2, maxLength: 8 }).map((cuts) => {
    const sorted = [...new Set(cuts)].sort((a, b) => a - b);
    return sorted
      .slice(1)
      .flatMap((starts, i): Run[] => (i % 2 === 0 ? [{ from: sorted[i]!, starts }] : []));
  });
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...Array.from("aab")), minLength: 120, maxLength: 140 }),
      runs,
      fc.constantFrom("aa", "aab", "a", "aaaaaaaaa"),
      (text, cut, needle) => {
        const bytes = Buffer.from(text);
        expect(scan(bytes, needle, { caseSensitive: true, folded: false }, cut)).toEqual(
          naive(bytes, needle, true, cut),
        );
        expect(scan(bytes, needle, { caseSensitive: false, folded: true }, cut)).toEqual(
          naive(bytes, needle, false, cut),
        );
      },
    ),
  );
});

// each place around the 16 and 64 bytes that the loop reads at once, and each length around a vector
test.each([1, 2, 15, 16, 17, 31, 32, 33, 64, 65, 200])(
  "a needle of %i bytes at every offset",
  (length) => {
    const needle = Array.from(
      { length },
      (_, i) => "abcdefghijklmnopqrstuvwxyz"[(i * 7) % 26],
    ).join("");
    for (let before = 0; before < 140; before++) {
      const text = Buffer.from(".".repeat(before) + needle.toUpperCase() + ".".repeat(before % 37));
      expect(scan(text, needle, { caseSensitive: false, folded: false }, whole(text))).toEqual([
        [before, before + length],
      ]);
      expect(scan(text, needle, { caseSensitive: true, folded: false }, whole(text))).toEqual([]);
    }
  },
);

test("a needle longer than the text is not found", () => {
  const text = Buffer.from("abc");
  expect(scan(text, "abcd", { caseSensitive: false, folded: false }, whole(text))).toEqual([]);
});
