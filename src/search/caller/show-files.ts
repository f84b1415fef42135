/**
 * The files of an answer: shown by the threads in groups, and made results on the caller's thread as
 * each group comes. What crosses the threads is dropped at once: a hundred thousand packed files that
 * wait for each other would be copied by the collector of young objects in pauses of 10 ms.
 */

import type { Pool } from "../../threads/pool.ts";
import { throwIfAborted, type Attempt } from "./attempt.ts";
import type { Ranked } from "./merge-ranked.ts";
import type { ShowInput, ShownFile, ShowOutput, ShowResult } from "../messages/messages.ts";
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
  /** In the order of the files, group by group; without those that are damaged. */
  readonly groups: FileResult[][];
  /** Segments of damaged files. */
  readonly damaged: Set<number>;
  readonly disagreements: string[];
  matches: number;
  contentBytesLoaded: number;
}

/** undefined: a segment is gone. */
export async function showFiles(
  attempt: Attempt,
  files: readonly Ranked[],
  showing: Showing,
): Promise<Shown | undefined> {
  const { understood, options, control } = attempt;
  const shown: Shown = {
    groups: [],
    damaged: new Set(),
    disagreements: [],
    matches: 0,
    contentBytesLoaded: 0,
  };
  const { pool } = showing;
  const groups = groupFiles(files, understood.request.whole);
  let [isGone, begun] = [false, 0];
  // all lanes take from one generator, and one that leaves the loop ends it for all
  const lane = async () => {
    for (const group of groups) {
      throwIfAborted(options.signal);
      const position = begun++;
      const input = showInput(group, attempt, control);
      const result = await pool.run<ShowResult>("search.show", input, SHOWING);
      isGone ||= result === "gone";
      if (isGone || result === "gone") break;
      shown.groups[position] = await presentGroup(shown, input, { ...showing, result });
    }
  };
  await Promise.all(Array.from({ length: pool.lanes }, lane));
  return isGone ? undefined : shown;
}

async function presentGroup(
  shown: Shown,
  { files }: ShowInput,
  { present, result }: Showing & { readonly result: ShowOutput },
): Promise<FileResult[]> {
  shown.contentBytesLoaded += result.contentBytesLoaded;
  shown.disagreements.push(...result.disagreements);
  const presented: FileResult[] = [];
  for (const [i, file] of result.files.entries()) {
    const { segment, file: number } = files[i]!;
    if (!file) {
      shown.damaged.add(segment);
      continue;
    }
    shown.matches += file.count;
    presented.push(await present(segment, number, file));
  }
  return presented;
}
