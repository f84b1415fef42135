/**
 * Orders the lines of a file, so that the lines that a reader most wants to see come first. The score of a line is a
 * sum over the query's terms. Each term adds what its best match in the line would add to the score of a file
 * (score.ts). So a line with a match in the name of a definition comes before a line with any other whole word. A line
 * with two terms comes before a line with one. Lines with equal scores keep their order. Rating one end of a range
 * takes about 100 ns.
 */

import type { Pause } from "../../../base/yield.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import { MEMBER_KINDS } from "../../../store/symbols/symbol-kinds.ts";
import { SYMBOL_ROW, type SymbolList } from "../../../store/symbols/symbol-run.ts";
import { atomScore } from "../ranking/score.ts";
import { bestEdge } from "../reading/literal-scanner.ts";

const NEWLINE = 10;
/**
 * The classes of matches in kernel/assembly/definitions.ts, which rate how well a match fits the name of a definition.
 */
const [EXACT, EDGE, INSIDE, NOT_IN_A_NAME] = [3, 2, 1, 0];
/**
 * The edge rating (kernel/assembly/edges.ts) of a match that extends from one end of a name (2 points) to a joint
 * within the name (1 point).
 */
const AT_JOINT = 3;
/**
 * The maximum number of definitions that are tried for a range. The names of definitions hardly ever contain each
 * other.
 */
const MOST_NESTED = 4;

/** The text of a file, and everything else that is needed to rate its lines. */
export interface RatedText {
  /** The text as a view of the kernel's memory. The view is valid until this memory grows. */
  readonly text: Buffer;
  /** The address of the text in the kernel's memory, and its length in bytes. */
  readonly origin: number;
  readonly length: number;
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly definitions: SymbolList | undefined;
  /** Called and awaited regularly. */
  readonly pause: Pause;
  /** Returns true once the search was stopped. The first lines are then returned instead of the best ones. */
  readonly isStopped: () => boolean;
  /** The number of pairs that the caller needs. */
  readonly most: number;
}

/** The number of ranges between two checks of the clock. */
const RANGES_PER_PAUSE = 256;

/**
 * Returns the indexes of at least `most` pairs, beginning with the pairs in the best line. The pairs in one line stay
 * together and in their order. `pairs` has the merged ranges of all terms, and `terms` has the ranges of each term.
 * REQUIRES: `pairs` and each of `terms` are ascending pairs (from, to).
 *
 * A file of 2 MiB may have a million lines, so the order is found in linear time, apart from sorting the distinct
 * scores.
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
 * Resolves to the indexes of all pairs, by descending score of their lines, or to undefined if the search was stopped.
 * This is a counting sort.
 */
async function byScore(
  lineOf: Uint32Array,
  scores: Int32Array,
  { pause, isStopped }: Pick<RatedText, "pause" | "isStopped">,
): Promise<Uint32Array | undefined> {
  // for each score, this is at first the number of its pairs, and later the index at which its next pair is stored
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
    if (from < starts[line]! || from >= ends[line]!) continue; // the range overlaps one that begins in an earlier line
    const edge = edgeOf(rated, [from, to], [0, rated.length]);
    best = Math.max(best, atomScore(edge, classOf(from, to), 0));
  }
  if (starts.length > 0) scores[line]! += best;
}

/** Returns the edge rating of a range, from 0 to 4, as if the text were only the part [lowest, limit). */
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
 * Returns a function that rates a range by the definitions whose names contain it.
 * REQUIRES: the function is called with ranges in ascending order.
 */
function definitionClasses(rated: RatedText): (from: number, to: number) => number {
  const { definitions } = rated;
  if (!definitions) return () => NOT_IN_A_NAME;
  const { count, rows } = definitions;
  let next = 0; // the first definition whose name starts after the start of the range
  return (from, to) => {
    while (next < count && rows[next * SYMBOL_ROW]! <= from) next++;
    let best = NOT_IN_A_NAME;
    for (let row = next - 1; row >= 0 && row >= next - MOST_NESTED; row--)
      best = Math.max(best, classIn(rated, rows.subarray(row * SYMBOL_ROW), [from, to]));
    return best;
  };
}

/** Rates a range by one definition. `row` has the start and end of the definition's name, and its kind. */
function classIn(rated: RatedText, row: Int32Array, [from, to]: readonly [number, number]): number {
  const [start, end, kind] = [row[0]!, row[1]!, row[2]!];
  if (from < start || to > end || from === to) return NOT_IN_A_NAME;
  if (from === start && to === end) return MEMBER_KINDS.has(kind) ? EDGE : EXACT;
  if (from !== start && to !== end) return INSIDE;
  return edgeOf(rated, [from, to], [start, end]) >= AT_JOINT ? EDGE : INSIDE;
}
