import { expect, test } from "vitest";
import { decodeInSlices, decodeText } from "../../src/base/decode-text.ts";

const PIECE = 512 * 1024;

// pieces of text around the cut
test.each([
  ["letters", "abcdefgh"],
  ["two bytes", "éééé"],
  ["three bytes", "€€€€"],
  ["four bytes", "😀😀😀"],
  ["a first byte alone", "a\xe2b"],
  ["too few", "\xf0\x9f\x98a"],
  ["continuations of nothing", "\x80\x80\x80\x80\x80\x80\x80\x80"],
  ["one too many", "\xf0\x9f\x98\x80\x80"],
])("a text cut within %s", async (_, part) => {
  const bytes = /[^\0-\xff]|é/.test(part) ? Buffer.from(part) : Buffer.from(part, "latin1");
  for (let before = 0; before <= bytes.length; before++) {
    const head = Buffer.alloc(PIECE - before, "x");
    const text = Buffer.concat([head, bytes, Buffer.from("end")]);
    let pauses = 0;
    const decoded = await decodeInSlices(text, () => (pauses++, undefined));
    expect(decoded === decodeText(text), `${before} bytes before`).toBe(true);
    expect(pauses).toBe(2);
  }
});

test("an empty text", async () => {
  expect(await decodeInSlices(new Uint8Array(), () => undefined)).toBe("");
});
