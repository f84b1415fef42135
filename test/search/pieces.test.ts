/** A search for a literal in pieces of any size finds the same matches as a search in one piece. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { prepareLiteral } from "../../src/search/thread/reading/literal.ts";
import { LiteralScanner, placeLiteral } from "../../src/search/thread/reading/literal-scanner.ts";
import type { Window } from "../../src/search/thread/reading/window.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { RUNS } from "../runs.ts";

const kernel = createKernel();
const arena = new Arena(kernel);
const onePiece = new LiteralScanner(kernel, arena, Infinity);
const between = { isStopped: () => false, pause: () => undefined };

const string = (characters: string, maxLength: number) =>
  fc.string({
    unit: fc.constantFrom(...Array.from(characters)),
    minLength: 1,
    maxLength,
    size: "max",
  });

const given = fc.record({
  // the second kind of text must be folded code point by code point
  texts: fc.array(fc.oneof(string("aAb", 100), string("aksAKS\u212aſé", 50)), {
    minLength: 1,
    maxLength: 4,
  }),
  needle: fc.oneof(string("abk", 2), string("aA", 8), string("ks", 3)),
  caseSensitive: fc.boolean(),
  pieceBytes: fc.integer({ min: 1, max: 100 }),
});

/** Puts texts into the kernel, each as a blob of one page. */
function windowOf(texts: readonly string[]): Window {
  const blobs = texts.map((text) => Buffer.from(text));
  const starts = [0];
  for (const { length } of blobs) starts.push(starts.at(-1)! + length);
  const origin = arena.put(Buffer.concat(blobs));
  const pages = { pageBytes: PAGE_BYTES, firstPages: [...starts.keys()] };
  return {
    reader: { ...pages, folds: new Uint32Array(1).fill(-1) },
    address: (blob: number) => origin + starts[blob]!,
    length: (blob: number) => blobs[blob]!.length,
    load: () => {},
    readAhead: () => {},
  } as unknown as Window;
}

test("pieces of any size", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(given, async ({ texts, needle, caseSensitive, pieceBytes }) => {
      const mark = arena.mark();
      const inPieces = new LiteralScanner(kernel, arena, pieceBytes);
      const window = windowOf(texts);
      const blobs = [...texts.keys()];
      const literal = prepareLiteral({ kind: "literal", text: needle, caseSensitive });
      const placed = placeLiteral(literal, arena);
      const [ranges, counts] = await Promise.all(
        [true, false].map(async (wantsPairs) => {
          const how = { placed, pages: undefined, wantsPairs };
          const expected = await onePiece.scan(window, blobs, how, between);
          expect(await inPieces.scan(window, blobs, how, between)).toEqual(expected);
          return expected;
        }),
      );
      expect(counts!.counts).toEqual(ranges!.counts);
      found += ranges!.pairs.length / 2;
      const of = { texts: [placed, placed], pages: undefined, origin: window.address(0) };
      expect(await inPieces.rangesOfEach(window, blobs, of, between)).toEqual(
        await onePiece.rangesOfEach(window, blobs, of, between),
      );
      const regions = blobs.map((blob) => {
        const lowest = window.address(blob);
        return { from: lowest, to: lowest + window.length(blob), lowest };
      });
      expect(await inPieces.places(placed, regions, false, between)).toEqual(
        await onePiece.places(placed, regions, false, between),
      );
      arena.release(mark);
    }),
    { numRuns: 200 * RUNS },
  );
  expect(found).toBeGreaterThan(1_000);
});
