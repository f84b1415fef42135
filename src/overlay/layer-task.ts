/**
 * Indexes documents into a segment in memory, with their symbols, on a worker thread: by the same
 * session, classification and grammars as an index run, so that a search finds in them exactly what it
 * would find had they been indexed.
 */

import { lstatSync } from "node:fs";
import { isGone } from "../base/folder-errors.ts";
import { SegmentSession } from "../ingest/run/segment-session.ts";
import type { BatchContent, BatchFile } from "../ingest/run/batch.ts";
import { createExtractor, type Extractor } from "../ingest/symbols/extract.ts";
import { findInRange } from "../ingest/symbols/symbol-task.ts";
import { HASH_BYTES } from "../store/format/format.ts";
import { MemoryTarget, type PackedSegment } from "../store/memory/memory-store.ts";
import { readHeader, type SegmentHeader } from "../store/segments/segment-tables.ts";
import { completeEdition } from "../store/symbols/complete-edition.ts";
import type { Task, TaskContext } from "../threads/task.ts";

/** One repository's documents after the other's, by ascending number; each path once in a repository. */
export interface LayerInput {
  readonly segment: number;
  readonly maxFileSize: number;
  /** Nothing is parsed: a thread has died of it. */
  readonly isDeadly: boolean;
  readonly repositories: readonly {
    readonly repository: number;
    readonly files: readonly { readonly path: string; readonly content: LayerContent }[];
  }[];
}

/** The text itself, a file on the disk that the thread reads, or why there is none to search. */
export type LayerContent = BatchContent;

export interface Layer {
  readonly packed: PackedSegment;
  readonly header: SegmentHeader;
  /** For each file of each repository, whether there was none on the disk any more when it was read. */
  readonly gone: readonly (readonly boolean[])[];
}

/** The only edition of a layer's symbols. */
export const LAYER_EDITION = 1;
const NO_HASHES = new Uint8Array();
const NO_VERSION = new Uint8Array(HASH_BYTES);
/** Position of the revision that a layer's files belong to: the default one. */
const REVISIONS = [0];

class LayerBuilder {
  #target = new MemoryTarget(0);
  readonly #session = new SegmentSession(() => this.#target);

  async build(
    { segment, maxFileSize, isDeadly, repositories }: LayerInput,
    extractor: () => Promise<Extractor>,
    pause: TaskContext["pause"],
  ): Promise<Layer> {
    this.#target = new MemoryTarget(segment);
    this.#session.discard(); // of a build that failed
    const batch = { segment, owner: "", maxFileSize, memoryBytes: Infinity };
    const gone: boolean[][] = [];
    for (const { repository, files } of repositories) {
      const goneHere: boolean[] = [];
      gone.push(goneHere);
      for (const { path, content } of files) {
        const add = (one: BatchContent) =>
          this.#session.add({ ...batch, repository, files: [fileOf(path, one)] }, pause);
        const [outcome] = (await add(content)).outcomes;
        const reason = outcome?.kind === "skipped" ? outcome.reason : undefined;
        if (reason) await add({ skipped: reason });
        goneHere.push(reason === "unreadable" && !isFileStill(content));
      }
    }
    const written = this.#session.finish();
    if (written) await this.#findSymbols({ segment, isDeadly }, await extractor(), pause);
    const header = readHeader(this.#target.environment.snapshot(), segment)!;
    return { packed: this.#target.pack(), header, gone };
  }

  async #findSymbols(
    { segment, isDeadly }: Pick<LayerInput, "segment" | "isDeadly">,
    extractor: Extractor,
    pause: TaskContext["pause"],
  ): Promise<void> {
    const target = this.#target;
    const { blobs } = readHeader(target.environment.snapshot(), segment)!;
    const edition = LAYER_EDITION;
    const input = {
      segment,
      edition: 0,
      next: edition,
      from: 0,
      to: blobs,
      places: new Int32Array(),
      others: [],
      owner: "",
      isDeadly,
      parsing: new Int32Array(1),
    };
    const { columns } = await findInRange(input, { target, extractor, pause });
    await completeEdition(target, { edition, columns }, pause);
  }
}

/** What was a file when it was looked at may be gone, or something else, when it is read. */
function isFileStill(content: LayerContent): boolean {
  if (!("file" in content)) return true;
  try {
    return lstatSync(content.file).isFile();
  } catch (error) {
    return !isGone(error);
  }
}

const fileOf = (path: string, content: BatchContent): BatchFile => ({
  path,
  version: NO_VERSION,
  revisions: REVISIONS,
  content,
  known: NO_HASHES,
});

/**
 * In the lane of searches, since one waits for it; its tools are its own, because an index run may be
 * between two steps on the same thread.
 */
export const layerTask: Task<LayerInput, Layer> = (input, context) => {
  const builder = context.memo("layer builder", () => new LayerBuilder());
  const extractor = async () => context.memo("layer extractor", () => createExtractor());
  return builder.build(input, extractor, () => context.pause());
};

export const OVERLAY_TASKS = { "overlay.layer": layerTask };
