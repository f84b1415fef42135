/**
 * The pages that contain every gram of a literal are those that its lists have in common. Each list's bytes are
 * counted.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { countBits } from "../../src/base/bitset.ts";
import { pagesWith } from "../../src/search/thread/planning/candidates.ts";
import { inAll, indexed } from "./indexed-pages.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 4, maxLength: 20 });

test("intersects any lists, in any order, including grams that do not occur", () => {
  const cases = fc.record({
    texts: fc.array(text, { minLength: 1, maxLength: 80 }),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
    absent: fc.boolean(),
  });
  let [empty, some] = [0, 0];
  fc.assert(
    fc.property(cases, ({ texts, picks, absent }) => {
      const { grams, bytes, lookup } = indexed(texts);
      const known = [...bytes.keys()];
      const wanted = picks.map((pick) => known[pick % known.length]!);
      if (absent) wanted.splice(wanted.length >> 1, 0, known.at(-1)! + 1);
      const { pages, listBytes } = pagesWith(wanted, lookup);
      const expected = inAll(wanted, grams);
      expect(pages).toEqual(expected);
      expect(listBytes).toBe(wanted.reduce((sum, gram) => sum + (bytes.get(gram) ?? 0), 0));
      if (countBits(expected) === 0) empty++;
      else some++;
    }),
    { numRuns: 150 },
  );
  expect(Math.min(empty, some)).toBeGreaterThan(3); // both algorithms are used
});
