/**
 * Makes the keys under which editions of symbols are stored. The highest byte of the number in a key is the edition.
 */

import { segmentKey, type Part } from "../format/format.ts";

/** The maximum number of keys that one edition can have in a part of a segment. */
export const EDITION_NUMBERS = 2 ** 24;
const MOST_EDITIONS = 254;

export const nextEdition = (edition: number): number => (edition % MOST_EDITIONS) + 1;

export const editionKey = (segment: number, part: Part, edition: number, number: number): Buffer =>
  segmentKey(segment, part, edition * EDITION_NUMBERS + number);

/** Returns the range of the keys that an edition can have in a part of the segment. */
export const editionRange = (
  segment: number,
  part: Part,
  edition: number,
): [start: Buffer, end: Buffer] => [
  editionKey(segment, part, edition, 0),
  editionKey(segment, part, edition + 1, 0),
];

/** Returns the number in a key without the edition. These numbers begin at 0 in each edition. */
export const numberInEdition = (key: Buffer): number => key.readUIntBE(key.length - 3, 3);
