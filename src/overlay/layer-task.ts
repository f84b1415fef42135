/**
 * Indexes documents, with their symbols, into a segment in memory. This task runs on a worker thread. It uses the same
 * session, classification and grammars as an index run, so a search finds exactly what it would find if the documents
 * were indexed.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { lazily } from "../base/out-of-files.ts";
import { isGone } from "../base/folder-errors.ts";
import { SegmentSession } from "../ingest/run/segment-session.ts";
import type { BatchContent, BatchFile } from "../ingest/run/batch.ts";
import type { Extractor } from "../ingest/symbols/extract.ts";
import { HASH_BYTES, SEGMENT_BYTES, type NewLayout } from "../store/format/format.ts";
import { MemoryTarget, type PackedSegment } from "../store/memory/memory-store.ts";
import { readHeader, type SegmentHeader } from "../store/segments/segment-tables.ts";
import { completeEdition } from "../store/symbols/complete-edition.ts";
import type { Task, TaskContext } from "../threads/task.ts";

/**
 * The documents to index, grouped by repository, with the lowest repository number first. Each path occurs only once in
 * a repository.
 */
export interface LayerInput {
  readonly segment: number;
  readonly layout: NewLayout;
  readonly maxFileSize: number;
  /** Whether a thread died while it indexed these documents. If so, their symbols are not extracted. */
  readonly isDeadly: boolean;
  /**
   * Whether the layer gets neither posting lists nor symbols. Such a layer is ready sooner, and is needed only for a
   * short time.
   */
  readonly isPlain: boolean;
  readonly repositories: readonly {
    readonly repository: number;
    readonly files: readonly { readonly path: string; readonly content: LayerContent }[];
  }[];
}

/**
 * The text of a document, the folder in which the thread reads the document's path, or the reason why there is no text.
 * All documents of a folder share one object, so that a message to the thread contains this object only once.
 */
export type LayerContent =
  | Exclude<BatchContent, { readonly file: string }>
  | { readonly folder: string };

export interface Layer {
  readonly packed: PackedSegment;
  readonly header: SegmentHeader;
  readonly isPlain: boolean;
  /** For each file of each repository, whether the file no longer existed when it was read. */
  readonly gone: readonly (readonly boolean[])[];
}

/** The number of a layer's only edition of symbols. */
export const LAYER_EDITION = 1;
const NO_HASHES = new Uint8Array();
const NO_VERSION = new Uint8Array(HASH_BYTES);
/** The index of the default revision, to which the files of a layer belong. */
const REVISIONS = [0];

class LayerBuilder {
  #target = new MemoryTarget(0);
  readonly #session = new SegmentSession(() => this.#target);

  async build(
    { segment, layout, maxFileSize, isDeadly, isPlain, repositories }: LayerInput,
    extractor: () => Promise<Extractor>,
    context: TaskContext,
  ): Promise<Layer> {
    this.#target = new MemoryTarget(segment);
    this.#session.discard(); // discards the rest of a build that failed
    const batch = {
      segment,
      owner: "",
      layout,
      maxFileSize,
      memoryBytes: Infinity,
      segmentBytes: SEGMENT_BYTES,
      leastSharedBytes: Infinity,
      hasNoLists: isPlain,
    };
    const gone: boolean[][] = [];
    for (const { repository, files } of repositories) {
      const add = (some: readonly BatchFile[]) =>
        this.#session.add({ ...batch, repository, files: some }, () => context.pause());
      const { outcomes } = await add(files.map(({ path, content }) => fileOf(path, content)));
      const goneHere = files.map(() => false);
      gone.push(goneHere);
      for (const [i, { path, content }] of files.entries()) {
        const outcome = outcomes[i];
        if (outcome?.kind !== "skipped") continue;
        const { reason } = outcome;
        await add([fileOf(path, { skipped: reason })]);
        goneHere[i] = reason === "unreadable" && !isFileStill(path, content);
      }
    }
    const written = this.#session.finish([]);
    if (written.length > 0 && !isPlain)
      await this.#findSymbols({ segment, isDeadly }, await extractor(), context);
    const header = readHeader(this.#target.environment.snapshot(), segment)!;
    const packed = this.#target.pack();
    this.#target = new MemoryTarget(0); // so that the memory of the layer is freed when nobody uses the layer any more
    return { packed, header, isPlain, gone };
  }

  async #findSymbols(
    { segment, isDeadly }: Pick<LayerInput, "segment" | "isDeadly">,
    extractor: Extractor,
    context: TaskContext,
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
    const pause = () => context.pause();
    const { findInRange } = await symbolTask();
    const { columns } = await findInRange(input, { target, extractor, pause });
    await completeEdition(target, { edition, columns }, context);
  }
}

/** Returns true if a path that was listed as a file is still a file. */
function isFileStill(path: string, content: LayerContent): boolean {
  if (!("folder" in content)) return true;
  try {
    return lstatSync(join(content.folder, path)).isFile();
  } catch (error) {
    return !isGone(error);
  }
}

const fileOf = (path: string, content: LayerContent): BatchFile => ({
  path,
  version: NO_VERSION,
  revisions: REVISIONS,
  content: "folder" in content ? { file: join(content.folder, path), isPinned: true } : content,
  known: NO_HASHES,
});

// loaded only when needed, so that a thread that only searches does not load these modules
const symbolTask = lazily(() => import("../ingest/symbols/symbol-task.ts"));
const extraction = lazily(() => import("../ingest/symbols/extract.ts"));

/**
 * Indexes a layer. The task runs in the lane of searches, because a search waits for the result. It has its own session
 * and extractor, because an index run may be suspended between two steps on the same thread.
 */
export const layerTask: Task<LayerInput, Layer> = (input, context) => {
  const builder = context.memo("layer builder", () => new LayerBuilder());
  const extractor = async () => {
    const { createExtractor } = await extraction();
    return context.memo("layer extractor", () => createExtractor());
  };
  return builder.build(input, extractor, context);
};

export const OVERLAY_TASKS = { "overlay.layer": layerTask };
