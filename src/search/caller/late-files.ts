/**
 * Files that a stream found while its reader was behind. The threads do not wait for a reader, or a
 * few slow ones would hold all of them; they note such files, some 100 bytes each, and go on. When
 * the search is over the files are shown as they are asked for.
 */

import type { Pool } from "../../threads/pool.ts";
import type { Attempt } from "./attempt.ts";
import { Control, STOPPED } from "../messages/control.ts";
import type { SearchOutput, ShownFile, ShowResult, StreamPart } from "../messages/messages.ts";
import { mergeRanked, type Ranked } from "./merge-ranked.ts";
import { groupFiles, showInput } from "./show-groups.ts";
import { zeroTotals } from "../messages/totals.ts";

/** By position: segments whose files cannot be shown. */
export type Lost = Map<number, "damaged" | "gone">;

/** Best first; what cannot be shown is added to `lost`. */
export async function* lateFiles(
  attempt: Attempt,
  outputs: Promise<readonly SearchOutput[]>,
  { pool, lost }: { pool: Pool; lost: Lost },
): AsyncGenerator<StreamPart> {
  const { request } = attempt.understood;
  // merged as they are asked for: 78 000 at once take 12 ms
  const files = mergeRanked((await outputs).map(({ ranked }) => ranked));
  // its own: the time-out was the search's, and a reader may take longer
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
