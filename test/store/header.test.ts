/** A segment's header is read back as it was written, or is refused as damaged. */

import { expect, test } from "vitest";
import { bytesOf } from "../../src/base/growable.ts";
import { encodeRecord } from "../../src/store/format/columns.ts";
import {
  BLOCK_BYTES,
  LAYOUT,
  OVERLAP,
  PAGE_BYTES,
  PART,
  segmentKey,
} from "../../src/store/format/format.ts";
import { corrupt } from "../../src/store/format/sealed.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import {
  filesOfRepository,
  HEADER_COPIES,
  putHeader,
  readHeader,
  readHeaderInSlices,
  repositoryOf,
  type SegmentHeader,
} from "../../src/store/segments/segment-tables.ts";

/** Returns a header with three files of each of the repositories 1, 3, 5, … */
const headerOf = (repositories: number): SegmentHeader => ({
  content: 1,
  blobs: 7,
  pages: 8,
  files: 3 * repositories,
  textBytes: 70_000,
  listBytes: 0,
  postingBlocks: 2 ** 20,
  ...LAYOUT,
  languages: ["", "C", "repositories"],
  repositories: {
    numbers: Uint32Array.from({ length: repositories }, (_, i) => 2 * i + 1),
    firsts: Uint32Array.from({ length: repositories }, (_, i) => 3 * i),
    counts: new Uint32Array(repositories).fill(3),
  },
});

/** Returns the header with its columns as text, because comparing their numbers one by one takes seconds. */
const shown = (header: SegmentHeader | undefined) =>
  header && {
    ...header,
    repositories: Object.entries(header.repositories).map(([name, column]) => {
      const bytes = bytesOf(column as Uint32Array);
      return `${name} ${Buffer.from(bytes).toString("latin1")}`;
    }),
  };

function encoded(header: SegmentHeader): Uint8Array {
  const values: Uint8Array[] = [];
  const put = (_: Uint8Array, ...parts: Uint8Array[]) => void values.push(Buffer.concat(parts));
  putHeader({ put } as Pick<Writer, "put"> as Writer, 1, header);
  expect(Buffer.compare(values[1]!, values[0]!)).toBe(0);
  return values[0]!;
}

function descending(at: number): Uint8Array {
  const header = headerOf(20_000);
  header.repositories.numbers[at] = 0;
  return encoded(header);
}

type Copy = Uint8Array | "damaged" | undefined;

/** Returns a snapshot with the two copies of one segment's header. */
function stored(copies: readonly Copy[]): Pick<Snapshot, "get"> {
  const keys = HEADER_COPIES.map((copy) => segmentKey(1, PART.HEADER, copy).toString("hex"));
  return {
    get(key, what) {
      const value = copies[keys.indexOf(key.toString("hex"))];
      if (value === "damaged") throw corrupt(what);
      return value;
    },
  };
}

test.each([0, 1, 15, 16, 3000, 70_000])("%i repositories are read back unchanged", (count) => {
  const header = headerOf(count);
  const read = readHeader(stored([encoded(header), undefined]), 1);
  expect(shown(read)).toEqual(shown(header));
});

test("a header is read in slices, and the reader yields to the event loop between them", async () => {
  const header = headerOf(70_000);
  let pauses = 0;
  const pause = (): undefined => void pauses++;
  const copies = stored([encoded(header), undefined]);
  expect(shown(await readHeaderInSlices(copies, 1, pause))).toEqual(shown(header));
  expect(pauses).toBeGreaterThanOrEqual(8);
});

const small = headerOf(1);
const { repositories: _, ...counts } = small;
const withRecord = (record: object, ...columns: number[]): Uint8Array =>
  Buffer.concat([...encodeRecord(record), bytesOf(Uint32Array.from(columns))]);

type Row = [what: string, copies: Copy[], expected: SegmentHeader | "damage" | undefined];

const ROWS: Row[] = [
  ["the first copy damaged", ["damaged", encoded(small)], small],
  ["the second copy damaged", [encoded(small), "damaged"], small],
  ["no first copy", [undefined, encoded(small)], small],
  ["both damaged", ["damaged", "damaged"], "damage"],
  ["no segment", [undefined, undefined], undefined],
  ["nothing in it", [new Uint8Array(), undefined], "damage"],
  ["a record that is longer than the value", [Uint8Array.of(9, 0, 0, 0, 1), undefined], "damage"],
  ["no record", [Uint8Array.of(1, 0, 0, 0, 0xc1), undefined], "damage"],
  ["no count", [withRecord({ ...counts, pages: "8", repositories: 0 }), undefined], "damage"],
  ...[{ pageBytes: OVERLAP }, { pageBytes: 300, blockBytes: 300 }, { blockBytes: PAGE_BYTES }].map(
    (layout): Row => {
      const other = { ...small, ...layout };
      return [`the layout ${JSON.stringify(layout)}`, [encoded(other), undefined], other];
    },
  ),
  ...[
    { pageBytes: undefined },
    { blockBytes: undefined },
    { pageBytes: 0 },
    { pageBytes: 256.5 },
    { pageBytes: "256" },
    { pageBytes: OVERLAP - 1 },
    { pageBytes: PAGE_BYTES + 1 },
    { blockBytes: -1000 },
    { blockBytes: PAGE_BYTES - 1 },
    { blockBytes: BLOCK_BYTES + 1 },
    { blockBytes: 2 ** 53 },
  ].map((layout): Row => {
    const record = { ...counts, ...layout, repositories: 0 };
    return [`the layout ${JSON.stringify(layout)}`, [withRecord(record), undefined], "damage"];
  }),
  ["columns cut short", [encoded(small).subarray(0, -1), undefined], "damage"],
  ["a byte too many", [Buffer.concat([encoded(small), Buffer.of(0)]), undefined], "damage"],
  [
    "repositories that descend",
    [withRecord({ ...counts, repositories: 2 }, 3, 1, 0, 3, 3, 3), undefined],
    "damage",
  ],
  ["many that descend between two pieces", [descending(16_384), undefined], "damage"],
];

test.each(ROWS)("%s", async (_, copies, expected) => {
  const read = () => readHeader(stored(copies), 1);
  const inSlices = readHeaderInSlices(stored(copies), 1, () => undefined);
  if (expected !== "damage") return expect([read(), await inSlices]).toEqual([expected, expected]);
  expect(read).toThrow("the header of segment 1");
  await expect(inSlices).rejects.toThrow("the header of segment 1");
});

test("finds each file's repository, and each repository's files", () => {
  const header = headerOf(50);
  for (let file = 0; file < header.files; file++)
    expect(repositoryOf(header, file)).toBe(2 * Math.floor(file / 3) + 1);
  for (let repository = 0; repository <= 101; repository++)
    expect(filesOfRepository(header, repository)).toEqual(
      repository % 2 === 1 && repository < 100
        ? { repository, first: (3 * (repository - 1)) / 2, count: 3 }
        : undefined,
    );
});
