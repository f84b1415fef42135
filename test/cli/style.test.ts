import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytes, count, duration, table, visible } from "../../src/cli/style.ts";

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1.0 KB"],
  [99_000, "99 KB"],
  [123_456, "123 KB"],
  [1_234_567, "1.2 MB"],
  [3e15, "3000 TB"],
])("%d bytes are printed as %s", (n, text) => expect(bytes(n)).toBe(text));

test.each([
  [0.1234, "0.12 ms"],
  [12.34, "12 ms"],
  [999, "1000 ms"],
  [1234, "1.2 s"],
])("%d ms are printed as %s", (ms, text) => expect(duration(ms)).toBe(text));

test("a number and its noun agree", () => {
  expect(count(1, "match", "matches")).toBe("1 match");
  expect(count(0, "file")).toBe("0 files");
  expect(count(12_345, "match", "matches")).toBe("12,345 matches");
});

test.each(["src/cli", "src/mcp"])("%s contains no number before a fixed plural", (folder) => {
  const many = /\$\{(?![A-Z_]+\})[^}]*\} (?:files|matches|repositories|segments|symbols|lines)\b/g;
  const found = readdirSync(folder).flatMap(
    (name) => readFileSync(join(folder, name), "utf8").match(many) ?? [],
  );
  expect(found).toEqual([]);
});

test("columns are as wide as their widest cell", () => {
  expect(table([["a", "1"], ["bbb"], ["", "2", "x"]])).toEqual(["a    1", "bbb", "     2  x"]);
});

test("no control characters are left", () => {
  const all = String.fromCodePoint(...Array.from({ length: 0x100 }, (_, n) => n));
  expect(Array.from(visible(all)).filter((c) => /\p{Cc}/u.test(c))).toEqual(["\t", "\n"]);
  expect(Array.from(visible(all)).length).toBe(0x100);
});
