/** docs/trust.md: every file exists, and has tests whose names begin as the page says. */

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/trust.md", "utf8");
const cells = page
  .split("\n")
  .filter(
    (line) => line.startsWith("| ") && !line.startsWith("| --") && !line.startsWith("| promise"),
  )
  .map(
    (line) =>
      line
        .split("|")
        .slice(1, 3)
        .map((cell) => cell.trim()) as [string, string],
  );

test("each promise has a test, or the page says that it has none", () => {
  expect(cells.length).toBeGreaterThan(30);
  for (const [promise, where] of cells)
    expect(where, promise).toMatch(
      /^(?:`(?:test|scripts)\/|promised to nobody|\*\*not tested\*\*$)/,
    );
});

test.each(cells.filter(([, where]) => where.startsWith("`")))("%s", (_, where) => {
  const files = [...where.matchAll(/`([^`]+\.ts)`(?:: ([^`]+?))?(?=, `|; `|; for|; 2|$)/g)];
  expect(files.length).toBeGreaterThan(0);
  for (const [, file = "", names] of files) {
    expect(existsSync(file), file).toBe(true);
    const text = readFileSync(file, "utf8");
    for (const name of names?.split("; ") ?? []) expect(text, file).toContain(`"${name}`);
  }
});
