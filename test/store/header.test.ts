/** A segment's header is the same whether it is read at once or in slices. */

import { pack } from "msgpackr";
import { expect, test } from "vitest";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import { PART, segmentKey } from "../../src/store/format/format.ts";
import { corrupt } from "../../src/store/format/sealed.ts";
import {
  HEADER_COPIES,
  readHeader,
  readHeaderInSlices,
  type SegmentHeader,
} from "../../src/store/segments/segment-tables.ts";

const headerOf = (repositories: number): SegmentHeader => ({
  blobs: 7,
  pages: 8,
  files: 3 * repositories,
  textBytes: 70_000,
  listBytes: 0,
  postingBlocks: 2 ** 20,
  languages: ["", "C", "repositories"],
  repositories: Array.from({ length: repositories }, (_, i) => ({
    repository: 2 * i + 1,
    first: 3 * i,
    count: 3,
  })),
});

/** Of one segment's two copies; null: damaged. */
function stored(copies: readonly (object | null | undefined)[]): Pick<Snapshot, "get"> {
  const keys = HEADER_COPIES.map((copy) => segmentKey(1, PART.HEADER, copy).toString("hex"));
  return {
    get(key, what) {
      const value = copies[keys.indexOf(key.toString("hex"))];
      if (value === null) throw corrupt(what);
      return value && pack(value);
    },
  };
}

const small = headerOf(1);
const ROWS: [what: string, copies: (object | null | undefined)[]][] = [
  ["no repository", [headerOf(0), headerOf(0)]],
  ["one", [small, small]],
  ["15, the longest short list", [headerOf(15), headerOf(15)]],
  ["16", [headerOf(16), headerOf(16)]],
  ["70 000, a list of the longest kind", [headerOf(70_000), headerOf(70_000)]],
  ["the first copy damaged", [null, small]],
  ["the second copy damaged", [small, null]],
  ["no first copy", [undefined, small]],
  ["both damaged", [null, null]],
  ["no segment", [undefined, undefined]],
  ["no count", [{ ...small, pages: "8" }, null]],
  ["a repository without files", [{ ...small, repositories: [{ repository: 1 }] }, null]],
];

test.each(ROWS)("%s", async (_, copies) => {
  const source = stored(copies);
  const told = async (read: () => unknown) => {
    try {
      return await read();
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(await told(() => readHeaderInSlices(source, 1, () => undefined))).toEqual(
    await told(() => readHeader(source, 1)),
  );
});

test("between few repositories others have their turn", async () => {
  let turns = 0;
  await readHeaderInSlices(stored([headerOf(3000), null]), 1, () => void turns++);
  expect(turns).toBeGreaterThanOrEqual(10);
});
