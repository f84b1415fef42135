/**
 * Indexes any number of sources in one run. Files of several repositories may be written to the same segment. A
 * repository is published in a transaction of its own, as soon as all segments with its files are complete. After a
 * failure or an abort, searches see only the repositories that were published before.
 */

import { isAbsolute } from "node:path";
import { QuernError } from "../../base/errors.ts";
import type { Pause } from "../../base/yield.ts";
import { loadCatalog, repositoryNamed, type Catalog } from "../../store/catalog/catalog.ts";
import type { Environment, Writer } from "../../store/lmdb/environment.ts";
import type { NewLayout } from "../../store/format/format.ts";
import { readManifest, type ManifestSegment } from "../../store/catalog/manifest.ts";
import type { Lease } from "../../store/lmdb/lease.ts";
import type { KeptTables } from "../../store/segments/kept-tables.ts";
import type { WrittenSegment } from "../../store/segments/segment-writer.ts";
import type { Pool } from "../../threads/pool.ts";
import type { RunBounds } from "./bounds.ts";
import { DiskRoom } from "./disk-room.ts";
import { Dispatcher } from "./dispatcher.ts";
import { checkedMetadata, checkedName } from "../sources/metadata.ts";
import { aborted, throwIfAborted } from "../../base/abort.ts";
import { HostCalls } from "./host-calls.ts";
import { Origins } from "./origins.ts";
import { publishRepository, summarize, type Summary } from "./publish.ts";
import { readContents, tooMuchContent } from "./read-contents.ts";
import type { IndexProgress, IndexReport } from "./report.ts";
import { beginRepository, type RepositoryRun, type Target } from "./repository-run.ts";
import type { Indexed, Listing, ListingOptions, Source } from "../sources/source.ts";
import { walkElsewhere } from "../sources/walk-elsewhere.ts";

export interface RunOptions {
  readonly environment: Environment;
  /** The catalog of an earlier generation. The run reuses its unchanged parts. */
  readonly catalog: Catalog;
  readonly pool: Pool;
  readonly lease: Lease;
  readonly maxFileSize: number;
  readonly memoryBudget: number;
  readonly bounds: RunBounds;
  readonly layout: NewLayout;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: IndexProgress) => void;
  readonly pause: Pause;
  readonly tables: KeptTables;
  /** Called with a repository's name before the repository is indexed for the first time. */
  readonly onBegin: (repository: string) => void;
  /** Called with a repository's name when searches see its new content. */
  readonly onPublished: (repository: string) => void;
}

/** Indexes the sources. REQUIRES: the lease is held. */
export async function indexSources(
  sources: Iterable<Source> | AsyncIterable<Source>,
  options: RunOptions,
): Promise<IndexReport[]> {
  const catalog = await newestCatalog(options, options.catalog);
  const host = new HostCalls(options.signal);
  const run = new IndexRun(options, { catalog, host });
  try {
    if (Array.isArray(sources)) await run.admitAll(sources);
    for await (const source of host.each(sources)) await run.add(source);
    await run.finish();
  } catch (error) {
    await run.discard();
    throw options.signal.aborted && !(error instanceof QuernError)
      ? aborted(options.signal)
      : error;
  } finally {
    host[Symbol.dispose]();
  }
  return run.reports;
}

async function newestCatalog(
  { environment, pause }: Pick<RunOptions, "environment" | "pause">,
  before: Catalog,
): Promise<Catalog> {
  const snapshot = environment.snapshot();
  try {
    return await loadCatalog(snapshot, before, pause);
  } finally {
    snapshot.close();
  }
}

class IndexRun {
  readonly reports: IndexReport[] = [];
  readonly #options: RunOptions;
  readonly #host: HostCalls;
  readonly #dispatcher: Dispatcher;
  readonly #origins: Origins;
  readonly #room: DiskRoom;
  #catalog: Catalog;
  #nextRepository: number;
  /** The repositories whose segments are not yet complete, by name, in the order of the sources. */
  readonly #waiting = new Map<string, RepositoryRun>();
  /** The waiting repositories, and the one that is being read, by repository id. */
  readonly #opened = new Map<number, RepositoryRun>();
  /** The segments that are written, but not yet in the manifest. */
  #segments: ManifestSegment[] = [];

  constructor(
    options: RunOptions,
    { catalog, host }: { readonly catalog: Catalog; readonly host: HostCalls },
  ) {
    this.#options = options;
    this.#host = host;
    this.#origins = new Origins(options.signal, host);
    this.#room = new DiskRoom(options.environment.path);
    this.#catalog = catalog;
    this.#nextRepository = catalog.manifest.nextRepository;
    this.#dispatcher = new Dispatcher({
      pool: options.pool,
      owner: options.lease.owner,
      maxFileSize: options.maxFileSize,
      memoryBudget: options.memoryBudget,
      bounds: options.bounds,
      layout: options.layout,
      firstSegment: catalog.manifest.nextSegment,
      onSegment: (written) => this.#addSegment(written),
    });
  }

  /** Checks the names of all sources, before any source is read. */
  async admitAll(sources: readonly Source[]): Promise<void> {
    for (const source of sources) {
      throwIfAborted(this.#options.signal);
      await this.#options.pause();
      await this.#admit(source);
    }
  }

  async #admit(source: Source): Promise<void> {
    const name = checkedName("index", source.name);
    return this.#origins.admit(source, repositoryNamed(this.#catalog, name)?.record.origin);
  }

  async add(source: Source): Promise<void> {
    throwIfAborted(this.#options.signal);
    await this.#options.pause();
    await this.#admit(source);
    if (this.#waiting.has(source.name)) await this.finish();
    const target = await this.#target(source);
    const { signal, maxFileSize, onBegin, pool } = this.#options;
    if (!target.known) onBegin(target.name);
    const revisions = this.#indexed(target);
    const startedAt = performance.now();
    const listing = await this.#open(
      source,
      { revisions },
      listingOptions(pool, { signal, maxFileSize }),
    );
    try {
      const run = await this.#read(checkedListing(source, listing, revisions), target);
      run.readingMs = performance.now() - startedAt;
    } finally {
      await this.#host.wait(listing.close());
    }
    await this.#publishComplete();
  }

  async #open(source: Source, indexed: Indexed, options: ListingOptions): Promise<Listing> {
    const opening = source.open(indexed, options);
    try {
      return await this.#host.wait(opening);
    } catch (error) {
      // if the source answers after the run has given it up, nobody else closes the listing
      opening.then((late) => late.close()).catch(() => undefined);
      throw error;
    }
  }

  async #target(source: Source): Promise<Target> {
    const name = checkedName("index", source.name);
    const known = repositoryNamed(this.#catalog, name);
    const id = known?.record.id ?? this.#nextRepository++;
    const metadata = checkedMetadata("index", source.metadata ?? {});
    const origin = await this.#origins.of(source);
    return { id, name, metadata, origin, history: source.history, known };
  }

  /**
   * Returns the indexed revisions, with which the source compares its current state. A revision must be listed in
   * full if some of its files could not be read, or if the maximum file size has changed.
   */
  #indexed({ known }: Target): Indexed["revisions"] {
    if (!known) return [];
    const { record } = known;
    const unread = new Set(record.unread);
    return record.revisions.map((revision) =>
      record.maxFileSize === this.#options.maxFileSize && !unread.has(revision.name)
        ? revision
        : { ...revision, mustBeListed: true },
    );
  }

  async #read(listing: Listing, target: Target): Promise<RepositoryRun> {
    const run = await this.#begin(listing, target);
    this.#opened.set(run.id, run);
    const { signal, bounds, onProgress } = this.#options;
    const [dispatcher, room, host] = [this.#dispatcher, this.#room, this.#host];
    const reading = { signal, bounds, onProgress, dispatcher, room, host };
    await readContents(run, listing, reading);
    this.#waiting.set(target.name, run);
    return run;
  }

  async #begin(listing: Listing, target: Target): Promise<RepositoryRun> {
    const { environment, pause, tables } = this.#options;
    const snapshot = environment.snapshot();
    try {
      const index = { catalog: this.#catalog, snapshot, pause, tables };
      return await beginRepository(target, listing, index);
    } finally {
      snapshot.close();
    }
  }

  #addSegment({ sets, ...written }: WrittenSegment): void {
    this.#segments.push({ ...written, symbols: 0, hasSymbols: false });
    for (const set of sets) this.#opened.get(set.repository)?.newSets.push(set);
  }

  /** Finishes all open segments, and then publishes all repositories that are waiting. */
  async finish(): Promise<void> {
    await this.#dispatcher.finish();
    await this.#publishComplete();
    this.#catalog = await newestCatalog(this.#options, this.#catalog);
  }

  async #publishComplete(): Promise<void> {
    const complete = [...this.#waiting.values()].filter(
      ({ id }) => !this.#dispatcher.isOpenFor(id),
    );
    for (const run of complete) {
      throwIfAborted(this.#options.signal);
      this.#options.onProgress(run.progress("publish"));
      const segments = this.#segments;
      const { nextSegment } = this.#dispatcher;
      const { lease, environment, maxFileSize, bounds, pause } = this.#options;
      const { owner } = lease;
      const summary = await summarize(run, maxFileSize, pause);
      if (summary.record.contentBytes > bounds.mostContentBytes) throw tooMuchContent(run, bounds);
      await environment.texts.sync(segments.map(({ segment }) => segment));
      await this.#publish(run, (writer) =>
        publishRepository(writer, { run, summary, owner, segments, nextSegment }),
      );
      this.#segments = this.#segments.slice(segments.length);
      this.#waiting.delete(run.target.name);
      this.#opened.delete(run.id);
      this.reports.push(report(run, summary));
    }
  }

  /**
   * Runs the transaction that publishes a repository. If the disk fails while a transaction is flushed, the transaction
   * is rejected although searches see its changes.
   */
  async #publish(run: RepositoryRun, publish: (writer: Writer) => void): Promise<void> {
    const { environment, onPublished } = this.#options;
    let generation = Infinity;
    try {
      await environment.write((writer) => {
        publish(writer);
        ({ generation } = readManifest(writer));
      });
    } catch (error) {
      const now = await newestCatalog(this.#options, this.#catalog).catch(() => undefined);
      if (now && now.manifest.generation >= generation) onPublished(run.target.name);
      throw error;
    }
    onPublished(run.target.name);
  }

  async discard(): Promise<void> {
    await this.#dispatcher.discard();
  }
}

/** Lets sources walk folders on a worker, if there are workers, because a walk may wait for the disk. */
function listingOptions(pool: Pool, options: ListingOptions): ListingOptions {
  return pool.inline ? options : { ...options, walk: (tree) => walkElsewhere(pool, tree, options) };
}

function report(run: RepositoryRun, summary: Summary): IndexReport {
  const { record, skipped, added, removed, unchanged } = summary;
  return {
    repositoryId: run.id,
    repository: record.name,
    revisions: record.revisions.map(({ name, commit, files }) => ({
      name,
      ...(commit === undefined ? {} : { commit }),
      files,
    })),
    added,
    removed,
    unchanged,
    skipped: [...skipped],
    bytesRead: run.bytesRead,
    symbols: 0,
    withoutSymbols: [],
    durationMs: run.readingMs,
  };
}

/**
 * Checks a listing, which may come from a source that the host has written. So a wrong listing cannot damage the
 * index.
 */
function checkedListing(
  source: Source,
  listing: Listing,
  indexed: readonly { readonly name: string }[],
): Listing {
  const names = listing.revisions.map(({ name }) => name);
  const problem =
    names.length === 0
      ? "lists no revision"
      : names.length > 65_535
        ? "lists more than 65 535 revisions"
        : new Set(names).size < names.length
          ? "lists a revision twice"
          : listing.revisions.some(
                ({ base }) => base !== undefined && !indexed.some(({ name }) => name === base),
              )
            ? "names a base that is not indexed"
            : isBadFolder(listing.gitFolder)
              ? "gives a gitFolder that is not an absolute path"
              : source.history && listing.gitFolder === undefined
                ? "has a history but gives no gitFolder"
                : undefined;
  if (problem) throw new QuernError("INVALID_REQUEST", `the source of ${source.name} ${problem}`);
  return listing;
}

const isBadFolder = (folder: unknown): boolean =>
  folder !== undefined &&
  (typeof folder !== "string" || !isAbsolute(folder) || folder.includes("\0"));
