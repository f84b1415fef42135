import { expect, test } from "vitest";
import { withoutEndSlashes } from "../../src/base/paths.ts";

test.each([
  ["", ""],
  ["/", ""],
  ["//", ""],
  ["a", "a"],
  ["a/", "a"],
  ["/a//b//", "/a//b"],
])("%j without the slashes at its end is %j", (path, want) => {
  expect(withoutEndSlashes(path)).toBe(want);
});

test("removes a megabyte of slashes quickly", () => {
  const before = process.cpuUsage();
  expect(withoutEndSlashes(`${"/".repeat(1 << 20)}a`)).toHaveLength(1 + (1 << 20));
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
});
