import { pack } from "msgpackr";
import { expect, test } from "vitest";
import { readSkipped } from "../../src/store/catalog/catalog.ts";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import type { SkippedFile } from "../../src/store/format/records.ts";

/** That reads everything into one buffer, as a snapshot may. */
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
  "%i skipped files are read as they were packed, whatever is read meanwhile",
  async (length) => {
    const list = listOf(length);
    const snapshot = snapshotOf(pack(list));
    let pauses = 0;
    const pause = () => (pauses++, snapshot.close(), undefined);
    expect(await readSkipped(snapshot, 1, pause)).toEqual(list);
    expect(pauses).toBe(Math.ceil(length / 256));
  },
);

test("what is no list is damage", async () => {
  const reading = readSkipped(snapshotOf(pack({ path: "a" })), 1, () => undefined);
  await expect(reading).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});
