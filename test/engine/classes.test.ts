/**
 * Expressions without a literal, which are found by three classes of bytes: rare ones, dense ones, and ones at the ends
 * of files.
 */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { randomFrom } from "../regex/random.ts";
import { openEngine } from "./opened.ts";

const random = randomFrom(5);
const text = (letters: string, length: number) =>
  Array.from({ length }, () => letters[random(letters.length)]).join("");

/** Files in which matches are rare, files in which they are everywhere, and files with hardly any text. */
const FILES = [
  ...Array.from({ length: 40 }, () => text("abc_Z19 -\n", random(3_000))),
  ...Array.from({ length: 20 }, () => `${text("abcdef \n", 20_000)}ab_Z9-1${text("ab \n", 50)}`),
  ...Array.from({ length: 20 }, () => text("a_Z1-", 5_000)),
  "",
  "a",
  "a_",
  "a_Z",
  "9-1",
  "a_Z\n",
  "\na_Z",
  "é a_Z é 9-1",
];

const EXPRESSIONS = [
  "[ab]_[A-Z]",
  "[0-9]-[0-9]",
  "\\b[a-c]{2}_Z?[0-9]+-",
  "[a-f]+_[A-Z][0-9]*-?[0-9]$",
  "^[a-c]_Z",
  "(?i)[a-c]_z",
  "[a-c]_(?:Z|[0-9]-)",
];

test("finds the same as a plain search of the same texts", async () => {
  const engine = await openEngine({ workers: 1 });
  const files = FILES.map((content, i) => ({ path: `${i}.txt`, content }));
  await engine.index(documents({ name: "classes", files }));
  for (const query of EXPRESSIONS) {
    const pattern = new RegExp(query.replace("(?i)", ""), query.startsWith("(?i)") ? "gmi" : "gm");
    const counts = FILES.map((content) => Array.from(content.matchAll(pattern)).length);
    const found = await engine.search({
      query,
      matches: 1_000_000,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    });
    const total = counts.reduce((sum, count) => sum + count, 0);
    expect(found.stats.totalMatchCount, query).toBe(total);
    expect(found.stats.fileCount).toBe(counts.filter((count) => count > 0).length);
    for (const { fileName, chunks } of found.files) {
      const own = chunks.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
      expect(own, `${query} in ${fileName.text}`).toBe(counts[parseInt(fileName.text)]);
    }
  }
});
