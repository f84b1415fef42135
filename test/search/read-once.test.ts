/**
 * A search reads the candidate pages of a file, with one byte before them and the length of a match after them, once
 * for all terms.
 */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { LAYOUT, PAGE_BYTES, type Layout } from "../../src/store/format/format.ts";
import { openEngine, SMALL_LAYOUT } from "../engine/opened.ts";

const LEAD = 1;

const bytesRead = ({ pageBytes }: Layout): [query: string, bytes: number][] => [
  ["fixme", LEAD + pageBytes + 5],
  ["fixme minor", LEAD + pageBytes + 5],
  // the longer one reads the difference
  ["fixme minor_are", LEAD + pageBytes + 9],
  ["fixme minor_are minor", LEAD + pageBytes + 9],
  ["/fixme|minor_are/", LEAD + pageBytes + 9],
  ["fixme yonder", LEAD + 2 * pageBytes + 5],
  // the other one reads the pages around, and the bytes after fixme again
  ["fixme or thrice", LEAD + 3 * pageBytes + 5],
];
const ROWS = [LAYOUT, SMALL_LAYOUT].flatMap((layout) =>
  bytesRead(layout).map((row) => [...row, layout] as const),
);

test.each(ROWS)("%s reads %i bytes", async (query, bytes, layout) => {
  const { pageBytes } = layout;
  const engine = await openEngine({ internals: { layout } });
  const content = Buffer.alloc(3 * pageBytes, "\n");
  for (const page of [1, 2, 3]) content.write("thrice", page * pageBytes - 60);
  content.write("fixme minor_are", 2 * pageBytes - 100);
  content.write("yonder", 3 * pageBytes - 100);
  await engine.index(documents({ name: "r", files: [{ path: "f", content }] }), {
    symbols: "skip",
  });
  const isRegexEnabled = query.startsWith("/");
  const { stats } = await engine.search({
    query: isRegexEnabled ? query.slice(1, -1) : query,
    isRegexEnabled,
    matches: 0,
  });
  expect(stats).toMatchObject({ fileCount: 1, contentBytesLoaded: bytes });
});

test("a long line is read for all its pages at once", async () => {
  const engine = await openEngine();
  const pages = 64;
  const content = Buffer.alloc(pages * PAGE_BYTES, " ");
  for (let page = 0; page < pages; page += 2) content.write("fixme7", page * PAGE_BYTES + 1000);
  await engine.index(documents({ name: "r", files: [{ path: "f", content }] }), {
    symbols: "skip",
  });
  const { stats } = await engine.search({
    query: "fixme[0-9]",
    isRegexEnabled: true,
    matches: 0,
  });
  expect(stats.totalMatchCount).toBe(pages / 2);
  expect(stats.contentBytesLoaded).toBeLessThan(3 * content.length);
});
