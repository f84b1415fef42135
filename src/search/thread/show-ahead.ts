/**
 * Shows files during the search that finds them, if they are few. To show a file is to read the lines and ranges that
 * the response contains. Doing so during the search saves a second task on the threads, which would take as long as the
 * search. A file that cannot be shown now is requested later.
 */

import { hasBit } from "../../base/bitset.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import type { SearchInput, ShownAhead } from "../messages/messages.ts";
import type { RankedFile } from "./ranking/collect.ts";
import { openDefinitions } from "./reading/thread-tools.ts";
import type { SearchThread } from "./search-thread.ts";
import { showFile } from "./showing/show.ts";

/**
 * The maximum number of files that one of several threads shows during a search. Files that are requested later are
 * requested in groups of the same size.
 */
const MOST_FILES = 32;
const MOST_RANGES = 512;
/**
 * The maximum number of files that the only thread of a search shows during it. This thread knows which files the response
 * will contain.
 */
const MOST_FILES_ALONE = 64;

/**
 * Shows the given files if they are few. Otherwise shows none of them and resolves to an empty list.
 * REQUIRES: each thread of a search calls this once, with the best files that it has found.
 */
export async function showAhead(
  thread: SearchThread,
  best: readonly RankedFile[],
): Promise<ShownAhead[]> {
  const { control, input } = thread;
  const isAlone = input.threads === 1;
  const shown = isAlone ? shownOf(best, input) : best;
  const ranges = shown.reduce((sum, { count }) => sum + count, 0);
  const isFew = control.addFound(ranges) <= input.matches;
  const most = isAlone ? MOST_FILES_ALONE : MOST_FILES;
  if (!isFew || shown.length > most || ranges > MOST_RANGES) return [];
  const ahead: ShownAhead[] = [];
  for (const one of shown) {
    if (control.stopped) break; // the task that is requested later decides what may still be shown
    const result = await showUnlessDamaged(thread, one);
    if (result) ahead.push(result);
    await thread.context.pause();
  }
  return ahead;
}

/**
 * Returns the files that the response will contain if no other thread has found any file. These are the files with the
 * first `matches` ranges. If there are more ranges and `bestIfMany` is set, the response will contain only the first
 * `bestIfMany` files, each with one range.
 */
function shownOf(
  best: readonly RankedFile[],
  { matches, bestIfMany }: Pick<SearchInput, "matches" | "bestIfMany">,
): RankedFile[] {
  const found = best.reduce((sum, { count }) => sum + count, 0);
  if (bestIfMany !== undefined && found > matches)
    return best.slice(0, bestIfMany).map((one) => ({ ...one, count: 1 }));
  const shown: RankedFile[] = [];
  let left = matches;
  for (const one of best) {
    if (left <= 0) break;
    shown.push({ ...one, count: Math.min(one.count, left) });
    left -= one.count;
  }
  return shown;
}

async function showUnlessDamaged(
  thread: SearchThread,
  one: RankedFile,
): Promise<ShownAhead | undefined> {
  try {
    return await showOne(thread, one);
  } catch (error) {
    if (isCorrupt(error)) return undefined; // the error is reported when the file is requested later
    throw error;
  }
}

async function showOne(
  { input, query, control, snapshot, thread, tools, context }: SearchThread,
  { segment: position, file, count }: RankedFile,
): Promise<ShownAhead | undefined> {
  const { segment, sets, symbols: edition } = input.segments[position]!;
  const opened = thread.open(snapshot, segment);
  const symbols = opened && openDefinitions(snapshot, opened, edition);
  if (!opened || symbols === "gone") return undefined;
  const disagreements: string[] = [];
  const { shown, bytesLoaded } = await showFile(
    {
      query,
      tools: { ...tools, isStopped: () => control.hasEnded },
      snapshot,
      ...input.ahead!,
      pause: async () => context.pause(),
      onDisagreement: (message) => void disagreements.push(message),
    },
    {
      reader: opened.reader,
      symbols,
      file,
      sets: (set) => hasBit(sets[set]!, file),
      skip: 0,
      most: count,
    },
  );
  return { position, file, most: count, shown, contentBytesLoaded: bytesLoaded, disagreements };
}
