/**
 * Estimates how many bytes a file takes in an answer, which is about the length of its JSON without escapes. Each
 * thread counts the bytes of the files that it shows. The calling thread adds the names of branches, because only the
 * calling thread knows them.
 */

import type { ShownFile } from "./messages.ts";
import type { ResultSymbol } from "./response.ts";

// the size of each of these in JSON, including field names and numbers of a few digits
const FILE_BYTES = 300;
const CHUNK_BYTES = 100;
const RANGE_BYTES = 130;
const SYMBOL_BYTES = 80;
/** The size of a null in a list, in bytes. */
const NONE_BYTES = 5;
/** The number of times that a file's path occurs in an answer. The path is also a part of the file's addresses. */
const PATHS = 3;
const CHUNK_WORDS = 5;
const RANGE_WORDS = 6;

export function answerBytes({ path, nameRanges, chunks, content = "" }: ShownFile): number {
  const ranges = nameRanges.length + chunks.ranges.length / RANGE_WORDS;
  const symbols = chunks.symbols.flatMap(([, own]) => own);
  return (
    FILE_BYTES +
    PATHS * path.length +
    CHUNK_BYTES * (chunks.chunks.length / CHUNK_WORDS) +
    RANGE_BYTES * ranges +
    chunks.text.length +
    content.length +
    symbols.reduce((sum, symbol) => sum + symbolBytes(symbol), 0) +
    (chunks.enclosing ?? []).reduce((sum, one) => sum + (one ? symbolBytes(one) : NONE_BYTES), 0)
  );
}

export const branchBytes = (branches: readonly string[]): number =>
  branches.reduce((sum, { length }) => sum + length + 3, 0);

const symbolBytes = ({ symbol, parent }: ResultSymbol): number =>
  SYMBOL_BYTES + symbol.length + (parent?.symbol.length ?? 0);
