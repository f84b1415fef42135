/** The lines of a text are those that splitting it gives. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { TextLines } from "../../src/mcp/text-lines.ts";

/** Splits the text, without the empty part after a newline at the end. */
function twin(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const linesOf = (text: string) => TextLines.of(Buffer.from(text), () => undefined);

const texts = fc
  .array(fc.constantFrom("a", "\n", "\r\n", "ä", "😀", "\n\n", "\uFEFF", "\0"), { maxLength: 30 })
  .map((parts) => parts.join(""));

test("any text", async () => {
  const check = async (text: string) => {
    const lines = await linesOf(text);
    const want = twin(text);
    expect(lines.count).toBe(want.length);
    expect(lines.slice(1, Infinity)).toEqual(want);
    let offset = 0;
    for (const [i, line] of want.entries()) {
      expect(lines.startOf(i + 1)).toBe(offset);
      const next = offset + Buffer.byteLength(line) + 1;
      for (let at = offset; at < next; at++) expect(lines.lineAt(at)).toBe(i + 1);
      offset = next;
    }
  };
  await fc.assert(fc.asyncProperty(texts, check));
});

test("a text of many steps, with newlines at their edges", async () => {
  const text = `${"x".repeat(65_535)}\n${"y".repeat(65_535)}\n\n${"z\n".repeat(100_000)}`;
  const lines = await linesOf(text);
  expect(lines.slice(1, lines.count)).toEqual(twin(text));
});

test("lines that do not exist", async () => {
  const lines = await linesOf("a\nb\n");
  expect([0, 3, -1].map((line) => lines.at(line))).toEqual(["", "", ""]);
  expect(lines.slice(2, 9)).toEqual(["b"]);
  expect(lines.slice(3, 9)).toEqual([]);
});
