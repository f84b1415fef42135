/** What is too much to parse at once, held against a count of the parsed values. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { beyondJsonShape, JSON_DEPTH, JSON_VALUES } from "../../src/base/json-shape.ts";
import { newPause } from "../../src/base/yield.ts";

const shapeOf = (text: string, mostValues?: number) =>
  beyondJsonShape(Buffer.from(text), {
    pause: newPause(),
    ...(mostValues !== undefined && { mostValues }),
  });
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const items = (count: number) => `[${Array.from({ length: count }, () => 1).join()}]`;

const TOO_DEEP = `lists and objects lie more than ${JSON_DEPTH} deep in each other`;
const TOO_MANY = `it holds more than ${JSON_VALUES} values`;

test.each([
  ["", undefined],
  ["null", undefined],
  [nested(JSON_DEPTH), undefined],
  [nested(JSON_DEPTH + 1), TOO_DEEP],
  [`${nested(JSON_DEPTH).repeat(2)}`, undefined],
  ["[".repeat(JSON_DEPTH + 1), TOO_DEEP],
  ['{"a":'.repeat(JSON_DEPTH + 1), TOO_DEEP],
  [items(JSON_VALUES), undefined],
  [items(JSON_VALUES + 1), TOO_MANY],
  [`"${"[,{".repeat(JSON_VALUES)}"`, undefined],
  [`"\\"${"[".repeat(100)}\\\\"`, undefined],
  [`"\\\\"${"[".repeat(100)}`, TOO_DEEP],
  // over the edge of a step
  [`"${"x".repeat(65_534)}\\"${"[".repeat(100)}"`, undefined],
  [`"${"x".repeat(65_535)}"${"[".repeat(100)}`, TOO_DEEP],
])("%.40s", async (text, beyond) => {
  expect(await shapeOf(text)).toBe(beyond);
});

/** Commas, lists and objects: one less than the items of each list and the fields of each object, and one for itself. */
function countOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inside = Object.values(value);
  return inside.reduce<number>((sum, one) => sum + countOf(one), Math.max(inside.length, 1));
}

test("any JSON is beyond a bound if and only if it has more values", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 6 }), fc.nat(20), async (text, most) => {
      const count = countOf(JSON.parse(text));
      expect((await shapeOf(text, most)) !== undefined).toBe(count > most);
    }),
    { numRuns: 1_000 },
  );
});
