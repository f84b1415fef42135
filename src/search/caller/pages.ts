/**
 * Splits results into pages. A cursor stores the position in the ranking where a page ended, not a number of files to
 * skip. So a later page takes as long as the first, and a cursor remains valid when the index changes. A cursor is a
 * MessagePack array, encoded in base64url:
 *
 *     [version, query, state, score, repository, path, hash, ranges]
 *
 * `query` is the first 8 bytes of the SHA-256 hash of those fields of the request that determine the ranges and their
 * order. `state` is such a hash of everything that the viewer may see. The position of a file in the ranking consists
 * of `score`, `repository`, `path` and `hash`, which is the hash of the content. `ranges` is the number of ranges of
 * that file that have been delivered.
 */

import { createHash } from "node:crypto";
import { pack, unpack } from "msgpackr";
import { invalid, QuernError } from "../../base/errors.ts";
import { isInterned } from "../../base/interned-sets.ts";
import type { Pause } from "../../base/yield.ts";
import { repositoryNamed, type Catalog } from "../../store/catalog/catalog.ts";
import { HASH_BYTES } from "../../store/format/format.ts";
import type { PagePlace, RankedFiles, SearchInput } from "../messages/messages.ts";
import type { CheckedRequest, Viewer } from "../messages/request.ts";
import { comparePlaces, mergeRanked, placeOf, type Ranked } from "./merge-ranked.ts";
import { isVisible } from "./scope.ts";

/**
 * The version of the cursor format. Increase it when the fields of a cursor or the ranking change, because a position
 * has no meaning in another ranking.
 */
const VERSION = 1;
const DIGEST_BYTES = 8;

interface Cursor {
  readonly query: Uint8Array;
  readonly state: Uint8Array;
  readonly score: number;
  readonly repository: string;
  readonly path: Uint8Array;
  readonly hash: Uint8Array;
  readonly ranges: number;
}

/** The data that a search needs to return one page of results. */
export interface Paging {
  /** The position in the ranking where the previous page ended. Undefined for the first page. */
  readonly place: PagePlace | undefined;
  /** Whether the files that the viewer may see have changed since the previous page. */
  readonly indexChanged: boolean;
  /** Returns the cursor of a page that ends at this position. */
  readonly cursorAt: (place: PagePlace) => string;
}

/**
 * Returns the paging of a request, or undefined if the request does not ask for pages. Throws if the cursor is
 * invalid.
 */
export async function pagingOf(
  request: CheckedRequest,
  catalog: Catalog,
  { viewer, pause }: { readonly viewer: Viewer | undefined; readonly pause: Pause },
): Promise<Paging | undefined> {
  const { after } = request;
  if (after === undefined) return undefined;
  const state = await stateDigest(catalog, viewer, pause);
  const { after: named, indexChanged, write } = cursorsOf({ ...request, after }, state);
  const { ordered, places } = catalog.names;
  const cursorAt = (place: PagePlace): string =>
    write({ ...place, repository: ordered[place.repository]!.name });
  if (named === undefined) return { place: undefined, indexChanged, cursorAt };
  const repository = repositoryNamed(catalog, named.repository);
  if (!repository || !isVisible(repository, viewer)) throw repositoryGone();
  return { place: { ...named, repository: places[repository.record.id]! }, indexChanged, cursorAt };
}

/**
 * The position in the ranking where a page ended. It has the name of the repository instead of its position in the
 * order of names, because that position differs between engines.
 */
export interface NamedPlace extends Omit<PagePlace, "repository"> {
  readonly repository: string;
}

/** The cursors of one search. */
export interface Cursors {
  /** The position in the ranking where the previous page ended. Undefined for the first page. */
  readonly after: NamedPlace | undefined;
  /** Whether the files that the viewer may see have changed since the previous page. */
  readonly indexChanged: boolean;
  readonly write: (place: NamedPlace) => string;
}

/**
 * Decodes the cursor of a request. Throws if it is invalid. `state` is a digest of everything that the viewer may see.
 */
export function cursorsOf(
  request: CheckedRequest & { readonly after: string },
  state: Uint8Array,
): Cursors {
  const query = queryDigest(request);
  const write = (place: NamedPlace): string => encodeCursor({ ...place, query, state });
  if (request.after === "") return { after: undefined, indexChanged: false, write };
  const {
    score,
    repository,
    path,
    hash,
    ranges,
    state: before,
  } = decodeCursor(request.after, query);
  const after = { score, repository, path, hash, ranges };
  return { after, indexChanged: Buffer.compare(before, state) !== 0, write };
}

/** Returns the part of the threads' input that identifies the page. */
export const pageInput = ({ place }: Paging): NonNullable<SearchInput["page"]> =>
  place ? { more: place.ranges + 1, after: place } : { more: 1 };

function queryDigest(request: CheckedRequest): Uint8Array {
  const { query, isRegexEnabled, isCaseSensitivityEnabled, matchesPerFile = 0 } = request;
  const decisive = [query, isRegexEnabled, isCaseSensitivityEnabled, matchesPerFile];
  return createHash("sha256").update(pack(decisive)).digest().subarray(0, DIGEST_BYTES);
}

/** Caches digests by catalog, then by the interned set of visible repositories. */
const digests = new WeakMap<Catalog, WeakMap<object, Uint8Array>>();
const EVERYTHING = {};

/** Computes a digest of everything that determines which files the viewer sees and how they rank. */
export async function stateDigest(
  catalog: Catalog,
  viewer: Viewer | undefined,
  pause: Pause,
): Promise<Uint8Array> {
  const seen = viewer?.repositoryIds;
  if (seen && !isInterned(seen)) return digestState(catalog, viewer, pause);
  const ofCatalog = digests.get(catalog) ?? new WeakMap<object, Uint8Array>();
  digests.set(catalog, ofCatalog);
  const digest = ofCatalog.get(seen ?? EVERYTHING) ?? (await digestState(catalog, viewer, pause));
  ofCatalog.set(seen ?? EVERYTHING, digest);
  return digest;
}

async function digestState(
  { manifest, repositories }: Catalog,
  viewer: Viewer | undefined,
  pause: Pause,
): Promise<Uint8Array> {
  const editions = new Map(manifest.segments.map(({ segment, symbols }) => [segment, symbols]));
  const hash = createHash("sha256");
  for (const repository of repositories.values()) {
    if (!isVisible(repository, viewer)) continue;
    const symbols = repository.places.map(({ segment }) => editions.get(segment) ?? 0);
    hash.update(pack([repository.record.id, repository.changed, symbols]));
    await pause();
  }
  return hash.digest().subarray(0, DIGEST_BYTES);
}

function encodeCursor({ query, state, score, repository, path, hash, ranges }: Cursor): string {
  const fields = [VERSION, query, state, score, repository, path, hash, ranges];
  return Buffer.from(pack(fields)).toString("base64url");
}

/**
 * Decodes a cursor. Throws if the cursor is invalid or expired, or does not belong to this query. REQUIRES: the text
 * is not empty.
 */
function decodeCursor(text: string, query: Uint8Array): Cursor {
  const cursor = cursorIn(text);
  if (!cursor)
    throw invalid(`after must be "" or the nextCursor of a response, not ${quoted(text)}`);
  if (cursor === "expired")
    throw expired("after is a cursor from another version of quern: request the first page again");
  if (Buffer.compare(cursor.query, query) !== 0)
    throw invalid(
      "after is a cursor from another request: query, flags and matchesPerFile must stay the same from page to page",
    );
  return cursor;
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));
const expired = (message: string): QuernError => new QuernError("CURSOR_EXPIRED", message);

/**
 * Returns the error for a page that ended in a repository that no longer exists, or that the viewer may not see. The
 * error does not name the repository, because the cursor may come from another viewer.
 */
export const repositoryGone = (): QuernError =>
  expired("after refers to a repository that no longer exists: request the first page again");

/**
 * Decodes a cursor. Returns undefined if the text is not a cursor, and "expired" if the cursor has another version.
 */
function cursorIn(text: string): Cursor | "expired" | undefined {
  const fields = unpacked(text);
  if (!Array.isArray(fields) || !Number.isInteger(fields[0])) return undefined;
  const [version, query, state, score, repository, path, hash, ranges] = fields as unknown[];
  if (version !== VERSION) return "expired";
  if (!isBytes(query, DIGEST_BYTES) || !isBytes(state, DIGEST_BYTES)) return undefined;
  if (!isBytes(path) || !isBytes(hash, HASH_BYTES) || typeof repository !== "string")
    return undefined;
  if (!isWhole(score) || !isWhole(ranges) || ranges < 1) return undefined;
  return { query, state, score, repository, path, hash, ranges };
}

/**
 * The maximum length of a cursor in characters. A cursor with the longest path and the longest name has 6 200
 * characters.
 */
export const MOST_CURSOR = 8_192;

function unpacked(text: string): unknown {
  if (text.length > MOST_CURSOR || !/^[\w-]+$/.test(text)) return undefined;
  try {
    return unpack(Buffer.from(text, "base64url"));
  } catch {
    return undefined; // the bytes are not MessagePack
  }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

const isBytes = (value: unknown, length?: number): value is Uint8Array =>
  value instanceof Uint8Array && (length === undefined || value.length === length);

/** The files of one response. */
export interface Chosen {
  readonly files: readonly Ranked[];
  /** The cursor of the next page. Absent if there is no next page, or if the request does not ask for pages. */
  readonly nextCursor?: string;
}

/**
 * Returns the best files for the first page, or the files after the previous page for a later one. Stops as soon as
 * these files have `matches` ranges together.
 */
export async function chooseFiles(
  lists: readonly RankedFiles[],
  wanted: {
    readonly matches: number;
    /**
     * The maximum number of ranges of one file. If it is undefined, a file has all ranges that the threads have
     * counted.
     */
    readonly matchesPerFile?: number | undefined;
    readonly paging: Paging | undefined;
    readonly pause: Pause;
  },
): Promise<Chosen> {
  const { matchesPerFile = Infinity, paging, pause } = wanted;
  const place = paging?.place;
  const files: Ranked[] = [];
  let left = wanted.matches;
  let end: PagePlace | undefined;
  const more = (): Chosen => ({
    files,
    ...(paging && end && { nextCursor: paging.cursorAt(end) }),
  });
  for (const found of mergeRanked(lists)) {
    const ranked = { ...found, count: Math.min(found.count, matchesPerFile) };
    const isCut = place !== undefined && comparePlaces(placeOf(ranked), place) === 0;
    const skip = isCut ? Math.min(place.ranges, ranked.count) : 0;
    const count = Math.min(left, ranked.count - skip);
    if (skip === ranked.count) continue;
    if (count === 0) return more();
    left -= count;
    files.push({ ...ranked, skip, count });
    if (paging) end = { ...placeOf(ranked), ranges: skip + count };
    if (skip + count < ranked.count) return more();
    await pause();
  }
  return { files };
}

/** Returns the cursor that continues an answer that became full before its page was complete. */
export function cursorOfCut(
  { files }: Chosen,
  cut: { readonly files: number; readonly ranges: number },
  paging: Paging | undefined,
): string | undefined {
  const last = files[cut.files - 1];
  return last && paging?.cursorAt({ ...placeOf(last), ranges: last.skip + cut.ranges });
}
