/**
 * Finds the indexed files of a repository by path. Each segment that has files of the repository is searched
 * separately. The paths in segments and in listings usually have the same order. So each search begins where the
 * previous one ended, and doubles its step until it has passed the path.
 */

import { firstIndex } from "../../base/binary-search.ts";
import { clearBit, forEachBit, hasBit, intersect, type Bitset } from "../../base/bitset.ts";
import type { Pause } from "../../base/yield.ts";
import type { Catalog, Place } from "../../store/catalog/catalog.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { HASH_BYTES, NO_BLOB } from "../../store/format/format.ts";
import { readTables, type FileTables, type KeptTables } from "../../store/segments/kept-tables.ts";
import { readVersions } from "../../store/segments/file-versions.ts";

/** An indexed file, as a place and an index. A place is the range of files that a repository has in one segment. */
export interface FoundFile {
  readonly place: number;
  /** The index of the file, counted from the place's first file. */
  readonly index: number;
}

export class Finder {
  readonly places: readonly Place[];
  readonly #tables: readonly Tables[];

  constructor(places: readonly Place[], tables: readonly Tables[]) {
    this.places = places;
    this.#tables = tables;
  }

  /**
   * Returns all files with this path. A returned file may be dead, which means that no revision contains it any more.
   */
  find(path: Uint8Array): FoundFile[] {
    const found: FoundFile[] = [];
    this.#tables.forEach((tables, place) => {
      let index = seek(tables, path);
      for (; index < tables.count && comparePath(tables, index, path) === 0; index++)
        found.push({ place, index });
      tables.next = index;
    });
    return found;
  }

  version({ place, index }: FoundFile): Uint8Array {
    return this.#tables[place]!.versions.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
  }

  /**
   * Returns the version hashes of all files of a place. The caller may modify the returned bytes and store them
   * again.
   */
  versions(place: number): Uint8Array {
    return this.#tables[place]!.versions;
  }

  /** Returns the hash of a file's content, or undefined if the file has no content. */
  hash({ place, index }: FoundFile): Uint8Array | undefined {
    const { files, first, hashes } = this.#tables[place]!;
    const blob = files.blobs[first + index]!;
    return blob === NO_BLOB
      ? undefined
      : hashes.subarray(blob * HASH_BYTES, (blob + 1) * HASH_BYTES);
  }

  flags({ place, index }: FoundFile): number {
    const { files, first } = this.#tables[place]!;
    return files.flags[first + index]!;
  }

  /** Returns the files of `set` that have content. `set` is a set of files of the place. */
  searchable(place: number, set: Bitset): Bitset {
    const { searchable, first } = this.#tables[place]!;
    const out = set.slice();
    if (first === 0) return intersect(out, searchable);
    forEachBit(set, (index) => {
      if (!hasBit(searchable, first + index)) clearBit(out, index);
    });
    return out;
  }

  /** Returns the total size of the contents of the files in `set`, in bytes. `set` is a set of files of the place. */
  contentBytes(place: number, set: Bitset): number {
    const { files, first, blobStarts } = this.#tables[place]!;
    let bytes = 0;
    forEachBit(set, (index) => {
      const blob = files.blobs[first + index]!;
      if (blob !== NO_BLOB) bytes += blobStarts[blob + 1]! - blobStarts[blob]!;
    });
    return bytes;
  }
}

interface Tables extends FileTables {
  readonly first: number;
  readonly count: number;
  readonly versions: Uint8Array;
  next: number;
}

interface Opening {
  readonly snapshot: Snapshot;
  readonly catalog: Catalog;
  readonly repository: number;
  readonly pause: Pause;
  /** A cache that keeps the tables for later runs. Undefined if no similar run is expected soon. */
  readonly kept: KeptTables | undefined;
}

/**
 * Opens a finder, with pauses so that the event loop is not blocked. For 78 000 files this takes 10 ms, or 25 ms
 * before V8 has optimized the loop. REQUIRES: the snapshot stays open until the promise resolves.
 */
export async function openFinder(places: readonly Place[], opening: Opening): Promise<Finder> {
  const tables: Tables[] = [];
  for (const place of places) tables.push(await openTables(place, opening));
  return new Finder(places, tables);
}

async function openTables(
  { segment, first, count }: Place,
  { snapshot, catalog, repository, pause, kept }: Opening,
): Promise<Tables> {
  const header = catalog.headers.get(segment)!;
  const tables = kept?.get(segment) ?? (await readTables(snapshot, segment, header, pause));
  kept?.keep(segment, tables);
  const versions = readVersions(snapshot, { repository, segment, count });
  return { ...tables, first, count, versions, next: 0 };
}

/**
 * Returns the index of the first file whose path is equal to `path` or sorts after it. The search begins at `next`,
 * where the previous one ended, because paths are usually looked up in order.
 */
function seek(tables: Tables, path: Uint8Array): number {
  const { next, count } = tables;
  const isBehind = (index: number) => comparePath(tables, index, path) >= 0;
  if (next > 0 && isBehind(next - 1)) return firstIndex(0, next - 1, isBehind);
  let [from, step] = [next, 1];
  for (; from + step <= count && !isBehind(from + step - 1); step *= 2) from += step;
  return firstIndex(from, Math.min(count, from + step), isBehind);
}

function comparePath({ paths, first }: Tables, index: number, path: Uint8Array): number {
  const file = first + index;
  return Buffer.compare(paths.bytes.subarray(paths.starts[file]!, paths.starts[file + 1]!), path);
}
