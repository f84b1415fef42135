/** What one thread keeps for searching: a kernel with its regions, and the segments it has opened. */

import { Arena } from "../../../kernel/arena.ts";
import { createKernel, type Kernel } from "../../../kernel/kernel.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import { openSegment, type SegmentReader } from "../../../store/segments/segment-reader.ts";
import { hasEdition, openSymbols, type SymbolsReader } from "../../../store/symbols/symbols.ts";
import { LiteralScanner } from "./literal-scanner.ts";
import { SegmentSymbols } from "./segment-symbols.ts";
import { WindowMemory, windowsOf } from "./window.ts";

/** Tables of opened segments may take so much memory; linux (1 GB of source) takes 6 MB. */
const TABLE_BYTES = 24 * 2 ** 20;
/**
 * Counted for each beside its tables. The objects of a small one take some 20 KiB; counted as more,
 * because small ones come and go with every update, and here nobody hears that one is gone.
 */
const READER_BYTES = 128 * 1024;

/** What one task of a thread searches with. */
export interface SearchTools {
  readonly kernel: Kernel;
  readonly arena: Arena;
  readonly literals: LiteralScanner;
  readonly window: WindowMemory;
  /** Whether the search has ended: nothing more is looked for. */
  readonly isStopped: () => boolean;
  /** Whether RE2 is not to be asked any more about what is shown. */
  readonly isDue: () => boolean;
}

/** A segment with the first blob of each of its windows: see windowsOf(). */
export interface OpenedSegment {
  readonly reader: SegmentReader;
  readonly windows: Uint32Array;
}

export class ThreadTools {
  readonly arena: Arena;
  readonly #kernel: Kernel = createKernel();
  readonly #literals: LiteralScanner;
  readonly #window: WindowMemory = new WindowMemory(this.#kernel);
  /** In the order of use, the latest last. */
  readonly #readers = new Map<number, OpenedSegment>();
  /** Of those segments. */
  readonly #symbols = new Map<number, SymbolsReader>();

  constructor() {
    this.arena = new Arena(this.#kernel);
    this.#literals = new LiteralScanner(this.#kernel, this.arena);
  }

  /** The tools for one task, with what tells it to stop. */
  forTask(stop: Pick<SearchTools, "isStopped" | "isDue">): SearchTools {
    return {
      kernel: this.#kernel,
      arena: this.arena,
      literals: this.#literals,
      window: this.#window,
      ...stop,
    };
  }

  /** Returns undefined if the segment does not exist any more. One that is still kept here may be gone as well: its text says so. */
  open(snapshot: Snapshot, segment: number): OpenedSegment | undefined {
    const opened = this.#readers.get(segment) ?? this.#read(snapshot, segment);
    if (!opened) return undefined;
    this.#readers.delete(segment);
    this.#readers.set(segment, opened);
    this.#evict();
    return opened;
  }

  #read(snapshot: Snapshot, segment: number): OpenedSegment | undefined {
    const reader = openSegment(snapshot, segment);
    return reader && { reader, windows: windowsOf(reader) };
  }

  /** The segment's definitions of that edition for one search; "gone": it is not there any more. */
  symbols(
    snapshot: Snapshot,
    segment: SegmentReader,
    edition: number,
  ): SegmentSymbols | undefined | "gone" {
    if (edition === 0) return undefined;
    let reader = this.#symbols.get(segment.segment);
    if (reader?.edition === edition && !hasEdition(snapshot, segment.segment, edition))
      return "gone";
    if (reader?.edition !== edition) reader = openSymbols(snapshot, segment.segment, edition);
    if (!reader) return "gone";
    if (reader.header.blobs !== segment.header.blobs)
      throw corrupt(`the symbols of segment ${segment.segment}`);
    this.#symbols.set(segment.segment, reader);
    return new SegmentSymbols(reader, segment, snapshot);
  }

  #evict(): void {
    let bytes = 0;
    for (const { reader } of this.#readers.values()) bytes += reader.bytes + READER_BYTES;
    for (const reader of this.#symbols.values()) bytes += reader.bytes;
    for (const [segment, { reader }] of this.#readers) {
      if (bytes <= TABLE_BYTES || this.#readers.size === 1) return;
      this.#readers.delete(segment);
      bytes -= reader.bytes + READER_BYTES + (this.#symbols.get(segment)?.bytes ?? 0);
      this.#symbols.delete(segment);
    }
  }
}
