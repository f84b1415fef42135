import fc from "fast-check";
import { expect, test } from "vitest";
import { Decoder } from "../../../src/ingest/symbols/source-text.ts";

const wholeOf = (bytes: Uint8Array) => {
  const text = new Decoder().decode(bytes);
  return { text, whole: text.slice(0, text.length) };
};

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "binary-ascii", maxLength: 40 }),
);

test("valid UTF-8 is decoded to its string, and each unit knows its byte", () => {
  fc.assert(
    fc.property(anyText, (source) => {
      const { text, whole } = wholeOf(Buffer.from(source));
      expect(whole).toBe(source);
      for (let unit = 0; unit <= source.length; unit++) {
        const isInside = /[\udc00-\udfff]/.test(source[unit] ?? "");
        if (!isInside) expect(text.byteOf(unit)).toBe(Buffer.byteLength(source.slice(0, unit)));
      }
    }),
  );
});

const NOT_UTF8: readonly (readonly [bytes: number[], units: string])[] = [
  [[0x61, 0xe9, 0x62], "a\ufffdb"], // Latin-1
  [[0xc3], "\ufffd"], // truncated
  [[0xe2, 0x82], "\ufffd\ufffd"],
  [[0xc0, 0xaf], "\ufffd\ufffd"], // overlong
  [[0xed, 0xa0, 0x80], "\ufffd\ufffd\ufffd"], // a surrogate
  [[0xf4, 0x90, 0x80, 0x80], "\ufffd\ufffd\ufffd\ufffd"], // above the last code point
  [[0xef, 0xbb, 0xbf, 0x61], "\ufeffa"],
];

test.each(NOT_UTF8)("%j has one unit for each invalid byte", (bytes, units) => {
  expect(wholeOf(Uint8Array.from(bytes)).whole).toBe(units);
});

test("units of random bytes are in the order of their bytes, and the last one ends at the end", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const { text } = wholeOf(bytes);
      for (let unit = 0; unit < text.length; unit++)
        expect(text.byteOf(unit)).toBeLessThanOrEqual(text.byteOf(unit + 1));
      expect(text.byteOf(text.length)).toBe(bytes.length);
    }),
  );
});

test("a slice ends where the text ends", () => {
  const text = new Decoder().decode(Buffer.from("naïve"));
  expect([text.slice(3, 100), text.slice(5, 10)]).toEqual(["ve", ""]);
});

test("only the view into a larger buffer is decoded", () => {
  const buffer = Buffer.from("xxnaïvexx");
  expect(wholeOf(buffer.subarray(2, 8)).whole).toBe("naïve");
});
