/**
 * Reads repositories, files and folders for an open engine. All reads run on the calling thread, and regularly yield
 * to the event loop. Each call reads from a snapshot of its own.
 */

import { closedError, invalid } from "./base/errors.ts";
import { withoutEndSlashes } from "./base/paths.ts";
import { newPause } from "./base/yield.ts";
import { checkPage, lookUp, pageByName } from "./repositories.ts";
import { describe, type FileContent, type FolderEntry, type Repository } from "./repository.ts";
import { presentContent, type WebUrl } from "./search/caller/present.ts";
import type { Viewer } from "./search/messages/request.ts";
import { readSkipped, type Catalog, type CatalogRepository } from "./store/catalog/catalog.ts";
import { listFolder, listPaths, readFile, type Reading } from "./store/catalog/repository-files.ts";
import type { View } from "./store/catalog/view.ts";
import type { Environment, Snapshot } from "./store/lmdb/environment.ts";
import type { RepositoryRecord } from "./store/format/records.ts";
import { withSegments } from "./store/memory/memory-store.ts";
import { symbolProgress } from "./store/symbols/symbol-progress.ts";

export interface ReaderOptions {
  readonly environment: Environment;
  /** Resolves to the catalog of the newest generation. */
  readonly newest: () => Promise<Catalog>;
  /** Returns the names of the repositories that are being indexed for the first time. */
  readonly indexing: () => ReadonlySet<string>;
  readonly webUrl: WebUrl;
}

interface Place {
  readonly repository: string;
  readonly path: string;
  readonly revision?: string;
}

interface FoundPlace {
  readonly repository: CatalogRepository;
  /** The index of the revision in the repository's list of revisions. */
  readonly position: number;
}

export class Reader {
  readonly #options: ReaderOptions;
  /** The reads that are running. close() waits for them. */
  readonly #readings = new Set<Promise<unknown>>();
  /**
   * The pause that all reads share. If each read had a new pause, a host that reads many small files one after
   * another would never yield.
   */
  readonly #pause = newPause();
  #isClosed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  async repository(
    nameOrId: string | number,
    viewer: Viewer | undefined,
  ): Promise<Repository | undefined> {
    if (typeof nameOrId !== "string" && typeof nameOrId !== "number")
      throw invalid(`repository must be a name or an id, got ${typeof nameOrId}`);
    const catalog = await this.#options.newest();
    const found = lookUp(catalog, nameOrId, viewer);
    return found && (await this.#describe(catalog, [found]))[0];
  }

  async repositories(page: {
    viewer?: Viewer;
    query?: string;
    after?: string;
    limit?: number;
  }): Promise<Repository[]> {
    checkPage(page);
    const { viewer, query = "", after, limit = Infinity } = page;
    const catalog = await this.#options.newest();
    return this.#describe(catalog, await pageByName(catalog, { viewer, query, after, limit }));
  }

  /**
   * Resolves to the repositories with these ids. Leaves out ids that do not exist. The counts of symbols cover only
   * the segments of the view.
   */
  described(ids: readonly number[], { catalog }: View): Promise<Repository[]> {
    const segments = new Set(catalog.manifest.segments.map(({ segment }) => segment));
    const found = ids.flatMap((id): CatalogRepository[] => {
      const one = catalog.repositories.get(id);
      return one
        ? [{ ...one, places: one.places.filter(({ segment }) => segments.has(segment)) }]
        : [];
    });
    return this.#describe(catalog, found);
  }

  #describe(catalog: Catalog, found: readonly CatalogRepository[]): Promise<Repository[]> {
    const indexing = this.#options.indexing();
    return this.reading(async (snapshot) => {
      const described: Repository[] = [];
      const progressOf = symbolProgress(snapshot, catalog);
      for (const one of found) {
        await this.#pause();
        described.push({
          ...describe(one, indexing.has(one.record.name)),
          symbols: progressOf(one),
          skipped: await readSkipped(snapshot, one.record.id, this.#pause),
        });
      }
      return described;
    });
  }

  async read(
    file: Place,
    viewer: Viewer | undefined,
    view: View,
  ): Promise<FileContent | undefined> {
    const found = find(file, viewer, view);
    if (!found) return undefined;
    const { repository, position } = found;
    const stored = await this.#readingIn(view, (reading) =>
      readFile(reading, repository, position, file.path),
    );
    if (!stored) return undefined;
    const { record } = repository;
    const revision = record.revisions[position]!.name;
    return this.present(record, { path: file.path, revision, ...stored });
  }

  /** Creates the result of read() for one file. */
  present(
    record: RepositoryRecord,
    file: Parameters<typeof presentContent>[1],
  ): Promise<FileContent> {
    return presentContent(record, file, { webUrl: this.#options.webUrl, pause: this.#pause });
  }

  async list(
    folder: Place,
    viewer: Viewer | undefined,
    view: View,
  ): Promise<FolderEntry[] | undefined> {
    const found = find(folder, viewer, view);
    if (!found) return undefined;
    const path = withoutEndSlashes(folder.path);
    const { repository, position } = found;
    return this.#readingIn(view, (reading) => listFolder(reading, repository, position, path));
  }

  async paths(
    of: Omit<Place, "path">,
    viewer: Viewer | undefined,
    view: View,
  ): Promise<string[] | undefined> {
    const found = find({ ...of, path: "" }, viewer, view);
    if (!found) return undefined;
    const { repository, position } = found;
    return this.#readingIn(view, (reading) => listPaths(reading, repository, position));
  }

  #readingIn<T>({ catalog, packed }: View, read: (reading: Reading) => Promise<T>): Promise<T> {
    const { headers } = catalog;
    return this.reading((disk) =>
      read({ snapshot: withSegments(disk, packed), headers, pause: this.#pause }),
    );
  }

  /** Calls `read` with a new snapshot, and closes the snapshot when `read` has ended. close() waits until then. */
  async reading<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw closedError();
    const snapshot = this.#options.environment.snapshot();
    const reading = read(snapshot).finally(() => {
      snapshot.close();
      this.#readings.delete(reading);
    });
    this.#readings.add(reading);
    return reading;
  }

  /** Makes new reads reject. Resolves when all running reads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#readings);
  }
}

/**
 * Returns the repository and the index of the revision. Returns undefined if one of them does not exist, or if the
 * viewer may not see the repository.
 */
function find(asked: Place, viewer: Viewer | undefined, { catalog }: View): FoundPlace | undefined {
  if (typeof asked.repository !== "string" || typeof asked.path !== "string")
    throw invalid("repository and path must be strings");
  const repository = lookUp(catalog, asked.repository, viewer);
  if (!repository) return undefined;
  const { revisions } = repository.record;
  const position =
    asked.revision === undefined
      ? 0
      : revisions.findIndex(
          ({ name, commit }) => name === asked.revision || commit === asked.revision,
        );
  return position < 0 ? undefined : { repository, position };
}
