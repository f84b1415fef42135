/** Keys of what is kept by editions of a segment's symbols: the edition stands in the highest byte of the number. */

import { segmentKey, type Part } from "../format/format.ts";

const EDITION_NUMBERS = 2 ** 24;
const MOST_EDITIONS = 254;

export const nextEdition = (edition: number): number => (edition % MOST_EDITIONS) + 1;

export const editionKey = (segment: number, part: Part, edition: number, number: number): Buffer =>
  segmentKey(segment, part, edition * EDITION_NUMBERS + number);

/** The keys of one edition in one of the parts. */
export const editionRange = (
  segment: number,
  part: Part,
  edition: number,
): [start: Buffer, end: Buffer] => [
  editionKey(segment, part, edition, 0),
  editionKey(segment, part, edition + 1, 0),
];

/** The number without its edition. */
export const numberInEdition = (key: Buffer): number => key.readUIntBE(key.length - 3, 3);
