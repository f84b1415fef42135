/**
 * No test, hook or wait has a time limit of its own. vitest.config.ts has one limit for all, long enough for a machine
 * that does eight other things. If something must be quick, its bound is processor time, a count, or an event.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** The walk with a real host, which is run by hand, and this file. */
const OTHERS = ["sync/real-host.test.ts", "clock.test.ts"];

const OPTIONS =
  /^ *(?:test|it|describe|\]\)\()[^\n]*["`],\s*(?:\{ timeout: [^{}]*\}|[A-Z_]+),\s*(?:async )?\(|,\s*\{ timeout: [^{}]*\},\s*(?:async )?\(/m;
const POLL = /\.poll\([^\n]*, (?:\{ timeout: [^{}]*\}|[A-Z_]+)\)/;
/** Matches from the first line of a test or hook to its last, which has the same indentation. */
const LAST_ARGUMENT =
  /^( *)(?:test|it|describe|before|after|\]\)\()[^\n]*\n(?:\1 .*\n|\n)*(?:\1\}, [\w *]+\);|\1 {2}\},\n\1 {2}[\w *]+,\n\1\);)/m;

const ownTime = (source: string): boolean =>
  [OPTIONS, POLL, LAST_ARGUMENT].some((form) => form.test(source));

test.each([
  ['test("a", { timeout: 60_000 }, async () => {\n});', true],
  ['test.each(ALL)("a", { timeout: TIMEOUT_MS }, (one) => {\n});', true],
  ['test(\n  "a",\n  { timeout: 60_000 * RUNS },\n  async () => {},\n);', true],
  ['test("a", async () => {\n  await b();\n}, 60_000);', true],
  ['test(\n  "a",\n  async () => {\n    await b();\n  },\n  60_000,\n);', true],
  ["  beforeAll(async () => {\n    await b();\n  }, LIMIT_MS);", true],
  ['test.each([\n  1,\n])("a", async () => {\n  await b();\n}, 60_000 * RUNS);', true],
  ["beforeAll(async () => {\n  await b();\n}, 120_000);", true],
  ['test("a", LONG, async () => {\n});', true],
  ["  await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(1);", true],
  ["  await expect.poll(() => seen.length, LONG).toBe(1);", true],
  ["  await expect.poll(() => seen.length).toBe(1);", false],
  ['test("a", async () => {\n  await page.waitFor({ timeout: 60_000 });\n});', false],
  ['test("a", async () => {\n  setTimeout(() => {\n    b();\n  }, 60_000);\n});', false],
])("detects a time limit of a test in %j", (source, found) => {
  expect(ownTime(source)).toBe(found);
});

test("no test, hook or wait sets a time limit of its own", () => {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".test.ts") && !OTHERS.includes(name));
  expect(files.filter((name) => ownTime(readFileSync(join("test", name), "utf8")))).toEqual([]);
});
