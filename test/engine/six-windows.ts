/** A repository of several windows of text, and questions about it. */

import { expect } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";

/** Returns files in six windows, with words at and across the edges of pages. */
export const large = () =>
  documents({
    name: "large",
    files: Array.from({ length: 24 }, (_, file) => {
      const bytes = Buffer.alloc((20 + 20 * (file % 4)) * PAGE_BYTES + 37 * file, "lorem ipsum\n");
      for (let page = 0; page * PAGE_BYTES < bytes.length; page++)
        for (const offset of [-130, -9, -1, 0, 1, 4000, 8100]) {
          const at = Math.max(0, page * PAGE_BYTES + offset);
          if (at < bytes.length) bytes.write(`needle${(file + page) % 5}`, at);
        }
      return { path: `f${file}`, content: bytes.toString() };
    }),
  });

export const QUESTIONS: SearchRequest[] = [
  { query: "needle3", matches: 1000, contextLines: 2 },
  { query: "needle3 needle4", matches: 7 },
  { query: "ne+dle[24]", matches: 1000, isRegexEnabled: true },
  { query: "^ipsum needle", matches: 5, isRegexEnabled: true },
  { query: "needle1 -needle2", matches: 50, whole: true },
  { query: "not-there", matches: 1 },
];

/** Resolves to the answers without times. */
export async function answers(engine: Engine): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const question of QUESTIONS) {
    const { stats, ...rest } = await engine.search(question);
    const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counted } = stats;
    expect(Math.min(duration, wait, matchTreeConstruction, matchTreeSearch)).toBeGreaterThan(-1);
    all.push({ ...rest, counted });
  }
  return all;
}
