/**
 * A file's chunks as they cross threads: columns instead of objects. Receiving a hundred thousand
 * ranges as objects would block the caller's thread for 260 ms; columns arrive in one copy and become
 * objects in slices.
 *
 *     chunks   five words each: bytes of content, ranges, and where the content starts
 *     ranges   six words each: start and end
 *     (a position is three words: byteOffset, lineNumber, column)
 */

import { decodeText } from "./positions.ts";
import type { Chunk, Position, Range, ResultSymbol } from "./response.ts";

export interface PackedChunks {
  /** The contents, one after another, as bytes of the file. */
  readonly text: Uint8Array;
  readonly chunks: Uint32Array;
  readonly ranges: Uint32Array;
  /** Of the chunks that have some, by their positions. */
  readonly symbols: readonly (readonly [chunk: number, symbols: ResultSymbol[]])[];
}

/** A chunk whose content is still bytes. */
export type ChunkDraft = Omit<Chunk, "content"> & { readonly bytes: Uint8Array };

export const NO_CHUNKS: PackedChunks = {
  text: new Uint8Array(0),
  chunks: new Uint32Array(0),
  ranges: new Uint32Array(0),
  symbols: [],
};

export function packChunks(drafts: readonly ChunkDraft[]): PackedChunks {
  const count = drafts.reduce((sum, { matchRanges }) => sum + matchRanges.length, 0);
  const chunks = new Uint32Array(5 * drafts.length);
  const ranges = new Uint32Array(6 * count);
  let at = 0;
  drafts.forEach(({ bytes, matchRanges, contentStart }, i) => {
    chunks.set([bytes.length, matchRanges.length, ...words(contentStart)], 5 * i);
    for (const { start, end } of matchRanges) {
      ranges.set([...words(start), ...words(end)], at);
      at += 6;
    }
  });
  const symbols = drafts.flatMap((draft, i) =>
    draft.symbols ? [[i, draft.symbols] as const] : [],
  );
  return {
    text: new Uint8Array(Buffer.concat(drafts.map(({ bytes }) => bytes))),
    chunks,
    ranges,
    symbols,
  };
}

const words = ({ byteOffset, lineNumber, column }: Position): [number, number, number] => [
  byteOffset,
  lineNumber,
  column,
];

/** `pause` is awaited now and then: a file may have any number of chunks and ranges. */
export async function unpackChunks(
  { text, chunks, ranges, symbols }: PackedChunks,
  pause: () => Promise<void> | undefined,
): Promise<Chunk[]> {
  const bySymbols = new Map(symbols);
  const out: Chunk[] = [];
  let [byte, word] = [0, 0];
  for (let i = 0; i < chunks.length / 5; i++) {
    const [length, count] = [chunks[5 * i]!, chunks[5 * i + 1]!];
    const matchRanges: Range[] = [];
    for (const end = word + 6 * count; word < end; word += 6) {
      matchRanges.push({ start: positionAt(ranges, word), end: positionAt(ranges, word + 3) });
      if (word % 1536 === 0) await pause();
    }
    const content = decodeText(text.subarray(byte, byte + length));
    byte += length;
    const own = bySymbols.get(i);
    out.push({
      content,
      matchRanges,
      contentStart: positionAt(chunks, 5 * i + 2),
      ...(own ? { symbols: own } : {}),
    });
    if (i % 64 === 63) await pause();
  }
  return out;
}

const positionAt = (from: Uint32Array, at: number): Position => ({
  byteOffset: from[at]!,
  lineNumber: from[at + 1]!,
  column: from[at + 2]!,
});
