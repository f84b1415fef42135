/**
 * An answer that is not held: its first files are shown when the search is over, and the others a
 * MiB at a time, as they are asked for. Nothing of it is made before it is wanted, so that a slow
 * reader of a hundred megabytes holds a few, and one that leaves costs no more.
 *
 * As some of it has left by then, a search cannot start again where a segment is merged away: the
 * segment counts as crashed, as in a stream. Time that its reader takes is not the search's.
 */

import type { FileResult, SearchResponse } from "../messages/response.ts";
import { Control, STOPPED } from "../messages/control.ts";
import type { SearchOptions, SearchRequest } from "../messages/request.ts";
import { stoppable, type Attempt } from "./attempt.ts";
import type { FilesToShow } from "./show-files.ts";

/** How much is shown at a time; an answer of less is made whole. */
export const STEP_BYTES = 2 ** 20;

export interface LongAnswer {
  /** Resolves to the files that follow, and to undefined after the last. REQUIRES: one call at a time. */
  next(): Promise<readonly FileResult[] | undefined>;
  /** Returns what the answer says beside its files. REQUIRES: next() resolved to undefined; called once. */
  end(): Omit<SearchResponse, "files">;
  /** Stops what is under way and lets go of the index. Idempotent. */
  close(): void;
}

/** What an engine offers to those who write an answer as it is read. */
export const BEGIN_ANSWER = Symbol.for("quern.beginAnswer");

type Asks<T> = (request: SearchRequest, options: SearchOptions) => Promise<T>;

export interface BeginsAnswers {
  readonly [BEGIN_ANSWER]: {
    readonly begin: Asks<SearchResponse | LongAnswer>;
    /** The engine's own search(). A host may have put another one in front, which must not be passed by. */
    readonly insteadOf: Asks<SearchResponse>;
  };
}

/** Begins an answer if the engine can, and else makes the whole. */
export function beginAnswer(
  engine: { readonly search: Asks<SearchResponse> } & Partial<BeginsAnswers>,
  request: SearchRequest,
  options: SearchOptions,
): Promise<SearchResponse | LongAnswer> {
  const offered = engine[BEGIN_ANSWER];
  return offered && offered.insteadOf === engine.search
    ? offered.begin(request, options)
    : engine.search(request, options);
}

export const isLong = (answer: SearchResponse | LongAnswer): answer is LongAnswer =>
  "next" in answer;

export interface LongParts {
  readonly first: readonly (readonly FileResult[])[];
  readonly files: FilesToShow;
  readonly end: (
    repositories: Iterable<Pick<FileResult, "repositoryId">>,
  ) => Omit<SearchResponse, "files">;
  readonly onClose: () => void;
}

export function longAnswer(
  attempt: Attempt,
  { first, files, end, onClose }: LongParts,
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
    return groups!.flat(); // none is gone for one that is late
  };
  return {
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
