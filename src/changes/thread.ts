/** Keeps what a thread needs to search histories: memory, and open segments. */

import { LruCache } from "../base/lru-cache.ts";
import { openHistorySegment, type HistoryReader } from "../store/history/history-reader.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import type { TaskContext } from "../threads/task.ts";
import { FinderTools } from "./text-finder.ts";

/** The maximum number of bytes that open segments take on a thread. The history of git itself takes 20 MB. */
const OPENED_BYTES = 128 * 2 ** 20;

export class ChangesThread {
  readonly tools = new FinderTools();
  readonly #opened = new LruCache<number, HistoryReader>({
    most: OPENED_BYTES,
    costOf: (reader) => reader.bytes,
  });

  /** Returns the segment, or undefined if it no longer exists. */
  open(snapshot: Snapshot, segment: number): HistoryReader | undefined {
    return this.#opened.getOrMake(segment, () => openHistorySegment(snapshot, segment));
  }
}

export const changesThread = (context: TaskContext): ChangesThread =>
  context.memo("changes", () => new ChangesThread());
