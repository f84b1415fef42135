/** What one thread keeps for searching: a kernel with its regions, and the segments it has opened. */

import { Arena } from "../kernel/arena.ts";
import { createKernel, type Kernel } from "../kernel/kernel.ts";
import type { Snapshot } from "../store/environment.ts";
import { openSegment, type SegmentReader } from "../store/segment-reader.ts";
import { LiteralScanner } from "./scan.ts";
import { WindowMemory, windowsOf } from "./window.ts";

/** Tables of opened segments may take so much memory; linux (1 GB of source) takes 6 MB. */
const TABLE_BYTES = 24 * 2 ** 20;

export class ThreadTools {
  readonly kernel: Kernel = createKernel();
  readonly arena: Arena = new Arena(this.kernel);
  readonly literals: LiteralScanner = new LiteralScanner(this.kernel, this.arena);
  readonly window: WindowMemory = new WindowMemory(this.kernel);
  /** Whether the search that runs was stopped; set anew for each. */
  isStopped: () => boolean = () => false;
  /** In the order of use, the latest last. */
  readonly #readers = new Map<number, { reader: SegmentReader; windows: Uint32Array }>();

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

  windows(reader: SegmentReader): Uint32Array {
    return this.#readers.get(reader.segment)?.windows ?? windowsOf(reader);
  }

  #evict(): void {
    let bytes = 0;
    for (const { reader } of this.#readers.values()) bytes += reader.bytes;
    for (const [segment, { reader }] of this.#readers) {
      if (bytes <= TABLE_BYTES || this.#readers.size === 1) return;
      this.#readers.delete(segment);
      bytes -= reader.bytes;
    }
  }
}
