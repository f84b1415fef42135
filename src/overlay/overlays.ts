/**
 * Manages the overlays of an engine. Indexes each text once, keeps it while it is used, and makes the views that
 * searches read. A text that has not changed since the last search costs only a look-up. Only changed texts are
 * indexed, into a new layer. If there are too many layers, the small ones are combined. Plain texts, which have neither
 * posting lists nor symbols, are indexed into separate layers.
 */

import { getOrMake } from "../base/get-or-make.ts";
import { sortInSlices } from "../base/sort.ts";
import { newPause, type Pause } from "../base/yield.ts";
import { filesOfRepository, type SegmentHeader } from "../store/segments/segment-tables.ts";
import { comparePaths } from "../base/paths.ts";
import { QuernError } from "../base/errors.ts";
import { repositoryNamed, type Catalog, type CatalogRepository } from "../store/catalog/catalog.ts";
import {
  fileFacts,
  findFiles,
  type FileFacts,
  type FoundFile,
} from "../store/catalog/repository-files.ts";
import { viewOf, type View } from "../store/catalog/view.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import { FIRST_MEMORY_SEGMENT, type NewLayout } from "../store/format/format.ts";
import { openPacked, packedBytes, withSegments } from "../store/memory/memory-store.ts";
import type { KeptTables } from "../store/segments/kept-tables.ts";
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
 * The maximum number of layers of one view. Each layer adds about 0.1 ms to the planning of a search. With a single
 * layer, all texts would be indexed again after each change.
 */
const MOST_LAYERS = 8;
/**
 * The maximum number of layers that are kept, and the maximum number of bytes that they take. Layers that no view uses
 * at the moment are kept, too, because the next keystroke in an editor may need them again.
 */
const KEPT_LAYERS = 64;
const KEPT_BYTES = 32 * 2 ** 20;
/**
 * The maximum number of bytes that the kept layers of plain texts take. A workspace releases its plain texts when the
 * index has caught up.
 */
const KEPT_PLAIN_BYTES = 256 * 2 ** 20;
/** The minimum cost of plain texts that are divided among the threads, in bytes. */
const LEAST_DIVIDED_BYTES = 2 ** 20;
/** The cost of opening a file, given as the number of bytes of text that take the same time to index. */
const FILE_BYTES = 2 ** 14;
/**
 * The maximum number of paths whose files are kept for each segment. If one look-up has more paths, their files are not
 * kept. If more are kept already, the next look-up begins by forgetting all of them.
 */
const KEPT_PATHS = 2_000;

export interface OverlaysOptions {
  readonly pool: Pool;
  readonly maxFileSize: number;
  /** The sizes of pages and blocks in layers. */
  readonly layout: NewLayout;
  readonly newest: () => Promise<Catalog>;
  readonly tables: KeptTables;
  /** Opens a snapshot and calls `read` with it. */
  readonly reading: <T>(read: (snapshot: Snapshot) => Promise<T>) => Promise<T>;
}

type Documents = readonly CheckedDocument[];
/** The repositories of the documents, by name. */
type Named = ReadonlyMap<string, CatalogRepository>;
type Found = Map<string, readonly FoundFile[]>;

const newFound = (): Found => new Map();

export class Overlays {
  readonly #options: OverlaysOptions;
  readonly #texts = new Texts(KEPT_BYTES);
  readonly #plain = new Texts(KEPT_PLAIN_BYTES);
  /** The last view of each list of documents. A workspace passes the same list until something changes. */
  readonly #views = new WeakMap<Documents, { readonly catalog: Catalog; readonly view: View }>();
  /**
   * The files that were found for each path, keyed by the header of the segment. A segment has the same header object
   * in all generations.
   */
  readonly #found = new WeakMap<SegmentHeader, Found>();
  #nextSegment = FIRST_MEMORY_SEGMENT;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: OverlaysOptions) {
    this.#options = options;
  }

  /**
   * Returns a view of the newest generation, in which the documents replace indexed files. Throws INVALID_REQUEST if a
   * document is in a repository that does not exist, or for which `isVisible` returns false.
   */
  async view(
    documents: Documents,
    isVisible: (repository: CatalogRepository) => boolean,
  ): Promise<View> {
    const catalog = await this.#options.newest();
    if (documents.length === 0) return viewOf(catalog);
    const named = new Map<string, CatalogRepository>();
    for (const name of new Set(documents.map(({ repository }) => repository))) {
      const repository = repositoryNamed(catalog, name);
      if (!repository || !isVisible(repository)) throw unknownRepository(name);
      named.set(name, repository);
    }
    const kept = this.#views.get(documents);
    if (kept?.catalog === catalog) return kept.view;
    const view = await this.#enqueue(() => this.#makeView(viewOf(catalog), documents, named));
    this.#views.set(documents, { catalog, view });
    return view;
  }

  /** Returns a view in which the documents replace files of another view. REQUIRES: their repositories exist. */
  async above(below: View, documents: Documents): Promise<View> {
    if (documents.length === 0) return below;
    const names = new Set(documents.map(({ repository }) => repository));
    const named = new Map(
      Array.from(names, (name) => [name, repositoryNamed(below.catalog, name)!] as const),
    );
    return this.#enqueue(() => this.#makeView(below, documents, named));
  }

  /**
   * Removes the plain texts of a repository. A workspace calls this when the index contains these texts. Views that use
   * them stay valid.
   */
  release(repository: string): Promise<void> {
    return this.#enqueue(async () => {
      const known = repositoryNamed(await this.#options.newest(), repository);
      if (known) this.#plain.removeAll(known.record.id);
    });
  }

  /** Runs `work` after all earlier work has ended, so that simultaneous searches index a text only once. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #makeView(below: View, documents: Documents, named: Named): Promise<View> {
    const pause = newPause();
    const texts = documents.filter(({ text }) => text !== undefined);
    const plain = texts.filter(({ text }) => text!.isPlain);
    const others = plain.length > 0 ? texts.filter(({ text }) => !text!.isPlain) : texts;
    await this.#index(named, others, pause);
    await this.#index(named, plain, pause);
    const placed: PlacedDocument[] = [];
    for (const { repository, path, revisions, text } of documents) {
      const layered = text && this.#textsLike(text).get(text.key)!;
      const shown = layered?.isGone ? undefined : layered;
      placed.push({ repository: named.get(repository)!, path, revisions, text: shown });
      const turn = pause();
      if (turn) await turn;
    }
    this.#texts.forget(others.length);
    this.#plain.forget(plain.length);
    return this.#options.reading((disk) => {
      const snapshot = withSegments(disk, below.packed);
      return overlaidView(below, placed, this.#finder(snapshot, below.catalog, pause));
    });
  }

  #textsLike({ isPlain }: OverlayText): Texts {
    return isPlain ? this.#plain : this.#texts;
  }

  /**
   * Indexes the texts that are not in a layer yet, and marks all texts as recently used. REQUIRES: either all texts are
   * plain, or none is.
   */
  async #index(named: Named, texts: Documents, pause: Pause): Promise<void> {
    if (texts.length === 0) return;
    const known = this.#textsLike(texts[0]!.text!);
    const layers = new Map<Layer | undefined, CheckedDocument[]>([[undefined, []]]);
    for (const document of texts) {
      const text = known.get(document.text!.key);
      // if a repository was removed and indexed again, it has another number
      const isIts = text?.repository === named.get(document.repository)!.record.id;
      const layer = isIts ? text!.layer : undefined;
      const own = layers.get(layer);
      if (own) own.push(document);
      else layers.set(layer, [document]);
      const turn = pause();
      if (turn) await turn;
    }
    const missing = layers.get(undefined)!;
    layers.delete(undefined);
    if (missing.length > 0)
      await this.#addLayers(named, this.#parts(withSmallLayers(missing, layers)), pause);
    for (const own of layers.values()) for (const { text } of own) known.use(text!.key);
  }

  /**
   * Divides plain texts into a part for each thread. Other texts, and a small amount of plain text, stay in one part.
   */
  #parts(documents: Documents): Documents[] {
    const { lanes } = this.#options.pool;
    const costs = documents.map(({ text }) => text!.bytes + FILE_BYTES);
    const cost = costs.reduce((sum, one) => sum + one, 0);
    if (!documents[0]!.text!.isPlain || cost < LEAST_DIVIDED_BYTES) return [documents];
    const parts: CheckedDocument[][] = [[]];
    let own = 0;
    for (const [i, document] of documents.entries()) {
      if (own >= cost / lanes) {
        parts.push([]);
        own = 0;
      }
      parts.at(-1)!.push(document);
      own += costs[i]!;
    }
    return parts;
  }

  /** Indexes each part into its own layer. A thread begins with the first part while the next part is sorted. */
  async #addLayers(named: Named, parts: readonly Documents[], pause: Pause): Promise<void> {
    let last: Promise<unknown> = Promise.resolve();
    const added = parts.map((part) => {
      const grouped = last.then(() => byRepository(named, part, pause));
      last = grouped;
      return grouped.then((groups) => this.#addLayer(groups, pause));
    });
    await Promise.all(added);
  }

  async #addLayer(groups: readonly Group[], pause: Pause): Promise<void> {
    const { isPlain = false } = groups[0]!.own[0]!.text!;
    const layer = await this.#build(
      groups.map(({ repository, own }) => ({
        repository,
        files: own.map(({ path, text }) => ({ path, content: text!.content })),
      })),
      isPlain,
    );
    const factsOf = factsIn(layer);
    const texts = isPlain ? this.#plain : this.#texts;
    for (const [place, { repository, own }] of groups.entries()) {
      const { first } = filesOfRepository(layer.header, repository)!;
      for (const [i, { text }] of own.entries()) {
        const file = first + i;
        const isGone = layer.gone[place]![i]!;
        texts.add(text!.key, { repository, layer, file, isGone, ...factsOf(file) });
        const turn = pause();
        if (turn) await turn;
      }
    }
  }

  async #build(repositories: LayerInput["repositories"], isPlain: boolean): Promise<Layer> {
    const { pool, maxFileSize, layout } = this.#options;
    const build = (isDeadly: boolean) =>
      pool.run<Layer>(
        "overlay.layer",
        { segment: this.#nextSegment++, layout, maxFileSize, isDeadly, isPlain, repositories },
        { lane: "search", isUrgent: true },
      );
    try {
      return await build(false);
    } catch (error) {
      // a grammar may have ended the thread, so these texts are indexed without symbols
      if (error instanceof QuernError && error.code === "INTERNAL") return build(true);
      throw error;
    }
  }

  /**
   * Returns a function that finds the files of paths. The function caches the files of each path, because a followed
   * folder looks up the same paths again.
   */
  #finder(snapshot: Snapshot, { headers }: Catalog, pause: Pause): FindFiles {
    const reading = { snapshot, headers, tables: this.#options.tables, pause };
    return async (place, paths) => {
      if (paths.length > KEPT_PATHS) return findFiles(reading, place, paths);
      const found = getOrMake(this.#found, headers.get(place.segment)!, newFound);
      if (found.size > KEPT_PATHS) found.clear();
      const key = (path: string) => `${place.first}\0${path}`;
      const missing = paths.filter((path) => !found.has(key(path)));
      if (missing.length > 0) {
        const files = await findFiles(reading, place, missing);
        files.forEach((one, i) => found.set(key(missing[i]!), one));
      }
      return paths.map((path) => found.get(key(path))!);
    };
  }
}

/**
 * The texts that are in layers, by key, in the order of their last use. This is not an LruCache, because several texts
 * share the cost of a layer.
 */
class Texts {
  readonly #mostBytes: number;
  readonly #texts = new Map<OverlayText["key"], LayeredText>();
  /** The number of texts in each layer. */
  readonly #layers = new Map<Layer, number>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get(key: OverlayText["key"]): LayeredText | undefined {
    return this.#texts.get(key);
  }

  add(key: OverlayText["key"], text: LayeredText): void {
    this.#remove(key);
    this.#texts.set(key, text);
    const { layer } = text;
    const count = this.#layers.get(layer) ?? 0;
    if (count === 0) this.#bytes += packedBytes(layer.packed);
    this.#layers.set(layer, count + 1);
  }

  /** Marks a text as the most recently used one. */
  use(key: OverlayText["key"]): void {
    const used = this.#texts.get(key)!;
    this.#texts.delete(key);
    this.#texts.set(key, used);
  }

  removeAll(of: number): void {
    for (const [key, { repository }] of this.#texts) if (repository === of) this.#remove(key);
  }

  #remove(key: OverlayText["key"]): void {
    const layer = this.#texts.get(key)?.layer;
    if (!layer) return;
    this.#texts.delete(key);
    const count = this.#layers.get(layer)! - 1;
    if (count > 0) this.#layers.set(layer, count);
    else {
      this.#layers.delete(layer);
      this.#bytes -= packedBytes(layer.packed);
    }
  }

  /**
   * Removes the least recently used texts while there are too many layers, or the layers take too much memory. Keeps at
   * least the last `inUse` texts.
   */
  forget(inUse: number): void {
    for (const key of this.#texts.keys()) {
      const isTooMuch = this.#bytes > this.#mostBytes || this.#layers.size > KEPT_LAYERS;
      if (!isTooMuch || this.#texts.size <= inUse) return;
      this.#remove(key);
    }
  }
}

/**
 * Returns the texts for a new layer: the missing texts, and those of the smallest layers if there are too many layers.
 * Larger layers stay as they are. So each text moves only a few times, however many texts arrive one by one.
 */
function withSmallLayers(
  missing: Documents,
  layers: ReadonlyMap<unknown, Documents>,
): CheckedDocument[] {
  const texts = [...missing];
  if (layers.size < MOST_LAYERS) return texts;
  let left = layers.size;
  for (const own of [...layers.values()].sort((a, b) => a.length - b.length)) {
    if (left < MOST_LAYERS && own.length > texts.length) break;
    texts.push(...own);
    left--;
  }
  return texts;
}

interface Group {
  readonly repository: number;
  readonly own: Documents;
}

/** Groups documents by repository, with the lowest number first. Sorts each group by path. */
async function byRepository(named: Named, documents: Documents, pause: Pause): Promise<Group[]> {
  const groups = new Map<number, CheckedDocument[]>();
  for (const document of documents) {
    const { id } = named.get(document.repository)!.record;
    const group = groups.get(id);
    if (group) group.push(document);
    else groups.set(id, [document]);
  }
  const compare = (a: CheckedDocument, b: CheckedDocument) => comparePaths(a.path, b.path);
  const sorted: Group[] = [];
  for (const [repository, own] of [...groups].sort(([a], [b]) => a - b))
    sorted.push({ repository, own: await sortInSlices(own, compare, pause) });
  return sorted;
}

function factsIn({ packed, header }: Layer): (file: number) => FileFacts {
  const headers = new Map([[packed.segment, header]]);
  return fileFacts({ snapshot: openPacked(packed), headers }, packed.segment);
}
