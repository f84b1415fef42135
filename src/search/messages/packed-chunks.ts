/**
 * Packs the chunks of a file into columns, which are sent to another thread. Receiving a hundred thousand ranges as
 * objects would block the caller's thread for 260 ms. Columns arrive in one copy, and the caller's thread converts
 * them to objects in slices.
 *
 *     chunks   five words each: the number of bytes, the number of ranges, and the position where the content starts
 *     ranges   six words each: the positions of start and end
 *     (a position is three words: byteOffset, lineNumber, column)
 */

import type { GcPacer } from "../../base/gc-pacer.ts";
import { decodeText } from "../../base/decode-text.ts";
import { GrowableBytes, GrowableWords } from "../../base/growable.ts";
import type { Pause } from "../../base/yield.ts";
import type { Chunk, Position, Range, ResultSymbol } from "./response.ts";

export interface PackedChunks {
  /** The contents of all chunks, one after another, as bytes of the file. */
  readonly text: Uint8Array;
  readonly chunks: Uint32Array;
  readonly ranges: Uint32Array;
  /** The symbols of each chunk that has symbols, with the index of the chunk. */
  readonly symbols: readonly (readonly [chunk: number, symbols: ResultSymbol[]])[];
  /**
   * For each range, the definition that encloses it, or null if there is none. Absent if the request did not ask for
   * enclosing definitions.
   */
  readonly enclosing?: readonly (ResultSymbol | null)[];
}

export type PackedEnclosing = ResultSymbol | null | undefined;

export const NO_CHUNKS: PackedChunks = {
  text: new Uint8Array(0),
  chunks: new Uint32Array(0),
  ranges: new Uint32Array(0),
  symbols: [],
};

/**
 * Packs chunks, one after another. REQUIRES: for each chunk, the caller calls range() for each of its ranges, and
 * then chunk().
 */
export class ChunkPacker {
  // most files have one or two ranges, and so little text
  readonly #text = new GrowableBytes(64);
  readonly #chunks = new GrowableWords();
  readonly #ranges = new GrowableWords();
  readonly #symbols: (readonly [number, ResultSymbol[]])[] = [];
  readonly #enclosing: (ResultSymbol | null)[] = [];
  #own: ResultSymbol[] = [];
  #begin = 0;

  /**
   * Adds a range of the next chunk. `enclosing` is undefined if the request did not ask for enclosing definitions.
   */
  range(
    { start, end }: Range,
    { symbol, enclosing }: { symbol: ResultSymbol | undefined; enclosing: PackedEnclosing },
  ): void {
    push(this.#ranges, start);
    push(this.#ranges, end);
    if (symbol) this.#own.push(symbol);
    if (enclosing !== undefined) this.#enclosing.push(enclosing);
  }

  chunk(bytes: Uint8Array, contentStart: Position): void {
    if (this.#own.length > 0) this.#symbols.push([this.#chunks.length / 5, this.#own]);
    this.#chunks.push(bytes.length);
    this.#chunks.push((this.#ranges.length - this.#begin) / 6);
    push(this.#chunks, contentStart);
    this.#text.push(bytes);
    this.#own = [];
    this.#begin = this.#ranges.length;
  }

  finish(): PackedChunks {
    return {
      text: this.#text.view,
      chunks: this.#chunks.view,
      ranges: this.#ranges.view,
      symbols: this.#symbols,
      ...(this.#enclosing.length > 0 && { enclosing: this.#enclosing }),
    };
  }
}

/** Returns the number of ranges of all chunks. */
export const rangesIn = ({ ranges }: PackedChunks): number => ranges.length / 6;

/**
 * Sorts the chunks. `places` has a different number for each range, and the chunk with the smallest number comes
 * first. If `isStopped` returns true, the chunks that have not been copied yet are dropped. The sort takes linear
 * time, because an answer may have a hundred thousand chunks.
 */
export async function inOrder(
  packed: PackedChunks,
  places: Uint32Array,
  { pause, isStopped }: { readonly pause: Pause; readonly isStopped: () => boolean },
): Promise<PackedChunks> {
  const { starts, order } = chunksByPlace(packed, places);
  const text = new GrowableBytes();
  const [chunks, ranges] = [new GrowableWords(64), new GrowableWords(128)];
  const bySymbols = new Map(packed.symbols);
  const symbols: (readonly [number, ResultSymbol[]])[] = [];
  const enclosing: (ResultSymbol | null)[] = [];
  for (const [to, chunk] of order.entries()) {
    if (to % CHUNKS_PER_PAUSE === CHUNKS_PER_PAUSE - 1) {
      if (isStopped()) break;
      await pause();
    }
    const [byte, range] = [starts[2 * chunk]!, starts[2 * chunk + 1]!];
    const end = range + packed.chunks[5 * chunk + 1]!;
    text.push(packed.text.subarray(byte, byte + packed.chunks[5 * chunk]!));
    chunks.pushAll(packed.chunks.subarray(5 * chunk, 5 * chunk + 5), 0);
    ranges.pushAll(packed.ranges.subarray(6 * range, 6 * end), 0);
    const own = bySymbols.get(chunk);
    if (own) symbols.push([to, own]);
    if (packed.enclosing) for (let i = range; i < end; i++) enclosing.push(packed.enclosing[i]!);
  }
  return {
    text: text.view.slice(),
    chunks: chunks.view.slice(),
    ranges: ranges.view.slice(),
    symbols,
    ...(packed.enclosing && { enclosing }),
  };
}

/**
 * Returns where the text and the ranges of each chunk start. Also returns the indexes of the chunks, in the order of
 * the smallest numbers that `places` has for them.
 */
function chunksByPlace(
  { chunks }: PackedChunks,
  places: Uint32Array,
): { readonly starts: Uint32Array; readonly order: Uint32Array } {
  const count = chunks.length / 5;
  const starts = new Uint32Array(2 * count);
  // for the best place of each chunk, the index of the chunk + 1; for all other places, 0
  const chunkAt = new Uint32Array(places.reduce((most, place) => Math.max(most, place), 0) + 1);
  let [byte, range] = [0, 0];
  for (let chunk = 0; chunk < count; chunk++) {
    starts.set([byte, range], 2 * chunk);
    byte += chunks[5 * chunk]!;
    const end = range + chunks[5 * chunk + 1]!;
    let best = Infinity;
    for (; range < end; range++) best = Math.min(best, places[range]!);
    chunkAt[best] = chunk + 1;
  }
  return { starts, order: chunkAt.filter((chunk) => chunk > 0).map((chunk) => chunk - 1) };
}

/**
 * Copies the columns of all files into one buffer, which is transferred together with the files. A column sent on its
 * own would take its whole backing buffer with it, including the unused part.
 */
export function inOneBuffer<F extends { readonly chunks: PackedChunks } | undefined>(
  files: readonly F[],
): { readonly files: F[]; readonly buffer: ArrayBuffer } {
  const all = files.flatMap((file) => file?.chunks ?? []);
  const words = all.reduce((sum, { chunks, ranges }) => sum + chunks.length + ranges.length, 0);
  const bytes = all.reduce((sum, { text }) => sum + text.length, 0);
  const buffer = new ArrayBuffer(4 * words + bytes);
  let [word, byte] = [0, 4 * words];
  const moved = (column: Uint32Array): Uint32Array => {
    const view = new Uint32Array(buffer, 4 * word, column.length);
    view.set(column);
    word += column.length;
    return view;
  };
  const packed = files.map((file) => {
    if (!file) return file;
    const { chunks, ranges } = file.chunks;
    const text = new Uint8Array(buffer, byte, file.chunks.text.length);
    text.set(file.chunks.text);
    byte += text.length;
    const columns = { text, chunks: moved(chunks), ranges: moved(ranges) };
    return { ...file, chunks: { ...file.chunks, ...columns } };
  });
  return { files: packed, buffer };
}

function push(words: GrowableWords, { byteOffset, lineNumber, column }: Position): void {
  words.push(byteOffset);
  words.push(lineNumber);
  words.push(column);
}

/**
 * Converts packed chunks to objects. Awaits `pause` regularly, because a file may have any number of chunks. Arrays
 * are created with their final length. An array that grows by push() would start with memory for 17 elements, and the
 * garbage collector would copy this memory on the calling thread.
 */
export async function unpackChunks(
  { text, chunks, ranges, symbols, enclosing }: PackedChunks,
  { pause, pacer }: { readonly pause: Pause; readonly pacer: GcPacer },
): Promise<Chunk[]> {
  const bySymbols = new Map(symbols);
  const out = Array.from<Chunk>({ length: chunks.length / 5 });
  let [byte, word] = [0, 0];
  for (let i = 0; i < out.length; i++) {
    const range = word / 6;
    const [length, count] = [chunks[5 * i]!, chunks[5 * i + 1]!];
    const matchRanges = Array.from<Range>({ length: count });
    for (let k = 0; k < count; k++, word += 6) {
      matchRanges[k] = { start: positionAt(ranges, word), end: positionAt(ranges, word + 3) };
      if (k % RANGES_PER_PAUSE === RANGES_PER_PAUSE - 1) await pause();
    }
    const content = decodeText(text.subarray(byte, byte + length));
    byte += length;
    pacer.created(CHUNK_BYTES + length + count * RANGE_BYTES);
    const own = bySymbols.get(i);
    const contentStart = positionAt(chunks, 5 * i + 2);
    out[i] = own
      ? { content, matchRanges, contentStart, symbols: own }
      : { content, matchRanges, contentStart };
    if (enclosing) out[i]!.enclosing = enclosing.slice(range, range + count);
    if (i % CHUNKS_PER_PAUSE === CHUNKS_PER_PAUSE - 1) await pause();
  }
  return out;
}

/** The number of ranges or chunks that are processed between two pauses. This takes about 50 µs. */
const RANGES_PER_PAUSE = 256;
const CHUNKS_PER_PAUSE = 64;

/** The approximate size of a range and of a chunk in V8's heap, in bytes. */
const RANGE_BYTES = 136;
const CHUNK_BYTES = 168;

const positionAt = (from: Uint32Array, at: number): Position => ({
  byteOffset: from[at]!,
  lineNumber: from[at + 1]!,
  column: from[at + 2]!,
});
