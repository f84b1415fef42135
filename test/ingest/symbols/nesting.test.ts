/** Compares the sweep with its slow twin, which checks all matches for each name. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { kindId } from "../../../src/ingest/symbols/captures.ts";
import { kindsOf, nest } from "../../../src/ingest/symbols/nesting.ts";
import { MATCH_STRIDE, ROLES, type Matches } from "../../../src/ingest/symbols/runtime.ts";

const CAPTURES = [
  "class",
  "function",
  "variable",
  "hidden",
  "local",
  "anonymous",
  "scope",
] as const;
type What = Exclude<(typeof CAPTURES)[number], "scope">;

/** A match: its range and its kind. Classes and functions are named by their first character. */
interface Item {
  readonly what: What;
  readonly start: number;
  readonly end: number;
}

interface Shape {
  readonly what: What;
  readonly inside: readonly Shape[];
}

const { shapes } = fc.letrec<{ shapes: Shape[]; shape: Shape }>((tie) => ({
  shapes: fc.array(tie("shape"), { maxLength: 4 }),
  shape: fc.record({
    what: fc.constantFrom<What>("class", "function", "variable", "hidden", "local", "anonymous"),
    inside: fc.oneof({ depthSize: "small" }, fc.constant([]), tie("shapes")),
  }),
}));

/** Puts the shapes one after another, with a character before and after the content of each. */
function layOut(all: readonly Shape[], from: number, items: Item[]): number {
  let at = from;
  for (const { what, inside } of all) {
    const start = at;
    at = what === "variable" ? at + 1 : layOut(inside, at + 1, items) + 1;
    items.push({ what, start, end: at });
  }
  return at;
}

const isNamed = (what: What): what is "class" | "function" | "variable" =>
  what === "class" || what === "function" || what === "variable";

function matchesOf(items: readonly Item[]): Matches {
  const values = new Int32Array(items.length * MATCH_STRIDE).fill(-1);
  items.forEach(({ what, start, end }, index) => {
    const base = index * MATCH_STRIDE;
    if (isNamed(what)) values.set([CAPTURES.indexOf(what), start, start + 1], base + ROLES.name);
    if (what === "variable") return;
    values.set([CAPTURES.indexOf(isNamed(what) ? "scope" : what), start, end], base + ROLES.scope);
  });
  return { count: items.length, hasError: false, values };
}

const isInFunction = (outer: readonly Item[]): boolean =>
  outer.some(({ what }) => what === "function" || what === "local");

/** The slow twin. Returns each symbol as `start kind parent's start`. */
function naive(items: readonly Item[]): string[] {
  const around = (item: Item) =>
    items
      .filter((other) => other !== item && other.start <= item.start && item.end <= other.end)
      .sort((a, b) => a.end - a.start - (b.end - b.start));
  return items
    .toSorted((a, b) => a.start - b.start)
    .flatMap((item) => {
      const outer = around(item);
      const kind = item.what;
      if (!isNamed(kind)) return [];
      if (outer.some(({ what }) => what === "hidden")) return [];
      if (outer.some((other) => other.what === "anonymous" && isInFunction(around(other))))
        return [];
      const [first] = outer;
      if (kind === "variable" && first && isInFunction([first])) return [];
      const isMember = first?.what === "class" || first?.what === "anonymous";
      const parent = outer.find(({ what }) => what !== "local" && what !== "anonymous");
      return [
        `${item.start} ${kindId(kind === "function" && isMember ? "method" : kind)} ${parent?.start ?? -1}`,
      ];
    });
}

const language = { names: ["Test"], grammar: "", revision: 1, query: "" };
const place = { byteOf: (unit: number) => unit, nameOf: () => "" };

test("parents, kinds and local names are those of the slow twin", () => {
  fc.assert(
    fc.property(shapes, fc.infiniteStream(fc.nat()), (all, random) => {
      const items: Item[] = [];
      layOut(all, 0, items);
      const mixed = items
        .map((item) => ({ item, key: random.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item);
      const { count, rows } = nest(
        matchesOf(mixed),
        kindsOf(language, CAPTURES),
        place,
        () => false,
      )!.table;
      const found = Array.from({ length: count }, (_, row) => {
        const parent = rows[row * 4 + 3]!;
        return `${rows[row * 4]} ${rows[row * 4 + 2]} ${parent < 0 ? -1 : rows[parent * 4]}`;
      });
      expect(found).toEqual(naive(items));
    }),
    { numRuns: 1000 },
  );
});
