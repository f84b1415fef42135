/**
 * Searches the segments of an attempt. The threads plan, scan and rank them. A small search runs on the calling
 * thread instead.
 */

import { emptyBitset } from "../../base/bitset.ts";
import { newPause } from "../../base/yield.ts";
import { textBytesOf } from "../../store/catalog/manifest.ts";
import {
  nothingFound,
  type SearchInput,
  type SearchOutput,
  type SegmentInput,
  type StreamPart,
} from "../messages/messages.ts";
import type { Attempt } from "./attempt.ts";
import { MOST_PAGES, type Near } from "./near.ts";
import { NOT_PLANNED, planAhead, type PlannedAhead } from "./plan-ahead.ts";
import { repositoryTable } from "./repository-table.ts";
import type { SearchParts } from "./searching.ts";
import { isComplete } from "./tally.ts";

/**
 * The maximum number of pages that one thread searches alone. With so few pages, a second thread would spend as long
 * on planning as on its half of the pages.
 */
const PAGES_OF_ONE = 128;

/** What the threads do in a search in addition to counting and ranking files. */
export interface SearchWork {
  /** Called with the files of a stream as soon as they are found. */
  readonly onPart?: (part: StreamPart) => void;
  readonly page?: SearchInput["page"];
  /**
   * Whether the thread that finds a file also produces the lines to return, if only few files match. Otherwise, the
   * caller requests these lines in a second round.
   */
  readonly showsAhead?: boolean;
  /**
   * The number of files to return if more ranges match than `matches` allows. In this case, each file is returned
   * with only its best range.
   */
  readonly bestIfMany?: number | undefined;
}

/**
 * Searches the segments of an attempt. The calling thread may run a small search itself. Otherwise, the threads run
 * it.
 */
export async function searchSegments(
  parts: SearchParts,
  attempt: Attempt,
  work: SearchWork = {},
): Promise<SearchOutput[]> {
  const { understood, catalog, view, segments, control } = attempt;
  const { onPart, page, showsAhead = false, bestIfMany } = work;
  const { pool } = parts;
  const { contextLines, whole, enclosing, ...rest } = understood.request;
  const { matches, matchesPerFile = Infinity, facets } = rest;
  const shown = { contextLines, whole, enclosing };
  const onMessage = (message: unknown) => onPart?.(message as StreamPart);
  if (segments.length === 0) return [];
  const ahead = await planAheadOf(parts, attempt);
  const decided = ahead.parts.size > 0 ? [nothingFound([...ahead.parts.values()])] : [];
  const open = segments.length - ahead.parts.size;
  if (open === 0) return decided;
  const isSmall = ahead.pages <= PAGES_OF_ONE;
  const threads = isSmall ? 1 : Math.min(pool.lanes, open * 2);
  const input: SearchInput = {
    plan: understood.plan,
    segments: segments.map((one, i) => (ahead.parts.has(i) ? decidedInput(one) : one)),
    textBytes: textBytesOf(catalog.manifest),
    packed: view.packed,
    repositories: await repositoryTable(catalog, newPause()),
    matches,
    matchesPerFile,
    threads,
    shared: control.shared,
    ...(onPart ? { stream: shown } : {}),
    ...(page ? { page } : {}),
    ...(showsAhead ? { ahead: { ...shown, isBestFirst: matchesPerFile < Infinity } } : {}),
    ...(facets === undefined ? {} : { facets: true as const }),
    ...(bestIfMany === undefined ? {} : { bestIfMany }),
  };
  const near = nearFor(parts, attempt, input, ahead);
  const found = await near?.search(input, catalog, ahead.found);
  if (found && found !== "too much") return [found, ...decided];
  if (near) control.restart();
  const learner = found === undefined ? near : undefined;
  const task = learner ? { ...input, isRecorded: true as const } : input;
  const run = () => pool.run<SearchOutput>("search.segments", task, { lane: "search", onMessage });
  const outputs = await untilComplete(Array.from({ length: threads }, run), (some) =>
    isComplete([...some, ...decided], segments.length),
  );
  learner?.learn(input, outputs);
  return [...outputs, ...decided];
}

/** Returns the searcher of the calling thread, or undefined if the calling thread should not try this search. */
function nearFor(
  { near }: SearchParts,
  { catalog, control }: Attempt,
  input: SearchInput,
  { pages }: PlannedAhead,
): Near | undefined {
  const isPlain = input.ahead && !input.facets && !input.stream && input.packed.length === 0;
  const mayTry = isPlain && !control.stopped && near?.mayTry(input, { catalog, pages });
  return mayTry ? near : undefined;
}

/** Decides on the calling thread which segments cannot match, if the posting lists are in shared memory. */
async function planAheadOf(
  parts: SearchParts,
  { understood, segments, catalog, control }: Attempt,
): Promise<PlannedAhead> {
  const lists = parts.lists?.();
  if (!lists || control.stopped) return NOT_PLANNED;
  const { plan } = understood;
  return planAhead({ plan, segments, catalog, lists, most: MOST_PAGES, pause: newPause() });
}

/**
 * Resolves to the outputs of the threads as soon as they are complete. It does not wait for a thread that begins late,
 * when the other threads have claimed everything. On busy cores, a thread may begin milliseconds after another one.
 */
function untilComplete(
  running: readonly Promise<SearchOutput>[],
  isDone: (outputs: readonly SearchOutput[]) => boolean,
): Promise<SearchOutput[]> {
  const outputs: SearchOutput[] = [];
  return new Promise((resolve, reject) => {
    const onOutput = (output: SearchOutput) => {
      outputs.push(output);
      if (outputs.length === running.length || isDone(outputs)) resolve(outputs);
    };
    for (const one of running) one.then(onOutput, reject);
  });
}

/**
 * Returns the input for a segment in which nothing matches, as the calling thread has already found. Threads skip
 * this segment.
 */
const decidedInput = ({ segment }: SegmentInput): SegmentInput => ({
  segment,
  scope: emptyBitset(0),
  sets: [],
  symbols: 0,
  isDecided: true,
});
