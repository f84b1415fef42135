/** Implements stream(), which delivers files as they are found, without ranking. */

import { QuernError } from "../../base/errors.ts";
import { answerBytes, branchBytes } from "../messages/answer-size.ts";
import { STOPPED } from "../messages/control.ts";
import type { SearchOutput, StreamPart } from "../messages/messages.ts";
import type { FileResult, SearchEvent } from "../messages/response.ts";
import { addStats, zeroStats, type SearchStats } from "../messages/stats.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { isExhaustive, stoppable, timeStats, type Attempt } from "./attempt.ts";
import { searchSegments } from "./search-segments.ts";
import type { SearchCall, Searching } from "./searching.ts";
import type { HeadToShow } from "./heads.ts";
import { lateFiles, type Lost } from "./late-files.ts";
import { concatenate, PartQueue } from "./part-queue.ts";
import { repositoryInfo } from "./present.ts";
import type { Presenter } from "./show-files.ts";
import { countLost, tally } from "./tally.ts";

/**
 * Yields the events of a stream. A segment that is merged away during the stream counts as crashed, because a stream
 * that has delivered files cannot start again.
 */
export async function* streamFiles(
  searching: Searching,
  call: SearchCall,
): AsyncGenerator<SearchEvent> {
  for await (const { event } of streamHeads(searching, call)) yield event;
}

/** An event of a stream. For each file of the event, `files` has the data that is needed to show the file again. */
export interface StreamStep {
  readonly event: SearchEvent;
  readonly files: readonly StreamedFile[];
}

export interface StreamedFile extends HeadToShow {
  /** The number of bytes that the file takes in an answer. */
  readonly bytes: number;
}

/**
 * Yields the same events as streamFiles(), with the additional data that a caller needs to combine several streams.
 */
export async function* streamHeads(
  searching: Searching,
  call: SearchCall,
): AsyncGenerator<StreamStep> {
  const question = await searching.understand(call);
  const { understood, options } = question;
  if (understood.request.after !== undefined) throw streamsHaveNoPages();
  if (understood.request.facets !== undefined) throw streamsHaveNoFacets();
  throwIfAborted(options.signal, "search");
  const view = await call.view();
  const release = searching.hold(view.catalog);
  try {
    yield* deliver(searching, await searching.attempt(question, view));
  } finally {
    release();
  }
}

async function* deliver(searching: Searching, attempt: Attempt): AsyncGenerator<StreamStep> {
  const { options, control } = attempt;
  const { pool } = searching.parts;
  const parts = new PartQueue<StreamPart>();
  // A part is acknowledged in the next turn of the event loop. If it were acknowledged immediately, the thread would
  // send its next part, and the event loop would receive that part in the same turn. Five parts in one turn took 8
  // ms. Without workers (`pool.inline`), a part must be acknowledged immediately, because otherwise the calling
  // thread would wait for itself.
  const afterTurn = pool.inline ? (acknowledge: () => void) => acknowledge() : setImmediate;
  const onPart = (part: StreamPart): void => {
    afterTurn(() => control.endPart());
    parts.push(part);
  };
  const outputs = stoppable(attempt, () => searchSegments(searching.parts, attempt, { onPart }));
  parts.endWith(outputs);
  try {
    const delivered = { actualMatchCount: 0, contentBytesLoaded: 0 };
    const lost: Lost = new Map();
    const late = lateFiles(attempt, outputs, { pool, lost });
    // the whole stream has one presenter, so that the time between two pauses is measured across parts
    const showing = { present: searching.presenter(attempt), left: options.maxBytes ?? Infinity };
    for await (const part of concatenate(parts, late)) {
      control.addBehind(-part.bytes);
      searching.warnOfShown({ lost: NONE, disagreements: part.disagreements }, attempt.segments);
      const step = await presentPart(attempt, part, showing);
      const { event } = step;
      delivered.actualMatchCount += event.stats.actualMatchCount;
      delivered.contentBytesLoaded += part.contentBytesLoaded;
      if (event.files.length > 0) yield step;
    }
    yield {
      event: final(searching, attempt, { outputs: await outputs, delivered, lost }),
      files: [],
    };
  } finally {
    control.stop(STOPPED.ABORTED);
    await outputs.catch(() => undefined);
  }
}

const NONE: Lost = new Map();

async function presentPart(
  { catalog, control, segments }: Attempt,
  part: StreamPart,
  showing: { readonly present: Presenter; left: number },
): Promise<StreamStep & { readonly event: Extract<SearchEvent, { type: "chunk" }> }> {
  const files: FileResult[] = [];
  const places: StreamedFile[] = [];
  const stats = zeroStats();
  addStats(stats, {
    ...part.stats,
    contentBytesLoaded: part.stats.contentBytesLoaded + part.contentBytesLoaded,
  });
  for (const shown of part.files) {
    if (showing.left <= 0) break;
    const { segment } = segments[shown.position]!;
    const file = await showing.present(segment, shown.file, shown);
    const branches = branchBytes(file.branches ?? []);
    control.takeRoom(branches);
    const bytes = answerBytes(shown) + branches;
    showing.left -= bytes;
    files.push(file);
    places.push({ segment, file: shown.file, skip: 0, count: shown.count, bytes });
    stats.actualMatchCount += shown.count;
  }
  const infos = repositoryInfo(files, catalog.repositories);
  return { event: { type: "chunk", stats, files, repositoryInfo: infos }, files: places };
}

function final(
  searching: Searching,
  { segments, control, startedAt }: Attempt,
  ended: {
    readonly outputs: readonly SearchOutput[];
    readonly delivered: Partial<SearchStats>;
    readonly lost: Lost;
  },
): Extract<SearchEvent, { type: "final" }> {
  const { outputs, delivered, lost } = ended;
  const counted = tally(outputs, segments.length);
  const { stats } = counted;
  searching.warnOfDamage(counted);
  searching.warnOfShown({ lost, disagreements: [] }, segments);
  addStats(stats, delivered);
  countLost(counted, lost.keys());
  timeStats(stats, outputs, { control, startedAt });
  return { type: "final", accumulatedStats: stats, isSearchExhaustive: isExhaustive(stats) };
}

const streamsHaveNoPages = (): QuernError =>
  new QuernError(
    "INVALID_REQUEST",
    "after: a stream has no pages, because it returns every match; use search()",
  );

const streamsHaveNoFacets = (): QuernError =>
  new QuernError("INVALID_REQUEST", "facets: a stream does not count facets; use search()");
