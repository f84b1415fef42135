/**
 * Reads single files of a repository and lists its folders, for hosts that display them. This code runs on the calling
 * thread, in short slices. It reads single entries of a segment's stored tables, because opening whole tables would
 * take 6 ms.
 */

import { firstIndex } from "../../base/binary-search.ts";
import { bytesOf } from "../../base/growable.ts";
import { hasBit, type Bitset } from "../../base/bitset.ts";
import { compareText } from "../../base/compare.ts";
import { sortInSlices } from "../../base/sort.ts";
import type { Pause } from "../../base/yield.ts";
import type { Catalog, CatalogRepository, Place } from "./catalog.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import { HASH_BYTES, NO_BLOB, PART, renumber, segmentKey } from "../format/format.ts";
import type { SkipReason } from "../format/records.ts";
import { corrupt } from "../format/sealed.ts";
import type { KeptTables } from "../segments/kept-tables.ts";
import { readFiles, readRuns, storedEntry, type Runs } from "../segments/file-tables.ts";
import { mustRead, skipReason, type SegmentHeader } from "../segments/segment-tables.ts";

/** The parameters that all reads have in common. REQUIRES: the snapshot stays open until all reads have resolved. */
export interface Reading {
  readonly snapshot: Snapshot;
  readonly headers: Catalog["headers"];
  readonly pause: Pause;
}

export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly language: string;
}

/** Reads the content of a file in a revision. Resolves to undefined if the file does not exist or has no content. */
export async function readFile(
  reading: Reading,
  { places }: CatalogRepository,
  revision: number,
  path: string,
): Promise<StoredFile | undefined> {
  const wanted = Buffer.from(path);
  for (const place of places) {
    await reading.pause();
    const set = place.sets[revision];
    if (!set) continue;
    const index = findPath(openPaths(reading, place), { set, wanted });
    if (index === undefined) continue;
    const stored = locate(reading, place.segment, place.first + index);
    if (!stored) return undefined;
    const header = reading.headers.get(place.segment)!;
    return { language: stored.language, bytes: await readText(reading, header, stored) };
  }
  return undefined;
}

interface Located {
  readonly language: string;
  /** The range of the file's bytes in the text of the segment. */
  readonly from: number;
  readonly to: number;
}

/** Finds where the content of a file is stored. Returns undefined if the file has no content. */
function locate(
  { snapshot, headers }: Reading,
  segment: number,
  file: number,
): Located | undefined {
  const header = headers.get(segment)!;
  const runs = readRuns(snapshot, segment, header);
  const { isLenders, index } = runs ? storedEntry(runs, file) : { isLenders: false, index: file };
  const files = isLenders ? runs!.lenderFiles : (runs?.ownFiles ?? header.files);
  const from = isLenders ? header.content : segment;
  const table = viewOf(mustRead(snapshot, from, PART.FILES, 7 * files));
  const blob = table.getUint32(4 * index, true);
  if (blob === NO_BLOB) return undefined;
  const language = header.languages[table.getUint16(4 * files + 2 * index, true)];
  if (blob >= header.blobs || language === undefined)
    throw corrupt(`the files of segment ${segment}`);
  const starts = viewOf(mustRead(snapshot, header.content, PART.BLOBS, 4 * (header.blobs + 1)));
  const [start, end] = [starts.getUint32(4 * blob, true), starts.getUint32(4 * blob + 4, true)];
  if (start > end || end > header.textBytes) throw corrupt(`the blobs of segment ${segment}`);
  return { language, from: start, to: end };
}

async function readText(
  { snapshot, pause }: Reading,
  { content, blockBytes }: SegmentHeader,
  { from, to }: Located,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(to - from);
  const key = segmentKey(content, PART.TEXT);
  for (let at = from; at < to;) {
    await pause();
    const block = Math.floor(at / blockBytes);
    const start = block * blockBytes;
    const end = Math.min(to, start + blockBytes);
    const what = `block ${block} of segment ${content}`;
    const text = snapshot.get(renumber(key, block), what);
    if (!text || text.length < end - start) throw corrupt(what);
    bytes.set(text.subarray(at - start, end - start), at - from);
    at = end;
  }
  return bytes;
}

/** A stored table of paths. */
interface StoredPaths {
  readonly starts: DataView;
  readonly bytes: Uint8Array;
}

/** The paths of a repository's files in a segment. */
interface Paths {
  readonly place: Place;
  readonly own: StoredPaths;
  /**
   * The runs of files that the segment borrows, and the paths of the lender. Absent if the segment borrows no files.
   */
  readonly borrowed?: { readonly runs: Runs; readonly paths: StoredPaths };
}

/**
 * Opens the paths of a place. If `isKept`, the result stays valid after further reads. REQUIRES: unless `isKept`, the
 * result is used before the next read.
 */
function openPaths({ snapshot, headers, tables }: Segments, place: Place, isKept = false): Paths {
  const { segment } = place;
  const kept = tables?.get(segment)?.paths;
  if (kept) return { place, own: { starts: viewOf(bytesOf(kept.starts)), bytes: kept.bytes } };
  const open = (of: number, files: number, isCopied: boolean): StoredPaths => {
    const head = 4 * (files + 1);
    const what = `the paths of segment ${of}`;
    const stored = snapshot.get(segmentKey(of, PART.PATHS), what);
    if (!stored || stored.length < head) throw corrupt(what);
    const value = isCopied ? stored.slice() : stored;
    return { starts: viewOf(value), bytes: value.subarray(head) };
  };
  const header = headers.get(segment)!;
  const runs = readRuns(snapshot, segment, header);
  if (!runs) return { place, own: open(segment, header.files, isKept) };
  const own = open(segment, runs.ownFiles, true);
  return { place, own, borrowed: { runs, paths: open(runs.lender, runs.lenderFiles, isKept) } };
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, length);

function pathAt(paths: Paths, index: number): Uint8Array {
  const { bytes, from, to } = rangeAt(paths, index);
  return bytes.subarray(from, to);
}

/**
 * Compares the path at `index` with `wanted`. Makes no view of the path's bytes, because a look-up compares many paths.
 */
function compareAt(paths: Paths, index: number, wanted: Buffer): number {
  const { bytes, from, to } = rangeAt(paths, index);
  return -wanted.compare(bytes, from, to);
}

/** Returns the bytes of the table that contains the path at `index`, and the range of the path in these bytes. */
function rangeAt({ place, own, borrowed }: Paths, index: number) {
  const entry = borrowed && storedEntry(borrowed.runs, place.first + index);
  const { starts, bytes } = entry?.isLenders ? borrowed!.paths : own;
  const at = entry?.index ?? place.first + index;
  const [from, to] = [starts.getUint32(4 * at, true), starts.getUint32(4 * at + 4, true)];
  if (from > to || to > bytes.length) throw corrupt(`the paths of segment ${place.segment}`);
  return { bytes, from, to };
}

/** Returns the index of the file that has this path and is in the set. The index counts from the start of the place. */
function findPath(
  paths: Paths,
  { set, wanted }: { set: Bitset; wanted: Buffer },
): number | undefined {
  const { count } = paths.place;
  let index = lowerBound(paths, wanted);
  for (; index < count && compareAt(paths, index, wanted) === 0; index++)
    if (hasBit(set, index)) return index;
  return undefined;
}

/** The information about a file that the tables of its segment contain. */
export interface FileFacts {
  /** The hash of the file's content, as a latin1 string, or "" if the file has no content. */
  readonly hash: string;
  /** The reason why the file's content is not searchable. Undefined if it is searchable. */
  readonly skipped: SkipReason | undefined;
}

/** A file that findFiles() has found. */
export interface FoundFile extends FileFacts {
  /** The index of the file within its place, starting at 0. */
  readonly index: number;
}

/**
 * The maximum number of paths that are looked up without a pause. Without a pause, the table of paths need not be
 * copied.
 */
const PATHS_AT_ONCE = 256;

interface Segments extends Pick<Reading, "snapshot" | "headers"> {
  readonly tables?: KeptTables;
}

/**
 * Returns, for each wanted path, all files of the place that have this path. There are several if the content differs
 * between revisions.
 */
export async function findFiles(
  reading: Segments & Pick<Reading, "pause">,
  place: Place,
  wanted: readonly string[],
): Promise<FoundFile[][]> {
  const pause: Pause = wanted.length > PATHS_AT_ONCE ? reading.pause : () => undefined;
  const paths = openPaths(reading, place, wanted.length > PATHS_AT_ONCE);
  const indexes: number[][] = [];
  let near = 0;
  for (const one of wanted) {
    const path = Buffer.from(one);
    near = lowerBound(paths, path, near);
    indexes.push(indexesOf(paths, path, near));
    const wait = pause();
    if (wait) await wait;
  }
  if (indexes.every(({ length }) => length === 0)) return indexes.map(() => []);
  const factsOf = fileFacts(reading, place.segment);
  const found: FoundFile[][] = [];
  for (const own of indexes) {
    found.push(own.map((index) => ({ index, ...factsOf(place.first + index) })));
    const wait = pause();
    if (wait) await wait;
  }
  return found;
}

/**
 * Reads the tables of a segment. The returned function maps the number of a file in the segment to the facts about the
 * file.
 */
export function fileFacts(
  { snapshot, headers, tables }: Segments,
  segment: number,
): (file: number) => FileFacts {
  const header = headers.get(segment)!;
  const { blobs, content } = header;
  const kept = tables?.get(segment);
  const table = kept?.files ?? readFiles(snapshot, segment, header);
  const hashes = kept
    ? Buffer.from(kept.hashes.buffer, kept.hashes.byteOffset, kept.hashes.length)
    : Buffer.from(mustRead(snapshot, content, PART.HASHES, HASH_BYTES * blobs));
  return (file) => {
    const blob = table.blobs[file]!;
    if (blob === NO_BLOB) return { hash: "", skipped: skipReason(table.flags[file]!) };
    const at = HASH_BYTES * blob;
    return { hash: hashes.toString("latin1", at, at + HASH_BYTES), skipped: undefined };
  };
}

/**
 * Returns the indexes of the files with this path. REQUIRES: if there are any such files, the first one is at `index`.
 */
function indexesOf(paths: Paths, wanted: Buffer, index: number): number[] {
  const found: number[] = [];
  for (; index < paths.place.count && compareAt(paths, index, wanted) === 0; index++)
    found.push(index);
  return found;
}

/**
 * Returns the index of the first file whose path is `wanted` or sorts after it. Searches outward from `near` in steps
 * that double, because the paths of one look-up are mostly close to each other.
 */
function lowerBound(paths: Paths, wanted: Buffer, near = 0): number {
  const { count } = paths.place;
  const isReached = (index: number): boolean => compareAt(paths, index, wanted) >= 0;
  let [low, high] = [near, near];
  for (let step = 1; low > 0 && isReached(low - 1); step *= 2) {
    high = low - 1;
    low = Math.max(0, low - step);
  }
  for (let step = 1; high < count && !isReached(high); step *= 2) {
    low = high + 1;
    high = Math.min(count, high + step);
  }
  return firstIndex(low, high, isReached);
}

export interface Child {
  readonly type: "file" | "folder";
  readonly name: string;
  /** The path from the repository's root. */
  readonly path: string;
}

/**
 * Lists the direct children of a folder in a revision, folders first, each sorted by name. The path of the root folder
 * is ''. Resolves to undefined if the folder does not exist.
 */
export async function listFolder(
  reading: Reading,
  { places }: CatalogRepository,
  revision: number,
  folder: string,
): Promise<Child[] | undefined> {
  const names = { folder: new Set<string>(), file: new Set<string>() };
  for (const place of places) {
    await reading.pause();
    const set = place.sets[revision];
    if (set) await addChildren(names, openPaths(reading, place, true), { ...reading, set, folder });
  }
  for (const name of names.folder) names.file.delete(name);
  if (names.folder.size + names.file.size === 0 && folder !== "") return undefined;
  const children: Child[] = [];
  for (const type of ["folder", "file"] as const)
    for (const name of await sortInSlices([...names[type]], compareText, reading.pause)) {
      children.push({ type, name, path: folder === "" ? name : `${folder}/${name}` });
      if (children.length % CHILDREN_PER_PAUSE === 0) await reading.pause();
    }
  return children;
}

/**
 * Lists the paths of all files of a revision, in no particular order. A path that occurs in several segments is listed
 * several times.
 */
export async function listPaths(
  reading: Reading,
  { places }: CatalogRepository,
  revision: number,
): Promise<string[]> {
  const found: string[] = [];
  for (const place of places) {
    const set = place.sets[revision];
    if (!set) continue;
    const paths = openPaths(reading, place, true);
    for (let index = 0; index < place.count; index++) {
      if (index % CHILDREN_PER_PAUSE === 0) await reading.pause();
      if (hasBit(set, index)) found.push(decode(pathAt(paths, index)));
    }
  }
  return found;
}

/** The number of paths that are processed between two pauses, which takes about 0.1 ms. */
const CHILDREN_PER_PAUSE = 256;
const SLASH = 47;

/**
 * Adds to `names` the children of a folder that a Place contains. Once the name of a child folder is added, skips the
 * remaining paths in it.
 */
async function addChildren(
  names: Readonly<Record<Child["type"], Set<string>>>,
  paths: Paths,
  { set, folder, pause }: { set: Bitset; folder: string; pause: Pause },
): Promise<void> {
  const prefix = Buffer.from(folder === "" ? "" : `${folder}/`);
  let index = lowerBound(paths, prefix);
  for (let looked = 1; index < paths.place.count; looked++) {
    const path = pathAt(paths, index);
    if (Buffer.compare(path.subarray(0, prefix.length), prefix) !== 0) return;
    if (looked % CHILDREN_PER_PAUSE === 0) await pause();
    if (!hasBit(set, index)) {
      index++;
      continue;
    }
    const slash = path.indexOf(SLASH, prefix.length);
    const isFile = slash < 0;
    names[isFile ? "file" : "folder"].add(
      decode(path.subarray(prefix.length, isFile ? undefined : slash)),
    );
    index = isFile ? index + 1 : lowerBound(paths, behind(path, slash), index);
  }
}

/**
 * Returns the smallest path that sorts after all paths of a folder. `slash` is the offset of the '/' after the folder's
 * name.
 */
function behind(path: Uint8Array, slash: number): Buffer {
  const end = Buffer.from(path.subarray(0, slash + 1)); // copied, because the stored path must not change
  end[slash] = SLASH + 1;
  return end;
}

const decode = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString();
