import { expect, test } from "vitest";
import { garbage, newGcPacer } from "../../src/base/gc-pacer.ts";

const KIB = 1024;
const FREE = 256 * KIB;
const LIVE = Number.parseInt(process.versions.v8) >= 13 ? 2 * KIB : 8 * KIB;

test("new garbage is allocated each time that so many bytes are live", () => {
  const pace = newGcPacer();
  const seen = [garbage];
  for (let bytes = 0; bytes < FREE + 3 * LIVE; bytes += KIB) {
    pace(KIB);
    if (seen.at(-1) !== garbage) seen.push(garbage);
  }
  expect(seen.length).toBe(1 + 4);
  expect(new Set(seen).size).toBe(1 + 4);
});

test("small answers allocate none, however many they are", () => {
  const before = garbage;
  for (let answer = 0; answer < 100; answer++) newGcPacer()(FREE - 1);
  expect(garbage).toBe(before);
});
