/** What is asked of each line of large files, against the plain ways to say it. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { endOfBody, indentOf, TextLines } from "../../src/mcp/definitions-of.ts";

const line = fc
  .array(fc.constantFrom(" ", "\t", "\r", "\v", "\f", "\u00a0", "\u3000", "\ufeff", "a", "}", "é"))
  .map((characters) => characters.join(""));

test("the indentation of a line", () => {
  const slowly = (text: string): number => /^\s*/.exec(text)![0].replaceAll("\t", "    ").length;
  const holds = (text: string): void => {
    expect(indentOf(text)).toBe(slowly(text));
  };
  fc.assert(fc.property(line, holds));
});

test("lines of a text, and where a body ends in them", () => {
  const text = fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n"));
  const holds = (content: string): void => {
    const lines = content.split("\n");
    const found = new TextLines(content);
    expect(Array.from({ length: found.length }, (_, i) => found.at(i))).toEqual(lines);
    expect(found.at(lines.length)).toBeUndefined();
    for (let begin = 1; begin <= lines.length; begin++)
      expect(endOfBody(found, begin)).toBe(endOfBody(lines, begin));
  };
  fc.assert(fc.property(text, holds));
});
