/** Compares the estimate of what is too much to parse at once with a count of the parsed values. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { beyondJsonShape, JSON_DEPTH, JSON_ITEMS, JSON_VALUES } from "../../src/base/json-shape.ts";
import { newPause } from "../../src/base/yield.ts";

const shapeOf = (text: string, most: { mostValues?: number; mostItems?: number } = {}) =>
  beyondJsonShape(Buffer.from(text), { pause: newPause(), ...most });
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const items = (count: number) => `[${Array.from({ length: count }, () => 1).join()}]`;

const TOO_DEEP = `lists and objects are nested more than ${JSON_DEPTH} levels deep`;
const TOO_MANY = `it has more than ${JSON_VALUES} lists, objects and fields`;
const TOO_LONG = `its lists have more than ${JSON_ITEMS} items`;
const lists = (count: number) => `[${Array.from({ length: count }, () => "[]").join()}]`;
const fields = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join()}}`;

test.each([
  ["", undefined],
  ["null", undefined],
  [nested(JSON_DEPTH), undefined],
  [nested(JSON_DEPTH + 1), TOO_DEEP],
  [`${nested(JSON_DEPTH).repeat(2)}`, undefined],
  ["[".repeat(JSON_DEPTH + 1), TOO_DEEP],
  ['{"a":'.repeat(JSON_DEPTH + 1), TOO_DEEP],
  [items(JSON_ITEMS + 1), undefined],
  [items(JSON_ITEMS + 2), TOO_LONG],
  [lists(JSON_VALUES - 1), undefined],
  [lists(JSON_VALUES), TOO_MANY],
  [fields(JSON_VALUES), undefined],
  [fields(JSON_VALUES + 1), TOO_MANY],
  [`[${fields(JSON_VALUES - 1)},${items(10)}]`, TOO_MANY],
  [`"${"[,{".repeat(JSON_VALUES)}"`, undefined],
  [`"\\"${"[".repeat(100)}\\\\"`, undefined],
  [`"\\\\"${"[".repeat(100)}`, TOO_DEEP],
  // longer than one step
  [`"${"x".repeat(65_534)}\\"${"[".repeat(100)}"`, undefined],
  [`"${"x".repeat(65_535)}"${"[".repeat(100)}`, TOO_DEEP],
])("%.40s", async (text, beyond) => {
  expect(await shapeOf(text)).toBe(beyond);
});

interface Counts {
  values: number;
  items: number;
}

/** Counts objects, lists and the commas of objects as values, and the commas of lists as items. */
function countIn(value: unknown, counts: Counts = { values: 0, items: 0 }): Counts {
  if (typeof value !== "object" || value === null) return counts;
  const inside = Object.values(value);
  const commas = Math.max(inside.length - 1, 0);
  counts.values += Array.isArray(value) ? 1 : 1 + commas;
  counts.items += Array.isArray(value) ? commas : 0;
  for (const one of inside) countIn(one, counts);
  return counts;
}

test("rejects JSON if and only if it has more values than the limit", async () => {
  const most = fc.record({ mostValues: fc.nat(20), mostItems: fc.nat(20) });
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 6 }), most, async (text, bounds) => {
      const { values, items: held } = countIn(JSON.parse(text));
      const isBeyond = values > bounds.mostValues || held > bounds.mostItems;
      expect((await shapeOf(text, bounds)) !== undefined).toBe(isBeyond);
    }),
    { numRuns: 1_000 },
  );
});
