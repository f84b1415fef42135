/** Encodes versions of files, and reads them again. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { HASH_BYTES } from "../../src/store/format/format.ts";
import { encodeVersions, readVersions } from "../../src/store/segments/file-versions.ts";

/** Returns a version with non-zero bytes up to `width`. */
const version = (width: number): number[] =>
  Array.from({ length: HASH_BYTES }, (_, i) => (i < width ? 255 - i : 0));

const read = (value: Uint8Array | undefined, count: number): Uint8Array =>
  readVersions({ get: () => value }, { repository: 1, segment: 1, count });

test("any versions are read back unchanged", () => {
  const widths = fc.array(fc.integer({ min: 0, max: HASH_BYTES }), { maxLength: 9 });
  const check = (own: readonly number[]) => {
    const versions = Uint8Array.from(own.flatMap(version));
    const value = encodeVersions(versions);
    expect(read(value, own.length)).toEqual(versions);
    expect(value.length).toBe(1 + own.length * Math.max(0, ...own));
  };
  fc.assert(fc.property(widths, check));
});

test.each([
  { what: "no value", value: undefined },
  { what: "an empty value", value: [] },
  { what: "a file too few", value: [2, 1, 1] },
  { what: "a byte too many", value: [2, 1, 1, 1, 1, 1] },
  { what: "versions that are too wide", value: [21, ...version(21), 1, ...version(21), 1] },
])("$what counts as damage", ({ value }) => {
  expect(() => read(value && Uint8Array.from(value), 2)).toThrow(
    expect.objectContaining({ code: "INDEX_CORRUPT" }),
  );
});
