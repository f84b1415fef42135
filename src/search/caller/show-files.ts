/**
 * The files of an answer: shown by the threads in groups, and made results on the caller's thread as
 * each group comes. What crosses the threads is dropped at once: a hundred thousand packed files that
 * wait for each other would be copied by the collector of young objects in pauses of 10 ms.
 */

import type { Pool } from "../../threads/pool.ts";
import { throwIfAborted } from "./aborted.ts";
import { type Attempt } from "./attempt.ts";
import type { Ranked } from "./merge-ranked.ts";
import type { ShowInput, ShownFile, ShowOutput, ShowResult } from "../messages/messages.ts";
import { answerBytes, branchBytes } from "../messages/answer-size.ts";
import type { FileResult } from "../messages/response.ts";
import { groupFiles, showInput } from "./show-groups.ts";

/** Or a search with many groups of files would wait behind all the others, once a group. */
const SHOWING = { lane: "search", isUrgent: true } as const;

export type Presenter = (segment: number, file: number, shown: ShownFile) => Promise<FileResult>;

export interface Showing {
  readonly pool: Pool;
  readonly present: Presenter;
}

export interface Shown {
  /** In the order of the files, group by group; without those that are damaged, and those for which the answer has no room. */
  readonly groups: FileResult[][];
  /** Segments of damaged files. */
  readonly damaged: Set<number>;
  readonly disagreements: string[];
  readonly matches: number;
  readonly contentBytesLoaded: number;
  /** Only of an answer that is full: how many of the files it has come to, and the ranges of the last one. */
  readonly cut?: { readonly files: number; readonly ranges: number };
}

/** undefined: a segment is gone. */
export async function showFiles(
  attempt: Attempt,
  files: readonly Ranked[],
  showing: Showing,
): Promise<Shown | undefined> {
  const { understood, options, control } = attempt;
  const shown = {
    bytes: 0,
    damaged: new Set<number>(),
    disagreements: [] as string[],
    contentBytesLoaded: 0,
  };
  const done: Group[] = [];
  const { pool } = showing;
  const groups = groupFiles(files, understood.request.whole);
  let [isGone, begun] = [false, 0];
  // all lanes take from one generator, and one that leaves the loop ends it for all
  const lane = async () => {
    for (const group of groups) {
      throwIfAborted(options.signal);
      if (control.isFull) break;
      const position = begun++;
      const input = showInput(group, attempt, control);
      const result = await pool.run<ShowResult>("search.show", input, SHOWING);
      isGone ||= result === "gone";
      if (isGone || result === "gone") break;
      const { maxBytes = Infinity } = options;
      done[position] = await presentGroup(shown, input, { ...showing, result, maxBytes });
    }
  };
  await Promise.all(Array.from({ length: pool.lanes }, lane));
  return isGone ? undefined : { ...shown, ...upToTheCut(done, files.length) };
}

interface Group {
  readonly files: FileResult[];
  readonly matches: number;
  /** How many of its files were come to, damaged ones among them, and the ranges of the last one. */
  readonly reached: number;
  readonly lastRanges: number;
  /** Whether its last files are missing: the answer is full. */
  readonly isCut: boolean;
}

/** An answer that is full ends with one file, and has all before it: what other lanes have shown of later groups is dropped. */
function upToTheCut(
  done: readonly Group[],
  wanted: number,
): Pick<Shown, "groups" | "matches" | "cut"> {
  const cut = done.findIndex(({ isCut }) => isCut);
  const kept = cut < 0 ? done : done.slice(0, cut + 1);
  const reached = kept.reduce((sum, group) => sum + group.reached, 0);
  const ranges = kept.findLast((group) => group.reached > 0)?.lastRanges ?? 0;
  return {
    groups: kept.map(({ files }) => files),
    matches: kept.reduce((sum, { matches }) => sum + matches, 0),
    ...((cut >= 0 || reached < wanted) && { cut: { files: reached, ranges } }),
  };
}

async function presentGroup(
  shown: Pick<Shown, "disagreements" | "damaged"> & { bytes: number; contentBytesLoaded: number },
  { files }: ShowInput,
  { present, result, maxBytes }: Showing & { result: ShowOutput; maxBytes: number },
): Promise<Group> {
  shown.contentBytesLoaded += result.contentBytesLoaded;
  shown.disagreements.push(...result.disagreements);
  const presented: FileResult[] = [];
  let [matches, reached, lastRanges] = [0, 0, 0];
  for (const [i, file] of result.files.entries()) {
    if (shown.bytes >= maxBytes)
      return { files: presented, matches, reached, lastRanges, isCut: true };
    reached++;
    lastRanges = file?.count ?? files[i]!.most;
    const { segment, file: number } = files[i]!;
    if (!file) {
      shown.damaged.add(segment);
      continue;
    }
    matches += file.count;
    const one = await present(segment, number, file);
    shown.bytes += answerBytes(file) + branchBytes(one.branches ?? []);
    presented.push(one);
  }
  const isShort = lastRanges < (files[reached - 1]?.most ?? 0);
  const isCut = result.files.length < files.length || (shown.bytes >= maxBytes && isShort);
  return { files: presented, matches, reached, lastRanges, isCut };
}
