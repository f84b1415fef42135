/**
 * Shows the files that a stream found while its reader was slow. Threads do not wait for slow readers, because a few
 * slow readers would block all threads. Instead, a thread records each such file in about 100 bytes and continues to
 * search. After the search has ended, the recorded files are shown when the reader asks for them.
 */

import type { Pool } from "../../threads/pool.ts";
import type { Attempt } from "./attempt.ts";
import { Control, STOPPED } from "../messages/control.ts";
import type { SearchOutput, ShownFile, ShowResult, StreamPart } from "../messages/messages.ts";
import { mergeRanked, type Ranked } from "./merge-ranked.ts";
import { groupFiles, showInput } from "./show-groups.ts";
import { zeroTotals } from "../messages/totals.ts";

/** The segments whose files cannot be shown. Maps the position of each of these segments to the reason. */
export type Lost = Map<number, "damaged" | "gone">;

/**
 * Yields the files that the threads have recorded, best first. If files of a segment cannot be shown, adds that
 * segment to `lost`.
 */
export async function* lateFiles(
  attempt: Attempt,
  outputs: Promise<readonly SearchOutput[]>,
  { pool, lost }: { pool: Pool; lost: Lost },
): AsyncGenerator<StreamPart> {
  const { request } = attempt.understood;
  // the lists are merged lazily, because merging 78 000 files at once takes 12 ms
  const files = mergeRanked((await outputs).map(({ ranked }) => ranked));
  // the new control has no time-out, because the reader may take longer than the search is allowed to take
  const control = Control.create(0, request, { maxBytes: attempt.control.room });
  try {
    for (const group of groupFiles(files, request)) {
      if (control.isFull) break;
      const input = showInput(group, attempt, control);
      const result = await pool.run<ShowResult>("search.show", input, { lane: "search" });
      yield partOf(group, result, lost);
    }
  } finally {
    control.stop(STOPPED.ABORTED);
  }
}

function partOf(group: readonly Ranked[], result: ShowResult, lost: Lost): StreamPart {
  const shown: readonly (ShownFile | undefined)[] =
    result === "gone" ? group.map(() => undefined) : result.files;
  const files = group.slice(0, shown.length).flatMap(({ segment: position, file }, i) => {
    const one = shown[i];
    if (one === undefined) lost.set(position, result === "gone" ? "gone" : "damaged");
    return one === undefined ? [] : [{ ...one, position, file }];
  });
  const { contentBytesLoaded, disagreements } =
    result === "gone" ? { contentBytesLoaded: 0, disagreements: [] } : result;
  return { files, contentBytesLoaded, disagreements, stats: zeroTotals(), bytes: 0 };
}
