/**
 * Compares the listing of one repository with the index. If a file is already indexed with the same path and version,
 * the run only sets a bit for it. All other files go to the threads in batches. The result is one set of files for
 * each revision and segment.
 */

import { hash } from "node:crypto";
import { compareText } from "../../base/compare.ts";
import { QuernError } from "../../base/errors.ts";
import { clearBit, countBits, emptyBitset, setBit, unite, type Bitset } from "../../base/bitset.ts";
import { sortInSlices } from "../../base/sort.ts";
import type { Pause } from "../../base/yield.ts";
import { readSkipped, type Catalog, type CatalogRepository } from "../../store/catalog/catalog.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { HASH_BYTES } from "../../store/format/format.ts";
import type {
  Origin,
  RepositoryMetadata,
  SkippedFile,
  SkipReason,
} from "../../store/format/records.ts";
import type { RevisionSet } from "../../store/segments/segment-writer.ts";
import type { KeptTables } from "../../store/segments/kept-tables.ts";
import { skipReason } from "../../store/segments/segment-tables.ts";
import type { BatchFile, Outcome } from "./batch.ts";
import { openFinder, type Finder, type FoundFile } from "./finder.ts";
import type { IndexProgress } from "./report.ts";
import type {
  Entry,
  FileEntry,
  HistoryLimits,
  ListedRevision,
  Listing,
  SkippedEntry,
} from "../sources/source.ts";

const NO_VERSION = new Uint8Array(HASH_BYTES);
/**
 * The number of bytes of a version's hash that are stored for a file on disk. So few are enough for two reasons. A
 * version is compared only with the previous version of the same path, so a change is missed by chance once in 2^64
 * changes. And the owner of a file on disk gains nothing by hiding a change from the index. For git and documents(),
 * the whole hash is stored. Otherwise somebody could make two git blobs whose hashes begin with the same 8 bytes. The
 * index would then miss a change from one blob to the other.
 */
const DISK_VERSION_BYTES = 8;
const NO_HASHES = new Uint8Array(0);
/** The reasons for which a skipped file is only listed. No search finds such a file, not even by its path. */
const NOT_FOUND_BY_PATH: ReadonlySet<SkipReason> = new Set([
  "submodule",
  "symlink",
  "invalid-path",
]);

/** A file that is to be sent to a thread, before its content is read. */
export interface Wanted {
  readonly file: Omit<BatchFile, "content">;
  readonly content: FileEntry["content"] | { readonly skipped: SkipReason };
  /** The indexes of the revisions that contain the file, in RepositoryRun.revisions. */
  readonly revisions: readonly number[];
  /** The file's size in bytes, or 0 if the listing does not report it. */
  readonly size: number;
  /** The indexed files that have this path and a content, in the order of `file.known`. */
  readonly hashed: readonly FoundFile[];
  /** The indexed files that have this path, but no content. */
  readonly others: readonly FoundFile[];
}

export interface Target {
  readonly id: number;
  readonly name: string;
  readonly metadata: RepositoryMetadata;
  readonly origin: Origin | undefined;
  readonly history: HistoryLimits | undefined;
  readonly known: CatalogRepository | undefined;
}

export class RepositoryRun {
  readonly id: number;
  readonly target: Target;
  readonly gitFolder: string | undefined;
  readonly revisions: readonly (ListedRevision & { readonly number: number })[];
  readonly finder: Finder;
  /** For each place and each revision, the files of the place that the revision contains. */
  readonly sets: readonly (readonly Bitset[])[];
  readonly newSets: RevisionSet[] = [];
  /** The indexes of the places whose stored versions must be written again. */
  readonly reversioned = new Set<number>();
  readonly #versionBytes: number;
  readonly #skipped = new Map<string, SkippedFile>();
  /**
   * The skipped files that the index lacks, by reason and path. So a file that several revisions skip has one entry.
   */
  readonly #unlisted = new Map<string, Wanted>();
  /** The time that listing and reading took, in milliseconds. */
  readingMs = 0;
  listed = 0;
  taken = 0;
  added = 0;
  bytesRead = 0;
  /** The number of bytes that were read or will be read. A file of unknown size counts as 0 until it is read. */
  bytesWanted = 0;
  newTextBytes = 0;

  /** Prepares to process the listing. `before` contains the skipped files that the last run has stored. */
  constructor(target: Target, listing: Listing, finder: Finder, before: readonly SkippedFile[]) {
    this.id = target.id;
    this.target = target;
    this.gitFolder = listing.gitFolder;
    this.#versionBytes = listing.hasShortVersions ? DISK_VERSION_BYTES : HASH_BYTES;
    this.revisions = numbered(listing.revisions, target.known);
    this.finder = finder;
    this.sets = finder.places.map((place) =>
      this.revisions.map(({ base }) => {
        const before = base === undefined ? undefined : place.sets[this.#indexOf(base)];
        return before?.slice() ?? emptyBitset(place.count);
      }),
    );
    this.#keepSkipped(before);
  }

  #indexOf(revision: string): number {
    return this.target.known?.record.revisions.findIndex(({ name }) => name === revision) ?? -1;
  }

  #keepSkipped(before: readonly SkippedFile[]): void {
    for (const { name, base } of this.revisions) {
      if (base === undefined) continue;
      for (const skipped of before)
        if (skipped.revision === base) this.#noteSkipped(skipped.path, name, skipped.reason);
    }
  }

  #noteSkipped(path: string, revision: string, reason: SkipReason): void {
    this.#skipped.set(`${revision}\0${path}`, { path, revision, reason });
  }

  /** Resolves to the skipped files, sorted by path, then by revision. */
  skipped(pause: Pause): Promise<SkippedFile[]> {
    return sortInSlices(
      [...this.#skipped.values()],
      (a, b) => compareText(a.path, b.path) || compareText(a.revision, b.revision),
      pause,
    );
  }

  /** Processes one entry of the listing. Returns a file if its content must be read. */
  list(entry: Entry): Wanted | undefined {
    const path = Buffer.from(entry.path);
    const found = this.finder.find(path);
    this.#forget(entry, found);
    if (entry.kind === "removed") return undefined;
    this.listed++;
    return entry.kind === "file" ? this.#listFile(entry, found) : this.#listSkipped(entry, found);
  }

  /**
   * Removes the indexed files at the entry's path from every revision of the entry that has a base. For such a
   * revision, the entry is a change, and replaces everything that the base has at that path.
   */
  #forget({ path, revisions }: Entry, found: readonly FoundFile[]): void {
    for (const revision of revisions) {
      const { name, base } = this.revisions[revision]!;
      if (base === undefined) continue;
      for (const { place, index } of found) clearBit(this.sets[place]![revision]!, index);
      this.#skipped.delete(`${name}\0${path}`);
    }
  }

  #listFile(entry: FileEntry, found: readonly FoundFile[]): Wanted | undefined {
    const version = this.#hashOf(entry.version);
    const same = found.find((file) => this.#isSame(file, version));
    if (same) {
      this.#name(same, entry.revisions);
      const reason = skipReason(this.finder.flags(same));
      if (reason) this.#skip(entry, reason);
      this.taken++;
      return undefined;
    }
    const wanted = this.#want(entry, version, found, entry.content);
    this.bytesWanted += wanted.size;
    return wanted;
  }

  #hashOf(version: string | undefined): Uint8Array {
    return version === undefined ? NO_VERSION : versionHash(version, this.#versionBytes);
  }

  /**
   * Returns whether the content of an indexed file still has the given version. A file that was too large or unreadable
   * counts as changed, because quern may be able to read it now.
   */
  #isSame(file: FoundFile, version: Uint8Array): boolean {
    if (version === NO_VERSION || Buffer.compare(this.finder.version(file), version) !== 0)
      return false;
    const reason = skipReason(this.finder.flags(file));
    return reason === undefined || reason === "binary";
  }

  #listSkipped(entry: SkippedEntry, found: readonly FoundFile[]): Wanted | undefined {
    const { reason } = entry;
    if (NOT_FOUND_BY_PATH.has(reason)) {
      this.#skip(entry, reason);
      this.taken++;
      return undefined;
    }
    this.taken++;
    this.#settleSkipped(this.#want(entry, NO_VERSION, found, { skipped: reason }), reason);
    return undefined;
  }

  #want(
    entry: FileEntry | SkippedEntry,
    version: Uint8Array,
    found: readonly FoundFile[],
    content: Wanted["content"],
  ): Wanted {
    const hashed = found.filter((file) => this.finder.hash(file) !== undefined);
    const others = found.filter((file) => this.finder.hash(file) === undefined);
    const file = {
      path: entry.path,
      version,
      // these are revision numbers and not indexes, because the stored sets have the numbers in their keys
      revisions: entry.revisions.map((revision) => this.revisions[revision]!.number),
      known:
        hashed.length === 0
          ? NO_HASHES
          : Buffer.concat(hashed.map((one) => this.finder.hash(one)!)),
    };
    return { file, content, revisions: entry.revisions, size: sizeOf(entry), hashed, others };
  }

  /** Processes the result that a thread has returned for a file. */
  settle(wanted: Wanted, outcome: Outcome): void {
    const { file, revisions, hashed } = wanted;
    if (outcome.kind === "listed") return;
    this.bytesRead += outcome.bytes;
    this.bytesWanted += outcome.bytes - wanted.size;
    this.taken++;
    switch (outcome.kind) {
      case "added":
        this.added++;
        this.newTextBytes += outcome.textBytes;
        return;
      case "same":
        this.#reversion(hashed[outcome.known]!, file.version);
        this.#name(hashed[outcome.known]!, revisions);
        return;
      case "skipped":
        this.#settleSkipped(wanted, outcome.reason);
    }
  }

  #settleSkipped(wanted: Wanted, reason: SkipReason): void {
    const { file, revisions, others } = wanted;
    const known = others.find((one) => skipReason(this.finder.flags(one)) === reason);
    if (known) {
      this.#reversion(known, file.version);
      this.#name(known, revisions);
    } else this.#noteUnlisted(wanted, reason);
    this.#skip({ path: file.path, revisions }, reason);
  }

  #noteUnlisted(wanted: Wanted, reason: SkipReason): void {
    const key = `${reason}\0${wanted.file.path}`;
    const before = this.#unlisted.get(key)?.file.revisions ?? [];
    const revisions = [...before, ...wanted.file.revisions];
    this.#unlisted.set(key, {
      ...wanted,
      file: { ...wanted.file, revisions },
      content: { skipped: reason },
    });
  }

  /** The files that are to be added without content. The list is complete when all other files have their results. */
  get unlisted(): Iterable<Wanted> {
    return this.#unlisted.values();
  }

  /** Replaces the version of a file whose content is unchanged, so that the next run does not read the file again. */
  #reversion(file: FoundFile, version: Uint8Array): void {
    if (version === NO_VERSION || Buffer.compare(this.finder.version(file), version) === 0) return;
    this.finder.version(file).set(version);
    this.reversioned.add(file.place);
  }

  #name({ place, index }: FoundFile, revisions: readonly number[]): void {
    for (const revision of revisions) setBit(this.sets[place]![revision]!, index);
  }

  #skip(
    { path, revisions }: { path: string; revisions: readonly number[] },
    reason: SkipReason,
  ): void {
    for (const revision of revisions)
      this.#noteSkipped(path, this.revisions[revision]!.name, reason);
  }

  progress(stage: "list" | "content" | "publish"): IndexProgress {
    const { target, taken, listed, bytesRead, bytesWanted } = this;
    return {
      repository: target.name,
      stage,
      done: stage === "list" ? listed : taken,
      total: listed,
      bytes: bytesRead,
      totalBytes: bytesWanted,
    };
  }

  /** Counts the files of a revision, in old and new segments. */
  filesOf(revision: number): number {
    const { number } = this.revisions[revision]!;
    const old = this.sets.reduce((sum, sets) => sum + countBits(sets[revision]!), 0);
    const added = this.newSets.filter((set) => set.revision === number);
    return old + added.reduce((sum, { bits }) => sum + countBits(bits), 0);
  }

  /** Returns the files of a place that were live before this run, and those that are live after it. */
  live(place: number): { before: Bitset; after: Bitset } {
    const { count, sets } = this.finder.places[place]!;
    const before = emptyBitset(count);
    for (const set of sets) if (set) unite(before, set);
    const after = emptyBitset(count);
    for (const set of this.sets[place]!) unite(after, set);
    return { before, after };
  }
}

/** Prepares the run for one repository. REQUIRES: the snapshot stays open until the promise resolves. */
export async function beginRepository(
  target: Target,
  listing: Listing,
  index: {
    readonly catalog: Catalog;
    readonly snapshot: Snapshot;
    readonly pause: Pause;
    readonly tables: KeptTables;
  },
): Promise<RepositoryRun> {
  const { id, known } = target;
  const hasBase = listing.revisions.some(({ base }) => base !== undefined);
  if (hasBase && known?.record.isPartial)
    throw new QuernError(
      "INDEX_CORRUPT",
      `cannot index changes of ${target.name}: an object of the cluster is damaged, so a part of its index is lost; index all its files`,
    );
  const kept = hasBase ? index.tables : undefined; // a source that sends changes will probably send more
  const finder = await openFinder(known?.places ?? [], { ...index, repository: id, kept });
  const before = known && hasBase ? await readSkipped(index.snapshot, id, index.pause) : [];
  return new RepositoryRun(target, listing, finder, before);
}

function sizeOf(entry: FileEntry | SkippedEntry): number {
  if (entry.kind === "skipped") return 0;
  return entry.size ?? ("bytes" in entry.content ? entry.content.bytes.length : 0);
}

/**
 * Assigns numbers to the listed revisions. A known revision keeps its number, and a new one gets the lowest free
 * number.
 */
function numbered(
  listed: readonly ListedRevision[],
  known: CatalogRepository | undefined,
): (ListedRevision & { number: number })[] {
  const before = new Map(known?.record.revisions.map(({ name, number }) => [name, number]));
  const taken = new Set(before.values());
  let next = 0;
  return listed.map((revision) => {
    const number = before.get(revision.name);
    if (number !== undefined) return { ...revision, number };
    while (taken.has(next)) next++;
    taken.add(next);
    return { ...revision, number: next };
  });
}

/** Returns the first `bytes` bytes of a version's hash, padded with zeros to HASH_BYTES. */
function versionHash(version: string, bytes: number): Uint8Array {
  const padded = new Uint8Array(HASH_BYTES);
  padded.set(hash("sha256", version, "buffer").subarray(0, bytes));
  return padded;
}
