/**
 * The second round of a question: scores every file in scope by its words and its name, and returns the best files.
 * No text is read. The worth of a stem in a file is w / (w + 1), where w is the number of the file's windows that have
 * the stem, reduced for long files. A file's sum adds up, for each term, the best worth of its stems, times the share
 * of the term.
 */

import { forEachBit } from "../base/bitset.ts";
import { bytesOf } from "../base/growable.ts";
import { NO_BLOB } from "../store/format/format.ts";
import { corrupt } from "../store/format/sealed.ts";
import type { SegmentReader } from "../store/segments/segment-reader.ts";
import type { Task } from "../threads/task.ts";
import { stemOf } from "../words/stems.ts";
import { bestOf, candidatesOf } from "./candidates.ts";
import { definersOf } from "./definers.ts";
import { kindsOf } from "./factors.ts";
import type { Candidate, RankInput, RankOutput } from "./messages.ts";
import { forEachSegment, type AskedSegment, type FindThread } from "./thread.ts";

/**
 * A file of REFERENCE_BYTES has half of the worth of a stem if it has the stem in HALF_WINDOWS windows. LENGTH is the
 * part of the length of a file that counts against it.
 */
const REFERENCE_BYTES = 8400;
const HALF_WINDOWS = 2.7;
const LENGTH = 0.4;
/** The weights of a file's name in the first stage. */
const NAME = 0.3;
const NAME_FIT = 0.5;
/** Files are divided by their scores into this many steps. */
const STEPS = 1024;
/** The scores above this one are in the last step. */
const MAX_SCORE = 2;
/** The components of a path after which a folder is named. */
const UNNAMED = ["index", "init", "mod"].map(stemOf);
const UNNAMED_BIT = 0x1_0000;

export const rankTask: Task<RankInput, RankOutput> = async (input, context) => {
  const candidates: Candidate[] = [];
  const gaps = await forEachSegment(input, context, async (segment, thread) => {
    candidates.push(...rankFiles(input, segment, thread));
    candidates.push(...(await definersOf(input, segment, thread)));
  });
  return { candidates: bestOf(candidates, input.most), gaps };
};

/** Returns the best files, which do not depend on what else the segment contains. */
function rankFiles(
  input: RankInput,
  segment: AskedSegment,
  { snapshot, words }: FindThread,
): Candidate[] {
  const { reader, files } = segment;
  const { table, arena } = words;
  const mark = arena.mark();
  const sums = arena.take(4 * (reader.header.blobs + 4));
  addSums(input, segment, words, sums);
  const names = scoreNames(input, segment, snapshot, words);
  const floats = new Float32Array(table.kernel.bytes.buffer);
  const sumOf = (file: number): number => {
    const blob = reader.files.blobs[file]!;
    return blob === NO_BLOB ? 0 : floats[(sums >>> 2) + blob]!;
  };
  const rawOf = (file: number): number => {
    const at = (names >>> 2) + 2 * file;
    return sumOf(file) + NAME * floats[at]! + NAME_FIT * floats[at + 1]!;
  };
  const { pathOf, candidateOf } = candidatesOf(input, segment, snapshot);
  let best: Candidate[] = [];
  let least = 0;
  for (const { below, group } of downwards(files, rawOf)) {
    if (below < least) break; // factors never raise a score, so no other file is among the best
    for (const file of group) {
      if (reader.files.blobs[file] === NO_BLOB) continue;
      const language = reader.header.languages[reader.files.languages[file]!]!;
      let score = rawOf(file);
      for (const kind of kindsOf(pathOf(file), language, reader.files.flags[file]!))
        score *= input.factors[kind];
      if (score >= least)
        best.push(candidateOf(file, { score, sum: sumOf(file), isDefiner: false }));
    }
    best = bestOf(best, input.most);
    if (best.length === input.most) least = best.at(-1)!.score;
  }
  arena.release(mark);
  return best;
}

/** Adds up the worths of all stems for each blob in scope. */
function addSums(
  { stems, shares }: RankInput,
  { reader, filesOfBlob, lists }: AskedSegment,
  { table, arena }: FindThread["words"],
  sums: number,
): void {
  const { kernel } = table;
  const { blobs } = reader.header;
  const files = arena.put(bytesOf(filesOfBlob));
  const best = arena.take(4 * (blobs + 4));
  const scale = arena.put(bytesOf(scalesOf(reader)));
  kernel.bytes.fill(0, best, best + 4 * (blobs + 4));
  kernel.bytes.fill(0, sums, sums + 4 * (blobs + 4));
  for (const [term, share] of shares.entries()) {
    let isFound = false;
    for (const { stem, term: of, weight } of stems) {
      if (of !== term) continue;
      lists.find(stem, (list) => {
        isFound = true;
        const mark = arena.mark();
        const at = arena.put(list);
        const read = kernel.run.readStemList(
          at,
          at + list.length,
          blobs,
          files,
          best,
          scale,
          weight,
        );
        arena.release(mark);
        if (read < 0) throw corrupt(`a word list of segment ${reader.segment}`);
      });
    }
    if (isFound) kernel.run.addWorths(best, sums, blobs, share);
  }
}

const scales = new WeakMap<SegmentReader, Float32Array>();

function scalesOf(reader: SegmentReader): Float32Array {
  const known = scales.get(reader);
  if (known) return known;
  const { blobStarts } = reader;
  const made = Float32Array.from({ length: reader.header.blobs }, (_, blob) => {
    const bytes = blobStarts[blob + 1]! - blobStarts[blob]!;
    return 1 / (HALF_WINDOWS * (1 - LENGTH + (LENGTH * bytes) / REFERENCE_BYTES));
  });
  scales.set(reader, made);
  return made;
}

/** Returns the address of two floats for each file: the share of the question that its name has, and the fit. */
function scoreNames(
  { stems, shares }: RankInput,
  { reader, files }: AskedSegment,
  snapshot: FindThread["snapshot"],
  { table, arena }: FindThread["words"],
): number {
  const { bytes, starts } = reader.paths(snapshot);
  const at = {
    paths: arena.put(bytes),
    starts: arena.put(bytesOf(starts)),
    among: arena.put(bytesOf(files)),
    shares: arena.put(bytesOf(Float32Array.from(shares))),
    values: arena.take(4 * shares.length),
    out: arena.take(8 * reader.header.files),
  };
  const terms = stems.map(
    ({ stem, term, weight }) => [table.numberFor(stem), term + 1, weight] as const,
  );
  const unnamed = UNNAMED.map((stem) => [table.numberFor(stem), UNNAMED_BIT, 0] as const);
  table.scoreNames([...unnamed, ...terms], {
    ...at,
    files: reader.header.files,
    terms: shares.length,
  });
  return at.out;
}

/**
 * Yields the files of a set with values above 0 in groups, from the highest values to the lowest. All values of a group
 * are below `below`.
 */
function* downwards(
  files: AskedSegment["files"],
  valueOf: (file: number) => number,
): Generator<{ readonly below: number; readonly group: readonly number[] }> {
  const steps: number[][] = [];
  forEachBit(files, (file) => {
    const value = valueOf(file);
    if (value <= 0) return;
    const step = Math.min(STEPS - 1, Math.floor((value / MAX_SCORE) * STEPS));
    (steps[step] ??= []).push(file);
  });
  for (let step = STEPS - 1; step >= 0; step--) {
    const group = steps[step];
    const below = step === STEPS - 1 ? Infinity : ((step + 1) * MAX_SCORE) / STEPS;
    if (group) yield { below, group };
  }
}
