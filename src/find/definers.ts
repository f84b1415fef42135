/**
 * Finds the files that define a name of the question. A question that names a definition asks for it, so these files
 * are read even if their words do not rank them first.
 */

import { forEachBit, intersect } from "../base/bitset.ts";
import { SYMBOL_ROW } from "../store/symbols/symbol-run.ts";
import { blobsOf } from "../search/thread/planning/pages.ts";
import { pagesWith } from "../search/thread/planning/candidates.ts";
import { prepareLiteral } from "../search/thread/reading/literal.ts";
import { byPath, candidatesOf } from "./candidates.ts";
import type { Candidate, RankInput } from "./messages.ts";
import type { AskedSegment, FindThread } from "./thread.ts";

/** The maximum number of definers of one name that are read. */
const MAX_DEFINERS = 20;
/** The maximum number of blobs whose definitions are compared with one name. */
const MAX_COMPARED = 500;

export async function definersOf(
  input: RankInput,
  segment: AskedSegment,
  { snapshot, words, pause }: FindThread,
): Promise<Candidate[]> {
  const { reader, symbols, blobs: inScope } = segment;
  if (!symbols) return [];
  const { candidateOf } = candidatesOf(input, segment, snapshot);
  const found = new Map<number, Candidate>();
  for (const name of input.names) {
    const { grams } = prepareLiteral({ kind: "literal", text: name, caseSensitive: false });
    let blobs = intersect(symbols.blobs().slice(), inScope);
    if (symbols.names && grams.length > 0) {
      const lookup = {
        reader,
        lists: symbols.names,
        snapshot,
        kernel: words.table.kernel,
        arena: words.arena,
        countInScope: () => 0,
        isStopped: () => false,
        pause,
      };
      const { pages } = pagesWith(grams, lookup);
      if (pages) blobs = intersect(blobs, blobsOf(pages, reader));
    }
    const compared: number[] = [];
    forEachBit(blobs, (blob) => {
      if (compared.length < MAX_COMPARED) compared.push(blob);
    });
    const defining: Candidate[] = [];
    for (const blob of compared) {
      if (defines(blob, name, segment, snapshot))
        for (const file of filesOf(blob, segment))
          defining.push(candidateOf(file, { score: 0, sum: 0, isDefiner: true }));
      await pause();
    }
    defining.sort(byPath);
    for (const one of defining.slice(0, MAX_DEFINERS)) found.set(one.file, one);
  }
  return [...found.values()];
}

function defines(
  blob: number,
  name: string,
  { reader, symbols }: AskedSegment,
  snapshot: FindThread["snapshot"],
): boolean {
  const wanted = name.toLowerCase();
  const { count, rows } = symbols!.of(blob);
  const bytes = Buffer.byteLength(name);
  let text: Buffer | undefined;
  for (let row = 0; row < count; row++) {
    const [from, to] = [rows[row * SYMBOL_ROW]!, rows[row * SYMBOL_ROW + 1]!];
    if (to - from !== bytes) continue;
    text ??= Buffer.from(reader.blobText(snapshot, blob));
    if (text.toString("utf8", from, to).toLowerCase() === wanted) return true;
  }
  return false;
}

function* filesOf(blob: number, { reader, files }: AskedSegment): Generator<number> {
  for (let i = reader.blobFileStarts[blob]!; i < reader.blobFileStarts[blob + 1]!; i++) {
    const file = reader.blobFiles[i]!;
    if (((files[file >>> 5]! >>> (file & 31)) & 1) === 1) yield file;
  }
}
