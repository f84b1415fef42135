/** A search reads a whole window at once only if it needs much of it. */

import { expect, onTestFinished, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { TextFiles } from "../../src/store/lmdb/text-files.ts";
import { LAYOUT } from "../../src/store/format/format.ts";
import { openEngine } from "../engine/opened.ts";

const BYTES = 20_000;
const text = (word: string, share: number): string =>
  `${word}\n`.repeat((share * BYTES) / (word.length + 1));

/** Makes a window of 40 files in C and four in Python. Most of each text consists of the word `return`. */
async function opened() {
  const files = Array.from({ length: 44 }, (_, n) => ({
    path: `${n}.${n % 11 === 0 ? "py" : "c"}`,
    content: `file ${n}\n${text("hay", 0.2)}${text("return", 0.8)}`,
  }));
  // a text in a file can be read as one piece
  const internals = { layout: { ...LAYOUT, fileBlocks: 1 } };
  const engine = await openEngine({ workers: 0, internals });
  await engine.index(documents({ name: "shop", files }), { symbols: "skip" });
  return engine;
}

test.each([
  ["return", 44, "the whole window"],
  ["return lang:python", 4, "the pages of four files"],
  ["hay return lang:python", 4, "the pages of four files"],
])("%s", async (query, files, reads) => {
  const engine = await opened();
  // with facets, because the kernel answers a literal alone without windows
  const request = { query, matches: 0, facets: 1 };
  await engine.search(request); // the first read of a block checks the block
  const pieces: number[] = [];
  const copy = Reflect.get(TextFiles.prototype, "copy") as TextFiles["copy"];
  const spy = vi.spyOn(TextFiles.prototype, "copy");
  spy.mockImplementation(function (this: TextFiles, segment, from, to, ...rest) {
    pieces.push(to - from);
    return copy.call(this, segment, from, to, ...rest);
  });
  onTestFinished(() => spy.mockRestore());
  const { stats } = await engine.search(request);
  expect(stats.fileCount).toBe(files);
  const whole = 44 * BYTES;
  if (reads === "the whole window") expect(Math.max(...pieces)).toBeGreaterThan(0.9 * whole);
  else expect(pieces.reduce((sum, bytes) => sum + bytes)).toBeLessThan(0.15 * whole);
});
