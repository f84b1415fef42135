/** Holds what a thread keeps between searches: a kernel with its regions, and the open segments. */

import { Arena } from "../../../kernel/arena.ts";
import type { Pause } from "../../../base/yield.ts";
import { LruCache } from "../../../base/lru-cache.ts";
import { KeptLists, type KeptListsMemory } from "../../../store/segments/kept-lists.ts";
import { TextCache } from "../../../store/segments/text-cache.ts";
import { createKernel, type Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import {
  openSegment,
  openSegmentInSlices,
  type SegmentReader,
} from "../../../store/segments/segment-reader.ts";
import { hasEdition, openSymbols, type SymbolsReader } from "../../../store/symbols/symbols.ts";
import { LiteralScanner } from "./literal-scanner.ts";
import { SegmentSymbols } from "./segment-symbols.ts";
import { WindowMemory, windowsOf } from "./window.ts";

/** The maximum amount of memory of the tables of open segments. Linux (1 GB of source) takes 6 MB. */
const TABLE_BYTES = 24 * 2 ** 20;
/**
 * The bytes that are counted for each segment in addition to its tables. The objects of a small segment take about 20
 * KiB. More is counted, because small segments come and go with every update, and this thread is not notified when one
 * is gone.
 */
const READER_BYTES = 128 * 1024;

/** The tools with which a task of a thread searches. */
export interface SearchTools {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly literals: LiteralScanner;
  readonly memory: WindowMemory;
  readonly textCache: TextCache | undefined;
  /** Posting lists that threads share. Undefined if there are none. */
  readonly kept?: KeptLists | undefined;
  /** Whether the tools are used on the calling thread. */
  readonly isInline: boolean;
  /** Whether the search has ended, so that nothing more is searched. */
  readonly isStopped: () => boolean;
  /** Ends the search like a time-out, because the rest would take more memory than a thread may use. */
  readonly giveUp: () => void;
  /** Whether RE2 must no longer be asked about shown ranges. */
  readonly isDue: () => boolean;
  /** Called between steps that together take long. REQUIRES: nobody else uses the tools during the pause. */
  readonly pause: Pause;
}

export interface Caches {
  /** The most bytes of text that this thread caches. Default 0. */
  readonly textCache?: number | undefined;
  /** The posting lists that threads share. Without them, each thread reads its own copy. */
  readonly keptLists?: KeptListsMemory | undefined;
}

export interface OpenedSegment {
  readonly reader: SegmentReader;
  /** The first blob of each window; see windowsOf(). */
  readonly windows: Uint32Array;
  /** The symbols of the last requested edition. */
  symbols?: SymbolsReader;
}

const openedFrom = (reader: SegmentReader): OpenedSegment => ({
  reader,
  windows: windowsOf(reader),
});

const costOf = ({ reader, symbols }: OpenedSegment): number =>
  reader.bytes + READER_BYTES + (symbols?.bytes ?? 0);

export class ThreadTools {
  readonly arena: Arena;
  readonly #isInline: boolean;
  readonly #kernel: Kernel = createKernel();
  readonly #literals: LiteralScanner;
  readonly #memory: WindowMemory;
  readonly #textCache: TextCache | undefined;
  readonly #kept: KeptLists | undefined;
  readonly #opened = new LruCache<number, OpenedSegment>({
    most: TABLE_BYTES,
    costOf,
    onEvict: ({ reader }) => this.#textCache?.drop(reader.header.content),
  });

  constructor(isInline: boolean, { textCache = 0, keptLists }: Caches = {}) {
    this.#isInline = isInline;
    this.#textCache = textCache > 0 ? new TextCache(this.#kernel, textCache) : undefined;
    this.#kept = keptLists && new KeptLists(keptLists);
    this.#memory = new WindowMemory(this.#kernel);
    this.arena = new Arena(this.#kernel);
    this.#literals = new LiteralScanner(this.#kernel, this.arena);
  }

  /**
   * Returns the tools for a task, with the functions that stop it and let it yield. If what the task reads is recorded,
   * it gets no text cache, so that it reads all text through its snapshot.
   */
  forTask(
    stop: Pick<SearchTools, "isStopped" | "giveUp" | "isDue" | "pause">,
    isRecorded = false,
  ): SearchTools {
    return {
      kernel: this.#kernel,
      arena: this.arena,
      literals: this.#literals,
      memory: this.#memory,
      textCache: isRecorded ? undefined : this.#textCache,
      kept: this.#kept,
      isInline: this.#isInline,
      ...stop,
    };
  }

  /** Whether a segment is open, with these symbols. */
  isOpen(segment: number, edition: number): boolean {
    const opened = this.#opened.get(segment);
    return opened !== undefined && (edition === 0 || opened.symbols?.edition === edition);
  }

  /** Closes a segment. */
  close(segment: number): void {
    this.#opened.delete(segment);
  }

  /**
   * Opens a segment. Returns undefined if the segment no longer exists. A segment that is still open here may also be
   * gone; reading its text shows this.
   */
  open(snapshot: Snapshot, segment: number): OpenedSegment | undefined {
    return this.#opened.getOrMake(segment, () => {
      const reader = openSegment(snapshot, segment);
      return reader && openedFrom(reader);
    });
  }

  /** Does what open() does, but in slices. Resolves at once if the segment is already open. */
  async openInSlices(
    snapshot: Snapshot,
    segment: number,
    pause: Pause,
  ): Promise<OpenedSegment | undefined> {
    const opened = this.#opened.get(segment);
    if (opened) return opened;
    const reader = await openSegmentInSlices(snapshot, segment, pause);
    return reader && this.#opened.getOrMake(segment, () => openedFrom(reader));
  }
}

/**
 * Returns the definitions of a segment, in the given edition, for one search, or "gone" if the edition no longer
 * exists.
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
  if (symbols?.edition !== edition) symbols = openSymbols(snapshot, content, edition);
  if (!symbols) return "gone";
  if (symbols.header.blobs !== blobs) throw corrupt(`the symbols of segment ${content}`);
  opened.symbols = symbols;
  return new SegmentSymbols(symbols, opened.reader, snapshot);
}
