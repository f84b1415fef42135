/** Makes the keys of editions of symbols. The highest byte of a key's number is the edition. */

import { segmentKey, type Part } from "../format/format.ts";

/** How many key numbers each edition has in a part. */
export const EDITION_NUMBERS = 2 ** 24;
const MOST_EDITIONS = 254;

export const nextEdition = (edition: number): number => (edition % MOST_EDITIONS) + 1;

export const editionKey = (segment: number, part: Part, edition: number, number: number): Buffer =>
  segmentKey(segment, part, edition * EDITION_NUMBERS + number);

/** Returns the range of keys of one edition in a part. */
export const editionRange = (
  segment: number,
  part: Part,
  edition: number,
): [start: Buffer, end: Buffer] => [
  editionKey(segment, part, edition, 0),
  editionKey(segment, part, edition + 1, 0),
];

/** Returns the last part of a key: a number, counted from 0 within each edition. */
export const numberInEdition = (key: Buffer): number => key.readUIntBE(key.length - 3, 3);
