/**
 * Estimates how many bytes a file takes in an answer: about the length of its JSON without escapes. Threads count the
 * files that they show. The calling thread adds the names of branches, which only it knows.
 */

import type { ShownFile } from "./messages.ts";
import type { ResultSymbol } from "./response.ts";

// as in JSON, with names of fields and numbers of a few digits
const FILE_BYTES = 300;
const CHUNK_BYTES = 100;
const RANGE_BYTES = 130;
const SYMBOL_BYTES = 80;
/** The bytes of a null in a list. */
const NONE_BYTES = 5;
/** How many times a file's path occurs, because it is also in the file's addresses. */
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
