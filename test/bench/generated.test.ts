import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { generatedFiles } from "../../bench/generated.ts";

const whole = (number: number, bytes: number) =>
  Buffer.concat([...generatedFiles(number, bytes)].map(({ content }) => content));

test("generated repositories always have the same bytes", () => {
  const digest = createHash("sha256").update(whole(7, 200_000)).digest("hex");
  expect(digest.slice(0, 16)).toBe("65e646474aed2836");
});

test("generated repositories have about the requested size, different paths and one needle", () => {
  const files = [...generatedFiles(3, 1_000_000)];
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  expect(Math.abs(bytes - 1_000_000)).toBeLessThan(1000);
  expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
  expect(whole(3, 1_000_000).toString().split("needle_").length - 1).toBe(1);
});
