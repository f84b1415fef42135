/** If the automaton and RE2 differ, a search returns what RE2 finds. Here RE2 is made to differ. */

import { expect, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { newRangeList, pushRange } from "../../src/regex/range-list.ts";
import { openEngine } from "../engine/opened.ts";

// RE2 sees one range, the second byte of the text, whatever was found: of a file, a path or a name
vi.mock("../../src/re2/verify.ts", () => ({
  verifyRanges() {
    const ranges = newRangeList();
    pushRange(ranges, 1, 2);
    return ranges;
  },
}));

test.each<[string, string, number]>([
  ["fo+\\d", "chunks", 1],
  ["file:fo+\\d", "path", 1],
  ["sym:fo+\\d", "chunks", "int f".length],
])("%s", async (query, where, at) => {
  const warnings: unknown[] = [];
  const engine = await openEngine({ workers: 0, onWarning: (warning) => warnings.push(warning) });
  const files = [{ path: "foo1/foo2.c", content: "int foo1() { return foo2; }\n" }];
  await engine.index(documents({ name: "r", files }));
  const request = { query, matches: 10, isRegexEnabled: true };
  const { files: found, stats } = await engine.search(request);
  const [file] = found;
  const ranges = where === "path" ? file!.fileName.matchRanges : file!.chunks[0]!.matchRanges;
  expect(ranges.map(({ start, end }) => [start.byteOffset, end.byteOffset])).toEqual([
    [at, at + 1],
  ]);
  expect(stats.actualMatchCount).toBe(1);
  const message = expect.stringMatching(/^the automaton and RE2 disagree about "fo\+/) as string;
  expect(warnings).toEqual([{ code: "INTERNAL", message }]);
});

test("RE2 is not asked about a path that matches a plain text", async () => {
  const engine = await openEngine({ workers: 0 });
  await engine.index(documents({ name: "r", files: [{ path: "foo1/foo2.c", content: "" }] }));
  const { files } = await engine.search({ query: "file:FOO2\\.c", matches: 10 });
  const { matchRanges } = files[0]!.fileName;
  expect(matchRanges.map(({ start, end }) => [start.byteOffset, end.byteOffset])).toEqual([
    [5, 11],
  ]);
});
