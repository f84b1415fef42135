import { expect, test } from "vitest";
import { GcPacer } from "../../src/base/gc-pacer.ts";

const KIB = 1024;
const FREE = 256 * KIB;
const LIVE = Number.parseInt(process.versions.v8) >= 13 ? 2 * KIB : 8 * KIB;

test("new garbage is allocated each time that so many bytes are live", () => {
  const pacer = new GcPacer();
  const seen = [pacer.garbage];
  for (let bytes = 0; bytes < FREE + 3 * LIVE; bytes += KIB) {
    pacer.created(KIB);
    if (seen.at(-1) !== pacer.garbage) seen.push(pacer.garbage);
  }
  expect(seen.length).toBe(1 + 4);
  expect(new Set(seen).size).toBe(1 + 4);
});

test("a small answer allocates none", () => {
  const pacer = new GcPacer();
  pacer.created(FREE - 1);
  expect(pacer.garbage).toEqual([]);
});
