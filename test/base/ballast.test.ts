import { expect, test } from "vitest";
import { dropped, newBalance } from "../../src/base/ballast.ts";

const KIB = 1024;
const FREE = 256 * KIB;
const LIVE = Number.parseInt(process.versions.v8) >= 13 ? 2 * KIB : 8 * KIB;

test("a piece of ballast for so much that lives, another array each time", () => {
  const balance = newBalance();
  const pieces = [dropped];
  for (let told = 0; told < FREE + 3 * LIVE; told += KIB) {
    balance(KIB);
    if (pieces.at(-1) !== dropped) pieces.push(dropped);
  }
  expect(pieces.length).toBe(1 + 4);
  expect(new Set(pieces).size).toBe(1 + 4);
});

test("answers that are small drop none, however many they are", () => {
  const before = dropped;
  for (let answer = 0; answer < 100; answer++) newBalance()(FREE - 1);
  expect(dropped).toBe(before);
});
