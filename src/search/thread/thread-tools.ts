/** What one thread keeps for searching: a kernel with its regions, and the segments it has opened. */

import { Arena } from "../../kernel/arena.ts";
import { createKernel, type Kernel } from "../../kernel/kernel.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { corrupt } from "../../store/format/sealed.ts";
import { openSegment, type SegmentReader } from "../../store/segments/segment-reader.ts";
import { hasEdition, openSymbols, type SymbolsReader } from "../../store/symbols/symbols.ts";
import { LiteralScanner } from "./scanning/scan.ts";
import { SegmentSymbols } from "./scanning/segment-symbols.ts";
import { WindowMemory, windowsOf } from "./scanning/window.ts";

/** Tables of opened segments may take so much memory; linux (1 GB of source) takes 6 MB. */
const TABLE_BYTES = 24 * 2 ** 20;
/**
 * Counted for each beside its tables. The objects of a small one take some 20 KiB; counted as more,
 * because small ones come and go with every update, and here nobody hears that one is gone.
 */
const READER_BYTES = 128 * 1024;

export class ThreadTools {
  readonly kernel: Kernel = createKernel();
  readonly arena: Arena = new Arena(this.kernel);
  readonly literals: LiteralScanner = new LiteralScanner(this.kernel, this.arena);
  readonly window: WindowMemory = new WindowMemory(this.kernel);
  /** Whether the search that runs was stopped; set anew for each. */
  isStopped: () => boolean = () => false;
  /** Whether RE2 is not to be asked any more about what is shown. */
  isDue: () => boolean = () => false;
  /** In the order of use, the latest last. */
  readonly #readers = new Map<number, { reader: SegmentReader; windows: Uint32Array }>();
  /** Of those segments. */
  readonly #symbols = new Map<number, SymbolsReader>();

  /** undefined: the segment is not there any more. A segment that is still kept here may be gone as well: its text says so. */
  reader(snapshot: Snapshot, segment: number): SegmentReader | undefined {
    const kept = this.#readers.get(segment);
    const reader = kept?.reader ?? openSegment(snapshot, segment);
    if (!reader) return undefined;
    this.#readers.delete(segment);
    this.#readers.set(segment, kept ?? { reader, windows: windowsOf(reader) });
    this.#evict();
    return reader;
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

  windows(reader: SegmentReader): Uint32Array {
    return this.#readers.get(reader.segment)?.windows ?? windowsOf(reader);
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
