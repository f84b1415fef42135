/**
 * Produces a long answer while it is read, instead of keeping it in memory. The first files are produced when the
 * search is over. The others are produced when the reader asks for them, 1 MiB at a time. So an answer of a hundred
 * megabytes takes only a few megabytes of memory, even if its reader is slow. If the reader stops early, the
 * remaining files are never produced.
 *
 * If a segment is merged away while the answer is read, the search cannot start again, because a part of the answer may
 * already have been delivered. Instead, the segment counts as crashed, as in a stream. The time that the reader takes
 * does not count towards the time-out.
 */

import type { FileResult, SearchResponse } from "../messages/response.ts";
import { Control, STOPPED } from "../messages/control.ts";
import { stoppable, type Attempt } from "./attempt.ts";
import type { FilesToShow } from "./show-files.ts";

/** The number of bytes of an answer that are produced at a time. A shorter answer is produced as a whole. */
export const STEP_BYTES = 2 ** 20;

export interface LongAnswer {
  /** The size of the list of found files, in bytes. This list stays in memory until the answer ends. */
  readonly keptBytes: number;
  /**
   * Resolves to the next files, or to undefined after the last file. REQUIRES: no other call of next() is running.
   */
  next(): Promise<readonly FileResult[] | undefined>;
  /**
   * Returns the answer without its files. REQUIRES: next() has resolved to undefined, and end() was not called
   * before.
   */
  end(): Omit<SearchResponse, "files">;
  /** Stops all work and releases the index. Idempotent. */
  close(): void;
}

export const isLong = (answer: SearchResponse | LongAnswer): answer is LongAnswer =>
  "next" in answer;

export interface LongParts {
  readonly keptBytes: number;
  readonly first: readonly (readonly FileResult[])[];
  readonly files: FilesToShow;
  readonly end: (
    repositories: Iterable<Pick<FileResult, "repositoryId">>,
  ) => Omit<SearchResponse, "files">;
  readonly onClose: () => void;
}

export function longAnswer(
  attempt: Attempt,
  { keptBytes, first, files, end, onClose }: LongParts,
): LongAnswer {
  const repositories = new Map<number, Pick<FileResult, "repositoryId">>();
  let ready: readonly FileResult[] | undefined = first.flat();
  let { control } = attempt;
  let { leftMs } = control;
  let isClosed = false;
  const more = async (): Promise<readonly FileResult[]> => {
    const { room: maxBytes } = control;
    control = Control.create(0, attempt.understood.request, { maxBytes, timeoutMs: leftMs });
    const step = { ...attempt, control };
    const groups = await stoppable(step, () =>
      files.more(step, { bytes: STEP_BYTES, isLate: true }),
    );
    ({ leftMs } = control);
    return groups!.flat(); // with `isLate`, more() never returns undefined
  };
  return {
    keptBytes,
    async next() {
      const shown = ready ?? (isClosed || files.isOver ? undefined : await more());
      ready = undefined;
      for (const { repositoryId } of shown ?? []) repositories.set(repositoryId, { repositoryId });
      return shown;
    },
    end: () => end(repositories.values()),
    close() {
      control.stop(STOPPED.ABORTED);
      if (!isClosed) onClose();
      isClosed = true;
    },
  };
}
