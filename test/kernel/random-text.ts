/** Draws short texts: ASCII, letters that folding changes in unusual ways, and any bytes. */

import fc from "fast-check";

export const text = fc.oneof(
  fc
    .string({ unit: fc.constantFrom(...Array.from("abAB_09 .\n")), maxLength: 200 })
    .map((one) => Buffer.from(one)),
  fc
    .string({ unit: fc.constantFrom(...Array.from("aBkſ\u212aéÉσςΣ日𝒳Ⱥ")), maxLength: 60 })
    .map((one) => Buffer.from(one)),
  fc.uint8Array({ maxLength: 100 }).map((one) => Buffer.from(one)),
);
