/**
 * Divides the files to show into groups. A group is so small that the calling thread can process it in a few
 * milliseconds.
 */

import { hasBit } from "../../base/bitset.ts";
import type { Attempt } from "./attempt.ts";
import type { Control } from "../messages/control.ts";
import type { SegmentInput, ShowFile, ShowInput } from "../messages/messages.ts";
import type { CheckedRequest } from "../messages/request.ts";
import type { FileToShow } from "./merge-ranked.ts";

const FILES = 32;
const RANGES = 512;
/**
 * The minimum number of files in a group, unless fewer are left. With 8, a search for `kmalloc_array` takes 7 % longer.
 */
const LEAST_FILES = 16;
/** If a request has at least this many lines of context, its files are treated as if they were shown completely. */
const MUCH_CONTEXT = 100;

/** Returns whether a request shows its files completely or almost completely. */
export const showsWhole = ({
  whole,
  contextLines,
}: Pick<CheckedRequest, "whole" | "contextLines">): boolean =>
  whole || contextLines >= MUCH_CONTEXT;

/** Returns how many files a group should have, so that a few files are divided evenly among the threads. */
export const fairShare = (files: number, threads: number): number =>
  Math.min(FILES, Math.max(LEAST_FILES, Math.ceil(files / threads)));

/**
 * Divides the files into groups of up to `filesAtOnce` files, without changing their order. If files are shown
 * completely, each of them is a group of its own, because complete files are large.
 */
export function* groupFiles<File extends FileToShow>(
  files: Iterable<File>,
  request: Pick<CheckedRequest, "whole" | "contextLines">,
  filesAtOnce = FILES,
): Generator<File[], void> {
  let group: File[] = [];
  let ranges = 0;
  const most = showsWhole(request) ? 1 : filesAtOnce;
  for (const file of files) {
    const isFull = group.length >= most || ranges + file.count > RANGES;
    if (isFull && group.length > 0) {
      yield group;
      group = [];
      ranges = 0;
    }
    group.push(file);
    ranges += file.count;
  }
  if (group.length > 0) yield group;
}

/**
 * Returns the input of the task that shows a group of files. `control` is the control whose time-out applies to the
 * task.
 */
export function showInput(
  group: readonly FileToShow[],
  { understood, segments, view }: Pick<Attempt, "understood" | "segments" | "view">,
  control: Control,
): ShowInput {
  const { plan, request } = understood;
  const { contextLines, whole, enclosing, matchesPerFile } = request;
  const files = group.map((file) => showFile(file, segments));
  const isBestFirst = matchesPerFile !== undefined;
  const { packed } = view;
  const how = { contextLines, whole, enclosing, isBestFirst };
  return { plan, shared: control.shared, packed, files, ...how };
}

function showFile(
  { segment: position, file, skip, count }: FileToShow,
  segments: readonly SegmentInput[],
): ShowFile {
  const { segment, sets, symbols } = segments[position]!;
  return { segment, file, skip, most: count, symbols, sets: sets.map((set) => hasBit(set, file)) };
}
