/**
 * Searches the segments of an attempt. The threads plan, scan and rank them. A small search runs on the calling
 * thread instead.
 */

import { newPause } from "../../base/yield.ts";
import type { SearchInput, SearchOutput, StreamPart } from "../messages/messages.ts";
import type { Attempt } from "./attempt.ts";
import type { Near } from "./near.ts";
import { repositoryTable } from "./repository-table.ts";
import type { SearchParts } from "./searching.ts";
import { isComplete } from "./tally.ts";

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
  parts.makeRoom?.();
  const threads = Math.min(pool.lanes, segments.length * 2);
  const input: SearchInput = {
    plan: understood.plan,
    segments,
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
  const near = nearFor(parts, attempt, input);
  const found = await near?.search(input, catalog);
  if (found) return [found];
  if (near) control.restart();
  const run = () => pool.run<SearchOutput>("search.segments", input, { lane: "search", onMessage });
  return untilComplete(Array.from({ length: threads }, run), (some) =>
    isComplete(some, segments.length),
  );
}

/** Returns the searcher of the calling thread, or undefined if the calling thread should not try this search. */
function nearFor(
  { near }: SearchParts,
  { catalog, control }: Attempt,
  input: SearchInput,
): Near | undefined {
  const isPlain = input.ahead && !input.facets && !input.stream && input.packed.length === 0;
  return isPlain && !control.stopped && near?.mayTry(input, catalog) ? near : undefined;
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
