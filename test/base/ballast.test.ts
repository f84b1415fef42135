import { expect, test } from "vitest";
import { balance, dropped } from "../../src/base/ballast.ts";

const KIB = 1024;

test("a piece of ballast for 16 KiB that live, another array each time", () => {
  const pieces: unknown[] = [];
  for (let told = 0; told < 64 * KIB; told += 2 * KIB) {
    balance(2 * KIB);
    if (pieces.at(-1) !== dropped && dropped.length > 0) pieces.push(dropped);
  }
  expect(pieces.length).toBe(4);
  expect(new Set(pieces).size).toBe(4);
});

test("little answers drop none", () => {
  const before = dropped;
  for (let file = 0; file < 15; file++) balance(KIB);
  expect(dropped).toBe(before);
});
