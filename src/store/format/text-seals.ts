/**
 * Encodes and decodes part SEALS of a segment whose text is in a file. The part consists of a record, and a column with
 * the seal of each block of text. A block has the same seal that it would have as a value of part TEXT.
 */

import { bytesOf } from "../../base/growable.ts";
import { decodeRecord, encodeRecord } from "./columns.ts";
import { BLOCK_BYTES } from "./format.ts";
import { isCount } from "./sealed.ts";

export interface TextSeals {
  readonly blockBytes: number;
  readonly textBytes: number;
  readonly seals: Uint32Array;
}

export const encodeTextSeals = ({ seals, ...sizes }: TextSeals): Uint8Array[] => [
  ...encodeRecord(sizes),
  bytesOf(seals),
];

/** Decodes the part. Throws INDEX_CORRUPT if the number of seals differs from the number of blocks. */
export function decodeTextSeals(value: Uint8Array, what: string): TextSeals {
  const { record, columns } = decodeRecord<Omit<TextSeals, "seals">>(value, what, isRecord);
  const seals = columns.words(Math.ceil(record.textBytes / record.blockBytes));
  columns.end();
  return { ...record, seals };
}

const isRecord = ({ blockBytes, textBytes }: Readonly<Record<string, unknown>>): boolean =>
  isCount(blockBytes) && blockBytes > 0 && blockBytes <= BLOCK_BYTES && isCount(textBytes);
