/** Names at the edges of pages. Parts of a name are in pages that contain nothing else that the query needs. */

import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { Control } from "../../src/search/messages/control.ts";
import { MOST_SHOWN } from "../../src/search/thread/reading/segment-symbols.ts";
import { NAMES_A_LOOK } from "../../src/search/thread/scanning/symbol-scan.ts";
import { LAYOUT, type Layout } from "../../src/store/format/format.ts";
import { openEngine, SMALL_LAYOUT } from "../engine/opened.ts";
import { tellFigure } from "../figures.ts";
import { SLOWNESS } from "../slowness.ts";
import { RUNS } from "../runs.ts";

afterEach(() => void vi.restoreAllMocks());

const PARTS = ["foo", "Foo", "bar", "_", "é", "long".repeat(40)];
const EXPRESSIONS = [
  "foo",
  "^foo",
  "bar$",
  "foobar",
  "^foo_bar$",
  "(longlong|Foo)_",
  "é",
  "oo.*ar",
  "^[a-z]+_bar",
  "^foo[a-z]+g$",
  "f",
  "(?i)FOO",
];

/** A name so long that the grams of its first page do not cover its end. */
const FAR = `${"long".repeat(100)}_bar`;
/** A name whose end is in a page without the only literal that an expression requires. */
const FAR_END = `foo${"long".repeat(100)}`;

/** Definitions, each with its distance from the edge of a page. */
const definitions = fc.array(
  fc.record({
    name: fc
      .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join("")),
    before: fc.integer({ min: 0, max: 200 }),
    pages: fc.integer({ min: 1, max: 2 }),
  }),
  { minLength: 1, maxLength: 5 },
);

test.each([
  { layout: LAYOUT, runs: 15 },
  { layout: SMALL_LAYOUT, runs: 5 },
])("names across the edges of pages, $layout", async ({ layout, runs }) => {
  const engine = await openEngine({ internals: { layout } });
  const filler = Buffer.alloc(2 ** 18, "Q");
  await engine.index(documents({ name: "filler", files: [{ path: "filler", content: filler }] }));
  await fc.assert(
    fc.asyncProperty(fc.array(definitions, { minLength: 1, maxLength: 3 }), async (all) => {
      const files = all.map((given, i) => ({
        path: `f${i}.js`,
        content: contentOf(given, layout),
      }));
      await engine.index(documents({ name: "r", files }));
      const names = all.flat().map(({ name }) => name);
      for (const expression of EXPRESSIONS) {
        const pattern = new RegExp(expression.replace("(?i)", ""), caseFlags(expression));
        const expected = names.map((name) => [...name.matchAll(pattern)].length);
        await engine.search({ query: "QQQ", matches: 0 }); // what was read before no longer exists
        const request = { query: `sym:"${expression}"`, matches: 1000 };
        const { stats, files: found } = await engine.search({
          ...request,
          isCaseSensitivityEnabled: true,
        });
        const count = expected.reduce((sum, one) => sum + one, 0);
        expect([expression, stats.totalMatchCount]).toEqual([expression, count]);
        const shown = found.flatMap(({ chunks }) => chunks.flatMap(({ symbols = [] }) => symbols));
        expect(shown.map(({ symbol }) => symbol).sort()).toEqual(
          names.flatMap((name, i) => Array<string>(expected[i]!).fill(printedName(name))).sort(),
        );
      }
    }),
    {
      numRuns: runs * RUNS,
      examples: [FAR, FAR_END].map((name) => [[[{ name, before: 200, pages: 1 }]]]),
    },
  );
});

/** A long name is cut where it is shown, after whole characters. */
function printedName(name: string): string {
  if (Buffer.byteLength(name) <= MOST_SHOWN) return name;
  let cut = name;
  while (Buffer.byteLength(cut) > MOST_SHOWN) cut = cut.slice(0, -1);
  return `${cut}…`;
}

const caseFlags = (expression: string): string => (expression.startsWith("(?i)") ? "gi" : "g");

/** Returns a text with one function for each name, which begins `before` bytes before the end of a page. */
function contentOf(
  given: readonly { name: string; before: number; pages: number }[],
  { pageBytes }: Layout,
): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  for (const { name, before, pages } of given) {
    const edge = (Math.floor(length / pageBytes) + pages) * pageBytes;
    const target = Math.max(length, edge - before - "function ".length);
    parts.push(Buffer.alloc(target - length, "\n"), Buffer.from(`\nfunction ${name}() {}\n`));
    length = target + parts.at(-1)!.length;
  }
  return Buffer.concat(parts);
}

const NAMES = 100_000;
/** ms of processor time; 18 000 when each name copied those before it. */
const MOST_MS = 1_500 * SLOWNESS;

test("a hundred thousand names of one file: linear time, and the clock is looked at", async () => {
  const engine = await openEngine({ workers: 0 });
  const content = "function a(){}\n".repeat(NAMES);
  await engine.index(documents({ name: "r", files: [{ path: "a.js", content }] }));
  const looks = { stopped: 0, hasEnded: 0 };
  for (const look of ["stopped", "hasEnded"] as const) {
    const real = Object.getOwnPropertyDescriptor(Control.prototype, look)!;
    vi.spyOn(Control.prototype, look, "get").mockImplementation(function (this: Control) {
      looks[look]++;
      return real.get!.call(this) as never;
    });
  }
  const before = process.cpuUsage();
  const { stats } = await engine.search({ query: "sym:[a-z]", matches: 5, isRegexEnabled: true });
  const { user, system } = process.cpuUsage(before);
  expect(stats.totalMatchCount).toBe(NAMES);
  tellFigure(`${(user + system) / 1_000} ms`);
  expect((user + system) / 1_000).toBeLessThan(MOST_MS);
  expect(looks.stopped).toBeGreaterThan(NAMES / NAMES_A_LOOK); // while they are found
  expect(looks.hasEnded).toBeGreaterThan(NAMES / NAMES_A_LOOK); // and when some are shown
});
