/**
 * A search reads the candidate pages of a file, with one byte before them and the length of a match after them, once
 * for all terms.
 */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { openEngine } from "../engine/opened.ts";

const LEAD = 1;

test.each<[query: string, bytes: number]>([
  ["fixme", LEAD + PAGE_BYTES + 5],
  ["fixme minor", LEAD + PAGE_BYTES + 5],
  // the longer one reads the difference
  ["fixme minor_are", LEAD + PAGE_BYTES + 9],
  ["fixme minor_are minor", LEAD + PAGE_BYTES + 9],
  ["/fixme|minor_are/", LEAD + PAGE_BYTES + 9],
  ["fixme yonder", LEAD + 2 * PAGE_BYTES + 5],
])("%s reads %i bytes", async (query, bytes) => {
  const engine = await openEngine();
  const content = Buffer.alloc(3 * PAGE_BYTES, "\n");
  content.write("fixme minor_are", PAGE_BYTES + 1000);
  content.write("yonder", 2 * PAGE_BYTES + 1000);
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
