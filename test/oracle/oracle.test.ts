/** Tests the oracle itself with rows written by hand: small corpora, and the numbers that each query must return. */

import { expect, test } from "vitest";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { Corpus, CorpusFile } from "./corpus.ts";
import { evaluate, fileKey } from "./oracle.ts";
import {
  CASE,
  CHUNKS,
  CORPUS,
  fileOf,
  FILES,
  PATH,
  printChunks,
  printFiles,
  printRanges,
  RANGES,
  REGEX,
  SETS,
} from "./rows.ts";

const oneFile = (content: string | number[], more: Partial<CorpusFile> = {}): Corpus => ({
  repositories: [
    {
      id: 1,
      name: "r",
      metadata: {},
      revisions: [{ name: "HEAD", files: [fileOf(PATH, content, more)] }],
    },
  ],
});

const ask = (query: string, more: Partial<SearchRequest> = {}): SearchRequest => ({
  query,
  matches: 1e9,
  ...more,
});

test.each(RANGES)("the ranges of %j in %j are right", (query, content, want, more) => {
  expect(printRanges(evaluate(oneFile(content), ask(query, more)).files[0])).toBe(want);
});

test.each(CHUNKS)(
  "the chunks of %j in %.30j with %i context lines are right",
  (query, content, contextLines, want) => {
    expect(printChunks(evaluate(oneFile(content), ask(query, { contextLines })).files[0]!)).toEqual(
      want,
    );
  },
);

test("a match over several lines is one chunk, and ends on the line of its last byte", () => {
  const response = evaluate(oneFile("1\na\nb\n4\n"), ask("a\\nb\\n", REGEX));
  expect(printChunks(response.files[0]!)).toEqual(["2@2:1 a\nb\n 1"]);
  expect(printRanges(response.files[0])).toBe("2@2:1-6@3:3");
});

test("a chunk may contain invalid UTF-8, and a whole file has its BOM", () => {
  const corpus = oneFile([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0a, 0x62]);
  const [file] = evaluate(corpus, ask("a", { whole: true })).files;
  expect(file!.chunks[0]!.content).toBe("\ufeffa\ufffd\n");
  expect(file!.content).toBe("\ufeffa\ufffd\nb");
});

const found = (query: string, more: Partial<SearchRequest> = {}, options = {}) =>
  printFiles(evaluate(CORPUS, ask(query, more), options).files);

test.each(FILES)("finds the files of %s", (query, want) => {
  expect(found(query, {}, { contexts: SETS })).toBe(want);
});

test("repositories that the viewer may not see do not exist, even in a set of repositories", () => {
  const options = {
    viewer: { repositoryIds: new Set([1]) },
    contexts: () => ["acme/web", "acme/api"],
  };
  expect(found("foo", {}, options)).toBe("differs[main] old[main] same[main]");
  expect(found("context:all foo", {}, options)).toBe("differs[main] old[main] same[main]");
  expect(found("foo", {}, { viewer: { repositoryIds: new Set() } })).toBe("");
});

test("an unknown set of repositories is rejected", () => {
  expect(() => found("foo or context:nobody")).toThrow(
    expect.objectContaining({ code: "CONTEXT_NOT_FOUND" }),
  );
});

test("each range inside a name has a symbol, for terms and for sym:", () => {
  const symbols = (query: string) =>
    evaluate(CORPUS, ask(`${query} file:x`)).files[0]!.chunks.map((chunk) => chunk.symbols);
  const foo = { symbol: "foo", kind: "function" };
  const bar = { symbol: "bar", kind: "variable", parent: foo };
  expect(symbols("foo")).toEqual([[foo]]);
  expect(symbols("foo ar")).toEqual([[foo, bar]]);
  expect(symbols("foo(")).toEqual([undefined]);
  expect(symbols("sym:(foo|bar)")).toEqual([[foo, bar]]);
  expect(symbols("sym:o")).toEqual([[foo, foo]]);
});

test("a file counts its content ranges, or those of its name, or one", () => {
  const count = (query: string) => {
    const { fileCount, totalMatchCount } = evaluate(CORPUS, ask(query));
    return [fileCount, totalMatchCount];
  };
  expect(count("o file:old")).toEqual([1, 2]);
  expect(count("file:old")).toEqual([1, 1]);
  expect(count("file:[ld]")).toEqual([2, 3]);
  expect(count("lang:ts")).toEqual([1, 1]);
  expect(count("-(foo) repo:web")).toEqual([1, 1]);
  expect(count("nowhere")).toEqual([0, 0]);
});

test("the answer has the repositories of its files, and its flags", () => {
  expect(evaluate(CORPUS, ask("foo")).repositoryIds).toEqual([1, 2]);
  expect(evaluate(CORPUS, ask("file:x.ts")).repositoryIds).toEqual([2]);
  expect(evaluate(CORPUS, ask("FOO", CASE)).fileCount).toBe(0);
});

test("a limit includes whole files, best first, and cuts the last one", () => {
  const limited = (matches: number, query: string, ...ranked: string[]) => {
    const all = evaluate(CORPUS, ask(query));
    const keys = ranked.map((path) => all.files.find(({ fileName }) => fileName.text === path)!);
    const request = ask(query, { matches, contextLines: 0 });
    const { files, ...counts } = evaluate(CORPUS, request, { ranked: keys.map(fileKey) });
    const shown = files.map(({ fileName: { text, matchRanges }, chunks }) => {
      const ranges = chunks.flatMap((chunk) => chunk.matchRanges);
      return `${text} ${ranges.length || matchRanges.length}`;
    });
    return [shown.join(", "), counts.actualMatchCount, counts.totalMatchCount];
  };
  expect(limited(9, "o file:old|same")).toEqual(["old 2, same 2", 4, 4]);
  expect(limited(3, "o file:old|same", "same")).toEqual(["old 1, same 2", 3, 4]);
  expect(limited(1, "o file:old|same", "same", "old")).toEqual(["same 1", 1, 4]);
  expect(limited(1, "file:[ld]", "old")).toEqual(["old 1", 1, 3]);
  expect(limited(0, "o")).toEqual(["", 0, 8]);
});
