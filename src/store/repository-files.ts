/** Reads single files and folders of a repository, as a host shows them. */

import { hasBit, type Bitset } from "../base/bitset.ts";
import { compareText } from "../base/compare.ts";
import type { CatalogRepository, Place } from "./catalog.ts";
import type { Snapshot } from "./environment.ts";
import { NO_BLOB } from "./format.ts";
import { openSegment } from "./segment-reader.ts";
import { readHeader, readPaths, type PathTable } from "./segment-tables.ts";

export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly language: string;
}

/** The content under a path in a revision; undefined where there is none. */
export function readFile(
  snapshot: Snapshot,
  { places }: CatalogRepository,
  revision: number,
  path: string,
): StoredFile | undefined {
  const wanted = Buffer.from(path);
  for (const place of places) {
    const set = place.sets[revision];
    if (!set) continue;
    const { paths } = tableOf(snapshot, place);
    const index = findPath(paths, place, { set, wanted });
    if (index === undefined) continue;
    const reader = openSegment(snapshot, place.segment)!;
    const file = place.first + index;
    const blob = reader.files.blobs[file]!;
    if (blob === NO_BLOB) return undefined;
    const language = reader.header.languages[reader.files.languages[file]!]!;
    return { bytes: reader.blobText(snapshot, blob), language };
  }
  return undefined;
}

function tableOf(snapshot: Snapshot, { segment }: Place): { paths: PathTable } {
  const header = readHeader(snapshot, segment)!;
  return { paths: readPaths(snapshot, segment, header.files) };
}

/** Position in the place of the file that the set names under the path. */
function findPath(
  paths: PathTable,
  place: Place,
  { set, wanted }: { set: Bitset; wanted: Uint8Array },
): number | undefined {
  let index = lowerBound(paths, place, wanted);
  for (; index < place.count && Buffer.compare(pathAt(paths, place, index), wanted) === 0; index++)
    if (hasBit(set, index)) return index;
  return undefined;
}

/** The first file of the place whose path is not before `wanted`. */
function lowerBound(paths: PathTable, place: Place, wanted: Uint8Array): number {
  let [low, high] = [0, place.count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (Buffer.compare(pathAt(paths, place, middle), wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function pathAt({ starts, bytes }: PathTable, { first }: Place, index: number): Uint8Array {
  return bytes.subarray(starts[first + index]!, starts[first + index + 1]!);
}

export interface Child {
  readonly type: "file" | "folder";
  readonly name: string;
}

/** What stands directly in a folder of a revision, folders first, each by name; '' is the root. undefined: no such folder. */
export function listFolder(
  snapshot: Snapshot,
  { places }: CatalogRepository,
  revision: number,
  folder: string,
): Child[] | undefined {
  const prefix = folder === "" ? "" : `${folder}/`;
  const wanted = Buffer.from(prefix);
  const children = new Map<string, Child["type"]>();
  for (const place of places) {
    const set = place.sets[revision];
    if (!set) continue;
    const { paths } = tableOf(snapshot, place);
    for (let index = lowerBound(paths, place, wanted); index < place.count; index++) {
      const path = pathAt(paths, place, index);
      if (Buffer.compare(path.subarray(0, wanted.length), wanted) !== 0) break;
      if (!hasBit(set, index)) continue;
      const [name, ...rest] = Buffer.from(path.subarray(wanted.length)).toString().split("/");
      children.set(name!, rest.length > 0 ? "folder" : "file");
    }
  }
  if (children.size === 0 && folder !== "") return undefined;
  return [...children]
    .map(([name, type]) => ({ type, name }))
    .sort((a, b) =>
      a.type === b.type ? compareText(a.name, b.name) : a.type === "folder" ? -1 : 1,
    );
}
