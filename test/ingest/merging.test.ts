/** Which segments are merged next. Tests of the engine cover what a merge makes of them. */

import { expect, test } from "vitest";
import { emptyBitset, setBit } from "../../src/base/bitset.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { nextMerge } from "../../src/ingest/run/merging.ts";
import type { Catalog } from "../../src/store/catalog/catalog.ts";

interface Segment {
  readonly content?: number;
  readonly files: number;
  /** The number of files in some revision. Default: all. */
  readonly live?: number;
  /** The number of blobs of its content. Default: as many as files. */
  readonly blobs?: number;
  readonly textBytes?: number;
}

/** A catalog with segments 1, 2, …, each with the files of one repository. */
function catalogOf(segments: readonly Segment[]): Catalog {
  const numbered = segments.map((one, i) => ({ textBytes: 1e6, ...one, segment: i + 1 }));
  const places = numbered.map(({ segment, files, live = files }) => {
    const set = emptyBitset(files);
    for (let file = 0; file < live; file++) setBit(set, file);
    return { segment, count: files, sets: [set] };
  });
  return {
    manifest: { segments: numbered },
    headers: new Map(
      numbered.map(({ segment, files, blobs = files }) => [segment, { blobs }] as const),
    ),
    repositories: new Map(places.map((place) => [place.segment, { places: [place] }])),
  } as unknown as Catalog;
}

const times = (count: number, one: Segment): Segment[] => Array.from({ length: count }, () => one);

/** The content of a lender, which is segment 1, and some of its borrowers. */
const [LENDER, LENT] = [{ files: 1000 }, { content: 1, blobs: 1000 }];
const MILLION = 2 ** 20;

const ROWS: { what: string; segments: Segment[]; merged?: number[]; lender?: number }[] = [
  { what: "seven of a tier", segments: times(7, { files: 10 }) },
  { what: "eight of a tier", segments: times(8, { files: 10 }), merged: [1, 2, 3, 4, 5, 6, 7, 8] },
  {
    what: "seven of a tier and a larger one",
    segments: [...times(7, { files: 10 }), { files: 10, textBytes: 1e7 }],
  },
  { what: "mostly dead files", segments: [LENDER, { files: 9, live: 4 }], merged: [2] },
  { what: "half dead files", segments: [LENDER, { files: 8, live: 4 }] },
  {
    what: "all that have no live file",
    segments: [{ files: 5, live: 0 }, LENDER, { ...LENT, files: 9, live: 0 }],
    merged: [1, 3],
  },
  { what: "seven borrowers", segments: [LENDER, ...times(7, { ...LENT, files: 1000 })] },
  {
    what: "eight borrowers, without the lender",
    segments: [LENDER, ...times(8, { ...LENT, files: 1000 })],
    merged: [2, 3, 4, 5, 6, 7, 8, 9],
    lender: 1,
  },
  {
    what: "eight borrowers of a lender without live files",
    segments: times(8, { content: 99, blobs: 1000, files: 1000 }),
    merged: [1, 2, 3, 4, 5, 6, 7, 8],
    lender: 99,
  },
  {
    what: "borrowers of two lenders",
    segments: [
      LENDER,
      ...times(7, { ...LENT, files: 1000 }),
      { content: 99, blobs: 1000, files: 1000 },
    ],
  },
  {
    what: "seven borrowers and a merged one",
    segments: [LENDER, ...times(7, { ...LENT, files: 1000 }), { ...LENT, files: 7000 }],
  },
  {
    what: "as many large borrowers as one segment may have files",
    segments: [LENDER, ...times(8, { ...LENT, files: MILLION / 8 })],
    merged: [2, 3, 4, 5],
    lender: 1,
  },
  {
    what: "borrowers that are too large",
    segments: [LENDER, ...times(8, { ...LENT, files: MILLION / 2 })],
  },
  {
    what: "a borrower with mostly dead files",
    segments: [LENDER, { ...LENT, files: 1000, live: 499 }],
    merged: [2],
    lender: 1,
  },
  {
    what: "content of which little is used",
    segments: [
      { files: 1000, live: 100 },
      { ...LENT, files: 300 },
    ],
    merged: [1, 2],
  },
];

test.each(ROWS)("$what", async ({ segments, merged, lender }) => {
  const group = await nextMerge(catalogOf(segments), {
    bounds: RUN_BOUNDS,
    pause: () => undefined,
  });
  expect(group?.segments.map(({ segment }) => segment)).toEqual(merged);
  expect(group?.lender).toBe(lender);
});
