/** The examples of the user's page are queries. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseQuery } from "../../src/query/parse.ts";
import { outcome } from "./outline.ts";

const page = readFileSync("docs/query-language.md", "utf8");
const blocks = [...page.matchAll(/^```query( regex)?\n(.*?)^```$/gms)];
const examples = blocks.flatMap(([, regex, lines]) =>
  lines!
    .trimEnd()
    .split("\n")
    .map((text) => ({ text, regex: regex !== undefined })),
);

test("the page has examples of both dialects", () => {
  expect(examples.filter(({ regex }) => regex).length).toBeGreaterThan(5);
  expect(examples.filter(({ regex }) => !regex).length).toBeGreaterThan(15);
});

test.each(examples)("$text", ({ text, regex }) => {
  expect(outcome(text, { regex, caseSensitive: false })).not.toMatch(/^(QUERY|REGEX)_/);
});

test("the error it shows is the one that is given", () => {
  const shown = /^```text\n(.*?)\n```$/ms.exec(page)![1];
  expect(() => parseQuery("alpha or or beta", { regex: false, caseSensitive: false })).toThrow(
    expect.objectContaining({ message: shown }),
  );
});
