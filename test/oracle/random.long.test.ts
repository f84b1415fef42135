/**
 * Tests properties of every answer of the oracle, whatever is searched. If one fails, the oracle is wrong. The engine's
 * own random tests use the same generators.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { atomsOf, namesRevision, formatQuery } from "../../src/query/ast.ts";
import { parseQuery } from "../../src/query/parse.ts";
import { simplify } from "../../src/query/simplify.ts";
import { zeroStats } from "../../src/search/messages/stats.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { compare } from "./compare.ts";
import { withSymbols } from "./corpora.ts";
import type { Corpus, CorpusFile } from "./corpus.ts";
import { documentBytes } from "./documents.ts";
import { featuresOfCase, PROMISED } from "./features.ts";
import { evaluate, fileKey, type ExpectedFile, type ExpectedResponse } from "./oracle.ts";
import { decode, layoutOf } from "./positions.ts";
import { literals, searchCases } from "./queries.ts";
import { spansOfExpression } from "./re2.ts";
import { spansOfLiteral } from "./spans.ts";
import { RUNS } from "../runs.ts";

const cases = searchCases({}, withSymbols);

test("a literal is found where RE2 finds it", () => {
  const one = documentBytes({ pages: false }).chain((bytes) => {
    const files: CorpusFile[] = [{ path: "p", bytes }];
    const corpus: Corpus = {
      repositories: [{ id: 1, name: "r", metadata: {}, revisions: [{ name: "HEAD", files }] }],
    };
    return fc.record({ bytes: fc.constant(bytes), text: literals(corpus) });
  });
  fc.assert(
    fc.property(one, fc.boolean(), ({ bytes, text }, caseSensitive) => {
      const pattern = text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
      expect(JSON.stringify(spansOfLiteral(text, caseSensitive, bytes))).toBe(
        JSON.stringify(spansOfExpression(pattern, caseSensitive, bytes)),
      );
    }),
    { numRuns: 75 * RUNS },
  );
});

test("the number of characters before a place equals that of decoding all bytes before it", () => {
  fc.assert(
    fc.property(fc.array(documentBytes({ pages: false }), { maxLength: 2 }), (parts) => {
      const bytes = Buffer.concat(parts).subarray(0, 400);
      const { characters } = layoutOf(bytes);
      const plain = characters.map((_, at) => Array.from(decode(bytes.subarray(0, at))).length);
      expect(characters).toEqual(plain);
    }),
  );
});

test("counts add up, ranges are in order, and chunks are slices of the file", () => {
  fc.assert(
    fc.property(cases, ({ corpus, request, options }) => {
      const expected = evaluate(corpus, request, options);
      const sum = expected.files.reduce((total, file) => total + countOf(file), 0);
      expect(expected.totalMatchCount).toBe(sum);
      expect(expected.fileCount).toBe(expected.files.length);
      expect(new Set(expected.files.map(fileKey)).size).toBe(expected.files.length);
      for (const file of expected.files) checkChunks(file, bytesOf(corpus, file));
    }),
    { numRuns: 30 * RUNS },
  );
});

function countOf(file: ExpectedFile): number {
  const content = file.chunks.reduce((sum, chunk) => sum + chunk.matchRanges.length, 0);
  return content || file.fileName.matchRanges.length;
}

function bytesOf(corpus: Corpus, file: ExpectedFile): Uint8Array {
  const repository = corpus.repositories.find(({ id }) => id === file.repositoryId)!;
  const revision = repository.revisions.find(({ name }) => name === file.branches[0])!;
  return revision.files.find(({ path }) => path === file.fileName.text)!.bytes;
}

/** Checks chunks with plain comparisons, because there may be a range at every byte. */
function checkChunks(file: ExpectedFile, bytes: Uint8Array): void {
  let end = 0;
  for (const { content, contentStart, matchRanges } of file.chunks) {
    const from = contentStart.byteOffset;
    const slice = decode(bytes.subarray(from, from + Buffer.byteLength(content)));
    expect(slice.startsWith(content.slice(0, -3))).toBe(true);
    expect(from).toBeGreaterThanOrEqual(end);
    end = from;
    const wrong = matchRanges.find((range) => {
      const isInOrder =
        range.start.byteOffset >= end && range.end.byteOffset >= range.start.byteOffset;
      end = range.end.byteOffset;
      return !isInOrder;
    });
    expect(wrong).toBeUndefined();
  }
}

test("simplifying a query does not change the answer", () => {
  fc.assert(
    fc.property(cases, ({ corpus, request, options }) => {
      const dialect = {
        regex: request.isRegexEnabled!,
        caseSensitive: request.isCaseSensitivityEnabled!,
      };
      const query = parseQuery(request.query, dialect);
      const simple = simplify(query);
      // parts of a query that have an effect before the search may be simplified away
      fc.pre(namesRevision(query) === namesRevision(simple));
      fc.pre(atomsOf(query).filter(({ kind }) => kind === "revision").length < 2);
      const again = evaluate(corpus, { ...request, query: formatQuery(simple) }, options);
      const want = evaluate(corpus, request, options);
      // an atom for symbols that decides nothing may be simplified away, too
      expect({ ...again, asksForSymbols: want.asksForSymbols }).toEqual(want);
    }),
    { numRuns: 30 * RUNS },
  );
});

test("the generators produce every kind of answer", () => {
  const seen = { found: 0, none: 0, chunks: 0, windows: 0, several: 0, symbols: 0, names: 0 };
  for (const { corpus, request, options } of fc.sample(cases, { numRuns: 120, seed: 1 })) {
    const { files } = evaluate(corpus, request, options);
    const chunks = files.flatMap((file) => file.chunks);
    seen[files.length > 0 ? "found" : "none"]++;
    if (chunks.length > 0) seen.chunks++;
    if (chunks.some(({ contentStart }) => contentStart.column > 1)) seen.windows++;
    if (files.some(({ branches }) => branches.length > 1)) seen.several++;
    if (chunks.some(({ symbols }) => symbols !== undefined)) seen.symbols++;
    if (files.some((file) => file.chunks.length === 0)) seen.names++;
  }
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
});

test("the generators produce every operator, prefix and value of the language, and every kind of viewer", () => {
  const seen = new Set(fc.sample(cases, { numRuns: 700, seed: 1 }).flatMap(featuresOfCase));
  expect(PROMISED.filter((each) => !seen.has(each))).toEqual([]);
});

const perfect = (expected: ExpectedResponse): SearchResponse => ({
  stats: {
    ...zeroStats(),
    fileCount: expected.fileCount,
    totalMatchCount: expected.totalMatchCount,
    actualMatchCount: expected.totalMatchCount,
  },
  files: expected.files.map((file) => ({ ...structuredClone(file), webUrl: "x" })).reverse(),
  repositoryInfo: expected.repositoryIds.map((id) => ({
    id,
    codeHostType: "genericGitHost",
    name: "x",
  })),
  isSearchExhaustive: true,
});

test("an expected response compares equal, in any order", () => {
  fc.assert(
    fc.property(cases, ({ corpus, request, options }) => {
      const expected = evaluate(corpus, request, options);
      expect(compare(expected, perfect(expected))).toBeUndefined();
    }),
    { numRuns: 25 * RUNS },
  );
});

const sample: Corpus = withSymbols({
  repositories: [
    {
      id: 7,
      name: "r",
      metadata: {},
      revisions: [
        { name: "main", files: [{ path: "p.go", bytes: Buffer.from("foo\nfoo"), language: "Go" }] },
      ],
    },
  ],
});

test.each<[string, (response: SearchResponse) => void]>([
  ["file not found", (response) => response.files.pop()],
  ["found that should not be", ({ files }) => files.push({ ...files[0]!, repository: "s" })],
  ["one twice", ({ files }) => files.push(files[0]!)],
  ["file not found", ({ files }) => (files[0]!.branches = ["dev"])],
  ["language", ({ files }) => (files[0]!.language = "C")],
  ["content ranges", ({ files }) => files[0]!.chunks[1]!.matchRanges[0]!.end.column++],
  ["ranges of the name", ({ files }) => files[0]!.fileName.matchRanges[0]!.start.byteOffset++],
  [
    "number of chunks",
    ({ files }) => files[0]!.chunks.push({ ...files[0]!.chunks[0]!, matchRanges: [] }),
  ],
  ["chunk 1, contentStart", ({ files }) => files[0]!.chunks[1]!.contentStart.lineNumber++],
  ["chunk 0, content", ({ files }) => (files[0]!.chunks[0]!.content += "x")],
  ["chunk 0, symbols", ({ files }) => delete files[0]!.chunks[0]!.symbols],
  ["chunk 0, enclosing", ({ files }) => delete files[0]!.chunks[0]!.enclosing],
  ["whole content", ({ files }) => delete files[0]!.content],
  ["repositoryInfo", (response) => (response.repositoryInfo = [])],
  ["fileCount", ({ stats }) => stats.fileCount++],
  ["totalMatchCount", ({ stats }) => stats.totalMatchCount++],
  ["actualMatchCount", ({ stats }) => stats.actualMatchCount--],
  ["isSearchExhaustive", (response) => (response.isSearchExhaustive = false)],
])("a difference is reported: %s", (name, spoil) => {
  const asked = { query: "foo file:p", matches: 9, whole: true, enclosing: true };
  const expected = evaluate(sample, asked);
  const response = perfect(expected);
  spoil(response);
  expect(compare(expected, response)).toContain(name);
});
