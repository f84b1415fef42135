import { expect, test } from "vitest";
import { encodeRecord } from "../../src/store/format/columns.ts";
import { readSkipped } from "../../src/store/catalog/catalog.ts";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import type { SkippedFile } from "../../src/store/format/records.ts";
import { encodeSkipped } from "../../src/store/format/skipped-files.ts";

/** Returns a snapshot that reads everything into one buffer, as a snapshot may. */
function snapshotOf(value: Uint8Array): Snapshot {
  const shared = new Uint8Array(value.length);
  return {
    get: () => (shared.set(value), shared),
    getSealed: () => undefined,
    keys: () => [],
    close: () => shared.fill(0),
  };
}

const listOf = (length: number): SkippedFile[] =>
  Array.from({ length }, (_, i) => ({
    path: `pictures/${"é".repeat(i % 40)}${i}.png`,
    revision: i % 3 === 0 ? "HEAD" : "a-revision-with-a-longer-name-than-31-bytes",
    reason: i % 2 === 0 ? "binary" : "too-large",
  }));

test.each([0, 1, 15, 16, 255, 256, 257, 1000, 65_535, 65_536])(
  "%i skipped files are read back unchanged, whatever is read in between",
  async (length) => {
    const list = listOf(length);
    let pauses = 0;
    const packed = Buffer.concat(await encodeSkipped(list, () => void pauses++));
    expect(pauses).toBe(Math.ceil(length / 256));
    const snapshot = snapshotOf(packed);
    const pause = () => (pauses++, snapshot.close(), undefined);
    expect(await readSkipped(snapshot, 1, pause)).toEqual(list);
    expect(pauses).toBe(2 * Math.ceil(length / 256));
  },
);

const one = { path: "a", revision: "HEAD", reason: "binary" } as const;
const encodedOne = async () => Buffer.concat(await encodeSkipped([one], () => undefined));

test.each([
  ["another record", async () => Buffer.concat(encodeRecord({ path: "a" }))],
  ["a path cut short", async () => (await encodedOne()).subarray(0, -1)],
  ["a byte too many", async () => Buffer.concat([await encodedOne(), Buffer.of(0)])],
  ["no reason that there is", async () => changed(await encodedOne(), -14, 99)],
  ["no revision that there is", async () => changed(await encodedOne(), -13, 1)],
])("%s counts as damage", async (_, value) => {
  const reading = readSkipped(snapshotOf(await value()), 1, () => undefined);
  await expect(reading).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});

/**
 * Returns the value with one byte changed. `at` is counted from the end. The last bytes are reason, revision, two
 * starts and the path.
 */
function changed(value: Buffer, at: number, byte: number): Buffer {
  value[value.length + at] = byte;
  return value;
}
