/** Compares the number of values that are counted in MessagePack with the number that were encoded. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { encode } from "../../src/cluster/wire/codec.ts";
import { hasMoreValues } from "../../src/cluster/wire/value-count.ts";

const pause = (): undefined => undefined;
const isExactly = async (bytes: Uint8Array, values: number): Promise<boolean> =>
  !(await hasMoreValues(bytes, values, pause)) && (await hasMoreValues(bytes, values - 1, pause));

const of = (hex: string, more: number): Uint8Array =>
  Buffer.concat([Buffer.from(hex, "hex"), Buffer.alloc(more, 0xc0)]);

test.each<[what: string, value: Uint8Array]>([
  ["small numbers, true", Buffer.from("01", "hex")],
  ["a negative number", Buffer.from("ff", "hex")],
  ["an empty list", Buffer.from("90", "hex")],
  ["an empty map", Buffer.from("80", "hex")],
  ["a long list", Buffer.from("dd00000000", "hex")],
  ["a map", Buffer.from("de0000", "hex")],
  ["a short text", of("bf", 31)],
  ["a text", of("d9ff", 255)],
  ["a longer text", of("da0101", 257)],
  ["a long text", of("db00010000", 65_536)],
  ["bytes", of("c403", 3)],
  ["more bytes", of("c50101", 257)],
  ["many bytes", of("c600010000", 65_536)],
  ["an extension", of("c70374", 3)],
  ["a longer extension", of("c8010174", 257)],
  ["a long extension", of("c90001000074", 65_536)],
  ["one byte of a type", of("d474", 1)],
  ["16 bytes of a type", of("d874", 16)],
  ["a float", of("ca", 4)],
  ["a double", of("cb", 8)],
  ["a byte", of("cc", 1)],
  ["a word", of("d2", 4)],
  ["a long word", of("d3", 8)],
])("%s counts as one value", async (_, value) => {
  expect(await isExactly(Buffer.concat([value, value, value]), 3)).toBe(true);
});

test("counting ends at a truncated value", async () => {
  for (const hex of ["db", "c9", "d9", "da00", "c6ffffffff", "bf", "cb"])
    expect(await isExactly(Buffer.from(hex, "hex"), 1)).toBe(true);
});

const leaf = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ minLength: 300, maxLength: 400 }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("value"), { maxLength: 40 })),
}));
const valuesOf = (one: unknown): number =>
  Array.isArray(one) ? one.reduce<number>((sum, inner) => sum + valuesOf(inner), 1) : 1;

test("nested lists count all their values", async () => {
  const property = fc.asyncProperty(value, async (one) => isExactly(encode(one), valuesOf(one)));
  await fc.assert(property);
});

test("objects, maps and columns count their contents", async () => {
  const objects = encode(Array.from({ length: 1_000 }, () => ({ a: 1, b: { c: "x" } })));
  expect(await hasMoreValues(objects, 3_990, pause)).toBe(true);
  expect(await hasMoreValues(objects, 4_020, pause)).toBe(false);
  expect(await hasMoreValues(encode(new Uint32Array(10_000)), 10, pause)).toBe(false);
});
