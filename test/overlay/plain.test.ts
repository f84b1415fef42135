/** Texts without posting lists and symbols: answers are those of an index without symbols. */

import { expect, test, vi } from "vitest";
import type * as Documents from "../../src/overlay/documents.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEngine } from "../engine/opened.ts";
import { asIfIndexed } from "./as-if-indexed.ts";

vi.mock("../../src/overlay/documents.ts", async (original) => {
  const real = await original<typeof Documents>();
  const checkDocuments: typeof real.checkDocuments = (given) =>
    real
      .checkDocuments(given)
      .map((one) => ({ ...one, text: one.text && { ...one.text, isPlain: true } }));
  return { ...real, checkDocuments };
});

test.each([
  { workers: 0, states: 4 },
  { workers: 2, states: 2 },
])("as if it had been indexed, $workers workers", async (given) =>
  asIfIndexed({ ...given, symbols: "skip" }),
);

test("folding beyond ASCII", async () => {
  const engine = await openEngine();
  await engine.index(documents({ name: "shop", files: [{ path: "a.txt", content: "hay" }] }));
  const overlay = [{ repository: "shop", path: "a.txt", content: "\u212aelvin" }];
  const { stats } = await engine.search({ query: "kelvin", matches: 1 }, { overlay });
  expect(stats.totalMatchCount).toBe(1);
});
