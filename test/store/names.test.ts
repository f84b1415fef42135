/** Names in order, held against going through all of them. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText } from "../../src/base/compare.ts";
import {
  asciiFolded,
  orderNames,
  placeAfter,
  placesContaining,
  type Named,
  type Names,
} from "../../src/store/catalog/names.ts";

const name = fc.oneof(
  fc.string({ maxLength: 6, unit: fc.constantFrom("a", "b", "A", "/", "é", "\u212a", "k", "İ") }),
  fc.string({ maxLength: 6, unit: "grapheme" }),
);
const lists = fc
  .uniqueArray(fc.record({ name, displayName: fc.option(name, { nil: undefined }) }), {
    maxLength: 30,
    selector: (one) => one.name,
  })
  .map((all) => all.map((one, i): Named => ({ ...one, id: i + 1 })));

const holds = ({ name: own, displayName = "" }: Named, part: string) =>
  [own, displayName].some((text) => text.toLowerCase().includes(part.toLowerCase()));

const held = (names: Names, part: string, from: number): number[] =>
  [...placesContaining(names, part, from)].filter((place) => place !== undefined);

test("a page is what a filter over the sorted list gives", async () => {
  await fc.assert(
    fc.asyncProperty(lists, name, fc.option(name, { nil: undefined }), async (all, part, after) => {
      const names = await orderNames(all, all.length + 1, () => undefined);
      const sorted = all.toSorted((a, b) => compareText(a.name, b.name));
      expect(names.ordered).toEqual(sorted);
      sorted.forEach(({ id, name: own }, place) => {
        expect([names.places[id], names.byName.get(own)]).toEqual([place, id]);
        expect(names.byFolded.get(asciiFolded(own))).toContain(id);
      });
      const from = after === undefined ? 0 : placeAfter(names, after);
      const found = held(names, part, from).map((place) => sorted[place]!.name);
      const wanted = sorted
        .filter((one) => after === undefined || compareText(one.name, after) > 0)
        .filter((one) => part.includes("\0") === false && holds(one, part));
      expect(found).toEqual(wanted.map((one) => one.name));
    }),
  );
});

test("names of several texts are found in order, each once", async () => {
  const all = Array.from({ length: 5_000 }, (_, i) => ({ id: i + 1, name: `aa/${i % 7}aa/${i}` }));
  const names = await orderNames(all, all.length + 1, () => undefined);
  for (const [part, from] of [
    ["aa", 0],
    ["AA/1", 1_023],
    ["/4999", 0],
    ["3aa", 2_048],
    ["none", 0],
  ] as const) {
    const wanted = names.ordered.flatMap((one, place) =>
      place >= from && holds(one, part) ? [place] : [],
    );
    expect(held(names, part, from), part).toEqual(wanted);
  }
});

test.each([
  ["shop", "SHOP", true],
  ["kit", "\u212aIT", true],
  ["sea", "\u017fea", true],
  ["shop", "shop2", false],
])("asciiFolded(%j) and of %j: %s", (a, b, equal) => {
  expect(asciiFolded(a) === asciiFolded(b)).toBe(equal);
});
