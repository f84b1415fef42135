import { expect, test } from "vitest";
import { FREE_BYTES, GcPacer, LIVE_BYTES } from "../../src/base/gc-pacer.ts";

const KIB = 1024;

test("allocates garbage each time that the given number of bytes is live", () => {
  const pacer = new GcPacer();
  const seen = [pacer.garbage];
  for (let bytes = 0; bytes < FREE_BYTES + 3 * LIVE_BYTES; bytes += KIB) {
    pacer.created(KIB);
    if (seen.at(-1) !== pacer.garbage) seen.push(pacer.garbage);
  }
  expect(seen.length).toBe(1 + 4);
  expect(new Set(seen).size).toBe(1 + 4);
});

test("allocates no garbage for a small answer", () => {
  const pacer = new GcPacer();
  pacer.created(FREE_BYTES - 1);
  expect(pacer.garbage).toEqual([]);
});
