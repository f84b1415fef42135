/** Keeps the kernel of a thread, its caches, and its open segments from one search to the next. */

import { Arena } from "../../../kernel/arena.ts";
import type { Pause } from "../../../base/yield.ts";
import { LruCache } from "../../../base/lru-cache.ts";
import { createKernel, type Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import { openSegment, type SegmentReader } from "../../../store/segments/segment-reader.ts";
import type { SegmentHeader } from "../../../store/segments/segment-tables.ts";
import { tablesIn, type SharedMemory } from "../../../store/segments/shared-memory.ts";
import type { Tables } from "../../../store/segments/shared-tables.ts";
import { hasEdition, openSymbols, type SymbolsReader } from "../../../store/symbols/symbols.ts";
import { LiteralScanner } from "./literal-scanner.ts";
import { openRoom, type Room } from "./room.ts";
import { SegmentSymbols } from "./segment-symbols.ts";
import { WindowMemory, windowsOf } from "./window.ts";

/** The maximum number of bytes that open segments take on a thread, without the tables that threads share. */
const OPENED_BYTES = 24 * 2 ** 20;
/**
 * The number of bytes that are counted for the objects of an open segment. This limits the number of segments that stay
 * open after they were deleted. Every update replaces small segments, and this thread is not notified of that.
 */
const READER_BYTES = 40 * 1024;

/** The tools that one task on a thread searches with. */
export interface SearchTools {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly literals: LiteralScanner;
  readonly memory: WindowMemory;
  /** The room of the thread in shared memory. Undefined if it has none. */
  readonly room?: Room | undefined;
  /** Whether the tools are used on the calling thread. */
  readonly isInline: boolean;
  /** Returns true once the search was stopped. No more text is searched after that. */
  readonly isStopped: () => boolean;
  /**
   * Stops the search as a time-out does. Called if the rest of the search would take more memory than a thread may use.
   */
  readonly giveUp: () => void;
  /** Returns true once the answer is due. RE2 must not verify any more ranges after that. */
  readonly isDue: () => boolean;
  /**
   * Called between the short steps of long work, to yield to the event loop if needed.
   * REQUIRES: no other task uses the tools during the pause.
   */
  readonly pause: Pause;
}

export interface Caches {
  /** Undefined if the thread shares no memory. */
  readonly shared?: SharedMemory | undefined;
  /** Called if a table is not in shared memory. By default, the table is read. */
  readonly onMissing?: () => never;
}

export interface OpenedSegment {
  readonly reader: SegmentReader;
  /** The tables that the reader shares with other threads. */
  readonly tables: Tables | undefined;
  /** The first blob of each window; see windowsOf(). */
  readonly windows: Uint32Array;
  /** The symbols of the edition that was requested last. Undefined if none was requested. */
  symbols?: SymbolsReader;
}

const costOf = ({ reader, symbols }: OpenedSegment): number =>
  reader.bytes + READER_BYTES + (symbols?.bytes ?? 0);

export class ThreadTools {
  readonly arena: Arena;
  readonly #isInline: boolean;
  readonly #kernel: Kernel = createKernel();
  readonly #literals: LiteralScanner;
  readonly #memory: WindowMemory;
  readonly #room: Room | undefined;
  readonly #tables: Tables | undefined;
  readonly #opened = new LruCache<number, OpenedSegment>({
    most: OPENED_BYTES,
    costOf,
  });

  constructor(isInline: boolean, { shared, onMissing }: Caches = {}) {
    this.#isInline = isInline;
    this.#room = shared && openRoom(shared);
    const tables = shared && tablesIn(shared);
    this.#tables = onMissing
      ? { getOrMake: (kind, of) => tables?.get(kind, of) ?? onMissing() }
      : tables;
    this.#memory = new WindowMemory(this.#kernel);
    this.arena = new Arena(this.#kernel);
    this.#literals = new LiteralScanner(this.#kernel, this.arena);
  }

  /**
   * Returns the tools for a task. `stop` has the functions that stop the task and let it yield.
   */
  forTask(stop: Pick<SearchTools, "isStopped" | "giveUp" | "isDue" | "pause">): SearchTools {
    return {
      kernel: this.#kernel,
      arena: this.arena,
      literals: this.#literals,
      memory: this.#memory,
      room: this.#room,
      isInline: this.#isInline,
      ...stop,
    };
  }

  /**
   * Returns the segment, and opens it if it is not open yet. Returns undefined if the segment no longer exists. If an
   * open segment was deleted, this is noticed only when its text is read. `header` is the header of the segment. If
   * absent, it is read.
   */
  open(snapshot: Snapshot, segment: number, header?: SegmentHeader): OpenedSegment | undefined {
    return this.#opened.getOrMake(segment, () => {
      const reader = openSegment(snapshot, segment, { header, tables: this.#tables });
      return reader && { reader, windows: windowsOf(reader), tables: this.#tables };
    });
  }
}

/**
 * Returns the definitions of a segment for one search, from the given edition of its symbols. Returns undefined if the
 * edition is 0 (no symbols), and "gone" if the edition no longer exists.
 */
export function openDefinitions(
  snapshot: Snapshot,
  opened: OpenedSegment,
  edition: number,
): SegmentSymbols | undefined | "gone" {
  if (edition === 0) return undefined;
  const { content, blobs } = opened.reader.header;
  let { symbols } = opened;
  if (symbols?.edition === edition && !hasEdition(snapshot, content, edition)) return "gone";
  if (symbols?.edition !== edition)
    symbols = openSymbols(snapshot, content, edition, opened.tables);
  if (!symbols) return "gone";
  if (symbols.header.blobs !== blobs) throw corrupt(`the symbols of segment ${content}`);
  opened.symbols = symbols;
  return new SegmentSymbols(symbols, opened.reader, snapshot);
}
