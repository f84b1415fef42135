/** A field of a form is what URLSearchParams makes of it, however the form is cut into slices. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { newPause } from "../../src/base/yield.ts";
import { formField } from "../../src/sync/form-field.ts";

const read = async (form: string): Promise<string> =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    await formField(Buffer.from(form, "latin1"), "payload", newPause()),
  );
const expected = (form: string): string => {
  const fields = form.split("&").filter((field) => field.includes("="));
  return new URLSearchParams(fields.join("&")).get("payload") ?? "";
};

test.each([
  ["", ""],
  ["payload=", ""],
  ["payload=a", "a"],
  ["a=1&payload=b&c=2", "b"],
  ["payload=1&payload=2", "1"],
  ["xpayload=1", ""],
  ["xpayload=1&payload=2", "2"],
  ["payload", ""],
  ["payload=a=b", "a=b"],
  ["payload=a+b%2Bc", "a b+c"],
  ["payload=%e2%82%AC", "\u20ac"],
  ["payload=%", "%"],
  ["payload=%4", "%4"],
  ["payload=%4&a=1", "%4"],
  ["payload=%4g%g4%%41", "%4g%g4%A"],
])("in the form %j, the field is %j", async (form, value) => {
  expect(await read(form)).toBe(value);
  expect(expected(form)).toBe(value);
});

const piece = fc.constantFrom(
  "payload=",
  "&",
  "=",
  "%",
  "%4",
  "%41",
  "%ff",
  "+",
  "a",
  "payload",
  "%25",
);

test("random forms are read as by URLSearchParams", async () => {
  const forms = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(forms, async (form) => {
      expect(await read(form)).toBe(expected(form));
    }),
    { numRuns: 2_000 },
  );
});

test.each([65_534, 65_535, 65_536, 65_537])(
  "an escape after %i bytes is decoded",
  async (length) => {
    const value = "x".repeat(length);
    expect(await read(`payload=${value}%41%42&b=1`)).toBe(`${value}AB`);
  },
);
