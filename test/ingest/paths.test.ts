import fc from "fast-check";
import { expect, test } from "vitest";
import { comparePaths, isValidPath, printablePath } from "../../src/base/paths.ts";

test.each<[string, boolean]>([
  ["a", true],
  ["a/b.c", true],
  ["..a/b../...", true],
  [".git", true],
  ["a\\b", true],
  ["C:/x", true],
  ["-a/--b", true],
  ["a\nb", true],
  ["späß/日本/😀", true],
  ["x".repeat(4096), true],
  ["", false],
  ["/a", false],
  ["a/", false],
  ["a//b", false],
  [".", false],
  ["./a", false],
  ["a/.", false],
  ["a/./b", false],
  ["..", false],
  ["../a", false],
  ["a/..", false],
  ["a/../b", false],
  ["a\0b", false],
  ["a\ud800", false],
  ["x".repeat(4097), false],
  ["é".repeat(2049), false],
])("%j is valid: %s", (path, want) => {
  expect(isValidPath(path)).toBe(want);
});

test.each([
  ["../a", "../a"],
  ["a\0\n\x7f\ud800", "a\ufffd\ufffd\ufffd\ufffd"],
])("%j is printed as %j", (path, want) => {
  expect(printablePath(path)).toBe(want);
});

test("long paths with the same beginning stay different, with at most 1 024 units", () => {
  const shown = ["a", "b", "\ud800"].map((end) => printablePath(`${"long/".repeat(900)}${end}`));
  expect(new Set(shown).size).toBe(3);
  for (const path of shown) expect(path).toMatch(/^long\/.{1006}…[0-9a-f]{12}$/);
  expect(printablePath("x".repeat(1_024))).toBe("x".repeat(1_024));
});

test("a path is valid if and only if each of its parts is", () => {
  const part = fc.constantFrom(
    "",
    ".",
    "..",
    "...",
    "a",
    "a.",
    ".b",
    "\0",
    "c\n",
    "\ud83d\ude00",
    "\ude00",
  );
  const isValidPart = (name: string) =>
    !["", ".", ".."].includes(name) && !name.includes("\0") && name !== "\ude00";
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      expect(isValidPath(parts.join("/"))).toBe(parts.every(isValidPart));
    }),
  );
});

test("paths are ordered by their bytes", () => {
  const path = fc.string({
    unit: fc.constantFrom("a", ".", "/", "0", "é", "\ufb01", "😀", "\ue000"),
  });
  fc.assert(
    fc.property(path, path, (a, b) => {
      expect(Math.sign(comparePaths(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
