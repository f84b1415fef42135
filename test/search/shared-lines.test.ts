/** Queries with several expressions without literals, which share a pass, give the same answer as brute force. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { formatQuery, type Query } from "../../src/query/ast.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import { bringTo, difference } from "../engine/corpus-engine.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";
import type { Corpus } from "../oracle/corpus.ts";

const PATTERNS = ["[0-9]{3}", "[A-Z]{2}_", "\\bx[a-f]{2}\\b", "[ \\t]+$", "^[é-ſ]", "\\d.*[A-Z]"];
const LINES = [
  "123",
  "AB_ 12",
  "xab",
  "x = 1 \t",
  "éa",
  "a 7 and Z",
  "1234 AB_C xff \t",
  "\xff",
  "",
];

/** Texts in which matches are rare, so that sharing pays, and some texts that consist of matches. */
const texts = fc
  .array(
    fc.record({
      dull: fc.nat(600),
      line: fc.constantFrom(...LINES),
      ending: fc.constantFrom("\n", "\r\n", "\n\n", ""),
    }),
    { maxLength: 12 },
  )
  .chain((parts) =>
    fc
      .constantFrom("nothing here ?\n", "nothing here ?\n", "12 x\n")
      .map((dull) => ({ parts, dull })),
  )
  .map(({ parts, dull }) =>
    Buffer.from(
      parts.map((part) => dull.repeat(part.dull) + part.line + part.ending).join(""),
      "utf8",
    ),
  );

const corpora = fc.array(texts, { minLength: 1, maxLength: 6 }).map((contents): Corpus => {
  const files = contents.map((bytes, i) => ({ path: `f${i}`, bytes }));
  return {
    repositories: [{ id: 1, name: "r", metadata: {}, revisions: [{ name: "HEAD", files }] }],
  };
});

const expression = fc
  .constantFrom(...PATTERNS)
  .map((pattern): Query => ({ kind: "regex", field: "content", pattern, caseSensitive: true }));

const queries = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, depthIdentifier: "query" },
    { weight: 3, arbitrary: expression },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom("or" as const, "or" as const, "and" as const),
        children: fc.array(tie("query"), { minLength: 2, maxLength: 4 }),
      }),
    },
    { weight: 1, arbitrary: tie("query").map((child): Query => ({ kind: "not", child })) },
  ),
})).query;

test("any tree of expressions", async () => {
  const engine = await openEngine();
  const check = async (corpus: Corpus, query: Query) => {
    const there = await bringTo(engine, corpus);
    const request: SearchRequest = {
      query: formatQuery(query),
      matches: 1e9,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    };
    expect(await difference(engine, there, { request, options: {} })).toBeUndefined();
  };
  await fc.assert(fc.asyncProperty(corpora, queries, check), { numRuns: 10 * RUNS });
});

test("what one pass finds is what each finds by itself, counters included", async () => {
  const engine = await openEngine();
  const text = `${"nothing here ?\n".repeat(9_000)}123\nAB_\n${"nothing here ?\n".repeat(9_000)}AB_ 123\n`;
  const files = [{ path: "a", bytes: Buffer.from(text) }];
  await bringTo(engine, {
    repositories: [{ id: 1, name: "r", metadata: {}, revisions: [{ name: "HEAD", files }] }],
  });
  const ask = async (query: string) => {
    const request = { query, matches: 10, isRegexEnabled: true, isCaseSensitivityEnabled: true };
    const { stats, files: found } = await engine.search(request);
    const { totalMatchCount, regexpsConsidered, contentBytesLoaded } = stats;
    const lines = found.flatMap(({ chunks }) =>
      chunks.map(({ contentStart }) => contentStart.lineNumber),
    );
    return { totalMatchCount, regexpsConsidered, contentBytesLoaded, lines };
  };
  const digits = await ask("[0-9]{3}");
  const letters = await ask("[A-Z]{2}_");
  expect(digits.lines).toEqual([9_001, 18_003]);
  expect(letters.lines).toEqual([9_002, 18_003]);
  expect(await ask("[0-9]{3} or [A-Z]{2}_")).toEqual({
    totalMatchCount: 4,
    regexpsConsidered: 2,
    contentBytesLoaded: digits.contentBytesLoaded,
    lines: [9_001, 9_002, 18_003],
  });
});
