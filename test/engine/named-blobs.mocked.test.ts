/**
 * Compares two ways of ranking by definitions: one asks the lists of names which blobs may have a matching definition,
 * the other reads the definitions of every blob. Pages have 256 bytes, so that names lie across their edges. There is
 * one thread, because the first way is replaced only here.
 */

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { withNamedBlobs } from "../../src/search/thread/planning/named-blobs.ts";
import { openEngine, SMALL_LAYOUT } from "./opened.ts";
import { RUNS } from "../runs.ts";

const lists = vi.hoisted(() => ({ areAsked: true }));

vi.mock("../../src/search/thread/planning/named-blobs.ts", async (original) => {
  const real = (await original()) as { readonly withNamedBlobs: typeof withNamedBlobs };
  const either: typeof withNamedBlobs = async (plans, asked, lookup) =>
    lists.areAsked ? real.withNamedBlobs(plans, asked, lookup) : plans;
  return { withNamedBlobs: either };
});

const LONG = "veryLong".repeat(20);
const NAMES = ["foo", "Foo", "fooBar", "foo_bar", "barfoo", "aab", "größe", "Kelvin", LONG];
const QUERIES = [
  ...NAMES,
  "oo",
  "bar",
  "oba",
  "fooBar or aab",
  "barfoo größe",
  `${LONG}x`,
  "kelvin",
];
const EXPRESSIONS = [
  "foo(Bar|_bar)",
  "[a-z]+foo",
  "gr.*e",
  "aab|Kelvin",
  "(very|Long){3}",
  "function foo",
];
/** Enough files for the lists of names to be worthwhile. */
const FILES = 48;

const name = fc.constantFrom(...NAMES);
/** Files that define some names and use others, after some number of bytes. */
const files = fc.array(
  fc.record({
    defined: fc.array(name, { maxLength: 2 }),
    used: fc.array(name, { minLength: 1, maxLength: 4 }),
    before: fc.nat(300),
  }),
  { minLength: FILES, maxLength: FILES },
);

const textOf = ({
  defined,
  used,
  before,
}: {
  readonly defined: readonly string[];
  readonly used: readonly string[];
  readonly before: number;
}): string =>
  [
    `// ${"-".repeat(before)}`,
    ...defined.map((one) => `function ${one}() {\n  class ${one}Inner {}\n}`),
    `f(${used.join(", ")});`,
  ].join("\n");

async function rankedBy(
  engine: Engine,
  areAsked: boolean,
  query: string,
  isRegexEnabled: boolean,
): Promise<{ readonly order: readonly string[]; readonly bytes: number }> {
  lists.areAsked = areAsked;
  const { files: found, stats } = await engine.search({
    query,
    isRegexEnabled,
    matches: 100_000,
    isCaseSensitivityEnabled: query === "Foo",
  });
  return {
    order: found.map(({ fileName }) => fileName.text),
    bytes: stats.contentBytesLoaded,
  };
}

test("both ways find any names in any files", async () => {
  const engine = await openEngine({ internals: { layout: SMALL_LAYOUT } });
  const saved = { bytes: 0 };
  const check = async (given: readonly Parameters<typeof textOf>[0][]) => {
    const contents = given.map((one, i) => ({
      path: `${String((i * 29) % FILES).padStart(2, "0")}.ts`,
      content: `// ${i}\n${textOf(one)}`,
    }));
    await engine.index(documents({ name: "r", files: contents }));
    const asked = [
      ...QUERIES.map((query) => [query, false] as const),
      ...EXPRESSIONS.map((query) => [query, true] as const),
    ];
    for (const [query, isRegex] of asked) {
      const right = await rankedBy(engine, false, query, isRegex);
      const told = await rankedBy(engine, true, query, isRegex);
      expect(told.order, query).toEqual(right.order);
      expect(told.bytes, query).toBeLessThanOrEqual(right.bytes);
      saved.bytes += right.bytes - told.bytes;
    }
  };
  await fc.assert(fc.asyncProperty(files, check), { numRuns: 4 * RUNS, endOnFailure: true });
  expect(saved.bytes).toBeGreaterThan(0);
});
