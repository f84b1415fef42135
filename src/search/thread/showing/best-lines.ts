/**
 * Orders the lines of a file by how much a reader wants to see them first. The score of a line adds up, for each term,
 * what the best match in the line would add to the score of a file (score.ts). So a match in the name of a definition
 * comes before a whole word, and a line with two terms before a line with one. Lines of equal score stay in order.
 * Rating one end of a range takes about 100 ns.
 */

import type { Pause } from "../../../base/yield.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { MEMBER_KINDS } from "../../../store/symbols/symbol-kinds.ts";
import { SYMBOL_ROW, type SymbolList } from "../../../store/symbols/symbol-run.ts";
import { atomScore } from "../ranking/score.ts";
import { bestEdge } from "../reading/literal-scanner.ts";

const NEWLINE = 10;
/** The classes of scanning/definitions.ts: a whole name, one end of a name, the inside of a name. */
const [EXACT, EDGE, INSIDE, NOT_IN_A_NAME] = [3, 2, 1, 0];
/** The rating in kernel/assembly/edges.ts of a match from one end of a name (2 points) to a joint within it (1). */
const AT_JOINT = 3;
/** The maximum nesting depth of names. Names are hardly ever nested. */
const MOST_NESTED = 4;

/** A file's text, and what is needed to rate its lines. */
export interface RatedText {
  /** A view of the kernel's memory. It is valid until something is allocated there. */
  readonly text: Buffer;
  /** The address of the text in the kernel's memory, and its length in bytes. */
  readonly origin: number;
  readonly length: number;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly definitions: SymbolList | undefined;
  /** Awaited regularly. */
  readonly pause: Pause;
  /** Whether time is up. If so, the first lines are returned instead of the best. */
  readonly isStopped: () => boolean;
  /** How many pairs are needed, in the order of their lines. */
  readonly most: number;
}

/** The number of ranges after which a thread checks the clock, or yields if it is shared. */
const RANGES_PER_PAUSE = 256;

/**
 * Returns the indexes of at least `most` pairs, those of the best line first. All pairs of a line are returned together,
 * in their order. `terms` has the ranges of each term; `pairs` has the ranges of all terms, merged. REQUIRES: all are ascending
 * pairs (from, to).
 *
 * A file of 2 MiB may have a million lines, so this takes linear time, apart from sorting the distinct scores.
 */
export async function bestFirst(
  pairs: Uint32Array,
  terms: readonly Uint32Array[],
  rated: RatedText,
): Promise<Uint32Array> {
  const { lineOf, starts, ends } = await linesOf(pairs, rated);
  const first = Math.min(lineOf.length, rated.most);
  if (rated.isStopped()) return inTheirOrder(first);
  const scores = new Int32Array(starts.length);
  for (const ranges of terms) await addScores(scores, ranges, { starts, ends, rated });
  return (await byScore(lineOf, scores, rated)) ?? inTheirOrder(first);
}

function inTheirOrder(count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let i = 0; i < count; i++) places[i] = i;
  return places;
}

/**
 * Resolves to the indexes of pairs, those with the highest score first, or to undefined if stopped. This is a
 * counting sort.
 */
async function byScore(
  lineOf: Uint32Array,
  scores: Int32Array,
  { pause, isStopped }: Pick<RatedText, "pause" | "isStopped">,
): Promise<Uint32Array | undefined> {
  // for each score, first the number of its pairs, then the index where its next pair goes
  const next = new Map<number, number>();
  const forEach = async (visit: (i: number, known: number) => number) => {
    for (let i = 0; i < lineOf.length; i++) {
      const score = scores[lineOf[i]!]!;
      next.set(score, visit(i, next.get(score) ?? 0));
      if (i % RANGES_PER_PAUSE > 0) continue;
      if (isStopped()) return;
      await pause();
    }
  };
  await forEach((_, known) => known + 1);
  let start = 0;
  for (const score of [...next.keys()].sort((a, b) => b - a)) {
    const count = next.get(score)!;
    next.set(score, start);
    start += count;
  }
  const order = new Uint32Array(lineOf.length);
  await forEach((i, place) => {
    order[place] = i;
    return place + 1;
  });
  return isStopped() ? undefined : order;
}

interface BegunLines {
  /** For each pair, the index of the line in which it begins. */
  readonly lineOf: Uint32Array;
  readonly starts: readonly number[];
  /** For each line, the position after its newline, or Infinity if it has none. */
  readonly ends: readonly number[];
}

/** Finds the lines in which pairs begin. */
async function linesOf(
  pairs: Uint32Array,
  { text, pause, isStopped }: RatedText,
): Promise<BegunLines> {
  const lineOf = new Uint32Array(pairs.length / 2);
  const [starts, ends]: [number[], number[]] = [[], []];
  for (let i = 0; i < lineOf.length; i++) {
    const from = pairs[2 * i]!;
    if (starts.length === 0 || from >= ends.at(-1)!) {
      const newline = text.indexOf(NEWLINE, from);
      starts.push(from === 0 ? 0 : text.lastIndexOf(NEWLINE, from - 1) + 1);
      ends.push(newline < 0 ? Infinity : newline + 1);
    }
    lineOf[i] = starts.length - 1;
    if (i % RANGES_PER_PAUSE > 0) continue;
    if (isStopped()) break;
    await pause();
  }
  return { lineOf, starts, ends };
}

/** Adds to each line the best score of a term in it. */
async function addScores(
  scores: Int32Array,
  ranges: Uint32Array,
  { starts, ends, rated }: Omit<BegunLines, "lineOf"> & { readonly rated: RatedText },
): Promise<void> {
  const classOf = definitionClasses(rated);
  let [line, best] = [0, 0];
  for (let i = 0; i < ranges.length; i += 2) {
    const [from, to] = [ranges[i]!, ranges[i + 1]!];
    if (i % (2 * RANGES_PER_PAUSE) === 0) {
      if (rated.isStopped()) return;
      await rated.pause();
    }
    for (; line + 1 < starts.length && starts[line + 1]! <= from; best = 0) {
      scores[line]! += best;
      line++;
    }
    if (from < starts[line]! || from >= ends[line]!) continue; // overlaps a range that begins in an earlier line
    const edge = edgeOf(rated, [from, to], [0, rated.length]);
    best = Math.max(best, atomScore(edge, classOf(from, to), 0));
  }
  if (starts.length > 0) scores[line]! += best;
}

/** Returns the edge of a range in a part of the text, 0 to 4. */
function edgeOf(
  rated: RatedText,
  [from, to]: readonly [number, number],
  [lowest, limit]: readonly [number, number],
): number {
  const { origin } = rated;
  const range = Uint32Array.of(from - lowest, to - lowest);
  return bestEdge(range, [origin + lowest, origin + limit], rated);
}

/**
 * Returns a function that rates a range by the definitions whose names contain it. REQUIRES: ranges are passed in
 * ascending order.
 */
function definitionClasses(rated: RatedText): (from: number, to: number) => number {
  const { definitions } = rated;
  if (!definitions) return () => NOT_IN_A_NAME;
  const { count, rows } = definitions;
  let next = 0; // the first row that starts after the range
  return (from, to) => {
    while (next < count && rows[next * SYMBOL_ROW]! <= from) next++;
    let best = NOT_IN_A_NAME;
    for (let row = next - 1; row >= 0 && row >= next - MOST_NESTED; row--)
      best = Math.max(best, classIn(rated, rows.subarray(row * SYMBOL_ROW), [from, to]));
    return best;
  };
}

/** Rates a range by one definition. `row` is the start, the end and the kind of the definition's name. */
function classIn(rated: RatedText, row: Int32Array, [from, to]: readonly [number, number]): number {
  const [start, end, kind] = [row[0]!, row[1]!, row[2]!];
  if (from < start || to > end || from === to) return NOT_IN_A_NAME;
  if (from === start && to === end) return MEMBER_KINDS.has(kind) ? EDGE : EXACT;
  if (from !== start && to !== end) return INSIDE;
  return edgeOf(rated, [from, to], [start, end]) >= AT_JOINT ? EDGE : INSIDE;
}
