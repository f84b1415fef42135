/**
 * Manages the overlays of an engine: indexes each text once, keeps it while it is used, and makes the views
 * that searches read. A text that has not changed since the last search costs a look-up. A changed text is
 * indexed alone, into a layer of its own, until there are so many layers that all are moved into one.
 */

import { filesOfRepository } from "../store/segments/segment-tables.ts";
import { comparePaths } from "../base/paths.ts";
import { QuernError } from "../base/errors.ts";
import {
  repositoryNamed,
  type Catalog,
  type CatalogRepository,
  type Place,
} from "../store/catalog/catalog.ts";
import {
  fileFacts,
  findFiles,
  type FileFacts,
  type FoundFile,
} from "../store/catalog/repository-files.ts";
import { viewOf, type View } from "../store/catalog/view.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import { FIRST_MEMORY_SEGMENT, openPacked } from "../store/memory/memory-store.ts";
import type { Pool } from "../threads/pool.ts";
import type { CheckedDocument, OverlayText } from "./documents.ts";
import type { Layer, LayerInput } from "./layer-task.ts";
import {
  overlaidView,
  unknownRepository,
  type FindFiles,
  type LayeredText,
  type PlacedDocument,
} from "./overlay-catalog.ts";

/**
 * The most layers of one view. Each adds a segment to plan, about 0.1 ms. With only one, all would be
 * indexed again for each change.
 */
const MOST_LAYERS = 8;
/**
 * The most memory of layers that no view uses now, such as the texts of an editor that are needed again for
 * the next key.
 */
const KEPT_BYTES = 32 * 2 ** 20;

export interface OverlaysOptions {
  readonly pool: Pool;
  readonly maxFileSize: number;
  readonly newest: () => Promise<Catalog>;
  /** Reads in a snapshot of its own. */
  readonly reading: <T>(read: (snapshot: Snapshot) => Promise<T>) => Promise<T>;
}

type Documents = readonly CheckedDocument[];

export class Overlays {
  readonly #options: OverlaysOptions;
  /** Texts by key, the most recently used last. */
  readonly #texts = new Map<string, LayeredText>();
  /** The last view of each list of documents. A workspace passes the same list until something changes. */
  readonly #views = new WeakMap<Documents, { readonly catalog: Catalog; readonly view: View }>();
  readonly #found = new WeakMap<Place, Map<string, readonly FoundFile[]>>();
  #nextSegment = FIRST_MEMORY_SEGMENT;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: OverlaysOptions) {
    this.#options = options;
  }

  /**
   * Returns the newest generation with the documents on top. `isVisible` says whether the caller may see a
   * repository.
   */
  async view(
    documents: Documents,
    isVisible: (repository: CatalogRepository) => boolean,
  ): Promise<View> {
    const catalog = await this.#options.newest();
    if (documents.length === 0) return viewOf(catalog);
    for (const name of new Set(documents.map(({ repository }) => repository))) {
      const repository = repositoryNamed(catalog, name);
      if (!repository || !isVisible(repository)) throw unknownRepository(name);
    }
    const kept = this.#views.get(documents);
    if (kept?.catalog === catalog) return kept.view;
    const view = await this.#inTurn(() => this.#makeView(catalog, documents));
    this.#views.set(documents, { catalog, view });
    return view;
  }

  /** Runs work one after another, so that searches at the same time index a text once. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #makeView(catalog: Catalog, documents: Documents): Promise<View> {
    await this.#index(catalog, documents);
    const placed = documents.map(({ repository, path, text }): PlacedDocument => {
      const at = repositoryNamed(catalog, repository)!;
      const layered = text && this.#texts.get(keyOf(at.record.id, text))!;
      return { repository: at, path, text: layered?.isGone ? undefined : layered };
    });
    this.#forget();
    return this.#options.reading(async (snapshot) =>
      overlaidView(catalog, placed, this.#finder(snapshot, catalog)),
    );
  }

  /** Indexes the texts that no layer has, and marks all as recently used. */
  async #index(catalog: Catalog, documents: Documents): Promise<void> {
    const texts = documents.filter(({ text }) => text !== undefined);
    const keyIn = ({ repository, text }: CheckedDocument) =>
      keyOf(repositoryNamed(catalog, repository)!.record.id, text!);
    const keys = texts.map(keyIn);
    let missing = texts.filter((_, i) => !this.#texts.has(keys[i]!));
    const layers = new Set(keys.map((key) => this.#texts.get(key)?.layer));
    if (missing.length > 0 && layers.size > MOST_LAYERS) missing = texts;
    if (missing.length > 0) await this.#addLayer(catalog, missing);
    for (const key of keys) {
      const used = this.#texts.get(key)!;
      this.#texts.delete(key);
      this.#texts.set(key, used);
    }
  }

  async #addLayer(catalog: Catalog, documents: Documents): Promise<void> {
    const groups = new Map<number, CheckedDocument[]>();
    for (const document of documents) {
      const { id } = repositoryNamed(catalog, document.repository)!.record;
      const group = groups.get(id);
      if (group) group.push(document);
      else groups.set(id, [document]);
    }
    const ordered = [...groups]
      .sort(([a], [b]) => a - b)
      .map(([repository, own]) => ({
        repository,
        own: own.toSorted((a, b) => comparePaths(a.path, b.path)),
      }));
    const layer = await this.#build(
      ordered.map(({ repository, own }) => ({
        repository,
        files: own.map(({ path, text }) => ({ path, content: text!.content })),
      })),
    );
    const factsOf = factsIn(layer);
    ordered.forEach(({ repository, own }, place) => {
      const { first } = filesOfRepository(layer.header, repository)!;
      own.forEach(({ text }, i) => {
        const file = first + i;
        const isGone = layer.gone[place]![i]!;
        this.#texts.set(keyOf(repository, text!), { layer, file, isGone, ...factsOf(file) });
      });
    });
  }

  async #build(repositories: LayerInput["repositories"]): Promise<Layer> {
    const { pool, maxFileSize } = this.#options;
    const build = (isDeadly: boolean) =>
      pool.run<Layer>(
        "overlay.layer",
        { segment: this.#nextSegment++, maxFileSize, isDeadly, repositories },
        { lane: "search", isUrgent: true },
      );
    try {
      return await build(false);
    } catch (error) {
      // a grammar may kill the thread; its texts are then indexed without symbols
      if (error instanceof QuernError && error.code === "INTERNAL") return build(true);
      throw error;
    }
  }

  /** Caches the files of each path in a place, because places outlive generations. */
  #finder(snapshot: Snapshot, { headers }: Catalog): FindFiles {
    return (place, paths) => {
      let found = this.#found.get(place);
      if (!found) this.#found.set(place, (found = new Map()));
      const missing = paths.filter((path) => !found.has(path));
      if (missing.length > 0)
        findFiles({ snapshot, headers }, place, missing).forEach((files, i) =>
          found.set(missing[i]!, files),
        );
      return paths.map((path) => found.get(path)!);
    };
  }

  /** Drops the least recently used layers. */
  #forget(): void {
    const used = new Set<Layer>();
    let bytes = 0;
    for (const [key, { layer }] of [...this.#texts].reverse()) {
      if (!used.has(layer)) bytes += layer.packed.bytes.length;
      used.add(layer);
      if (bytes > KEPT_BYTES && used.size > MOST_LAYERS + 1) this.#texts.delete(key);
    }
  }
}

/**
 * Identifies a text by the number of its repository. A repository that is removed and indexed again is
 * another one.
 */
const keyOf = (repository: number, { key }: OverlayText): string => `${repository}\0${key}`;

function factsIn({ packed, header }: Layer): (file: number) => FileFacts {
  const headers = new Map([[packed.segment, header]]);
  return fileFacts({ snapshot: openPacked(packed), headers }, packed.segment);
}
