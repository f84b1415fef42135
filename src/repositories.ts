/**
 * Looks up single repositories, and pages of the list of repositories, usually without scanning all repositories.
 * Uses the sorted names in the catalog, and caches sorted lists of ids for each catalog.
 */

import { LruCache } from "./base/lru-cache.ts";
import { compareText } from "./base/compare.ts";
import { QuernError } from "./base/errors.ts";
import { getOrMake } from "./base/get-or-make.ts";
import { isInterned } from "./base/interned-sets.ts";
import { sortInSlices } from "./base/sort.ts";
import { newPause, type Pause } from "./base/yield.ts";
import { describe, type Repository } from "./repository.ts";
import { isVisible, visibleRepositories } from "./search/caller/scope.ts";
import type { Viewer } from "./search/messages/request.ts";
import { repositoryNamed, type Catalog, type CatalogRepository } from "./store/catalog/catalog.ts";
import { placeAfter, placesContaining } from "./store/catalog/names.ts";

/** The fields of a repository that can be read from the catalog in memory. */
export type RepositorySummary = Omit<Repository, "skipped" | "symbols">;

/**
 * A request for one page of a sorted list of repositories. The page leaves out the first `skip` repositories, and
 * contains at most `limit`.
 */
export interface ListQuestion {
  readonly viewer?: Viewer | undefined;
  /** Lists only repositories whose name or display name contains this text, regardless of case. */
  readonly query: string;
  readonly sort: "name" | "pushed" | "indexed";
  readonly direction: "asc" | "desc";
  readonly skip: number;
  readonly limit: number;
  /**
   * Lists only repositories with these names. Lists are cached by the identity of this array. REQUIRES: nobody
   * changes the array.
   */
  readonly among?: readonly string[] | undefined;
}

export interface RepositoryPage {
  readonly repositories: readonly RepositorySummary[];
  /** The number of repositories on all pages. */
  readonly total: number;
}

interface Dated {
  readonly name: string;
  readonly pushedAt?: Date | undefined;
  readonly indexedAt: Date;
}

/**
 * Returns the function that compares two repositories of a sorted list. Repositories with equal dates are ordered by
 * name. Repositories without a date come last in either direction.
 */
export function comparing({
  sort,
  direction,
}: Pick<ListQuestion, "sort" | "direction">): (a: Dated, b: Dated) => number {
  const sign = direction === "asc" ? 1 : -1;
  const byName = (a: Dated, b: Dated) => compareText(a.name, b.name);
  if (sort === "name") return (a, b) => sign * byName(a, b);
  const time = (one: Dated) => (sort === "pushed" ? one.pushedAt : one.indexedAt)?.getTime();
  return (a, b) => {
    const [left, right] = [time(a), time(b)];
    if (left === right) return byName(a, b);
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
    return sign * (left - right);
  };
}

// ── in the catalog ──

/** Returns a page of the list ordered by name. REQUIRES: `limit` is 0 or more. */
export function pageByName(
  catalog: Catalog,
  page: {
    readonly viewer: Viewer | undefined;
    readonly query: string;
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<CatalogRepository[]> {
  const { viewer, query, after, limit } = page;
  const from = after === undefined ? 0 : placeAfter(catalog.names, after);
  const isFew = viewer && viewer.repositoryIds.size < catalog.repositories.size / 16;
  const places = isFew
    ? placesOfFew(catalog, viewer, { query, from })
    : placesContaining(catalog.names, query, from);
  return take(catalog, { places, viewer, limit });
}

async function take(
  { names, repositories }: Catalog,
  {
    places,
    viewer,
    limit,
  }: { places: Iterable<number | undefined>; viewer?: Viewer | undefined; limit: number },
): Promise<CatalogRepository[]> {
  const found: CatalogRepository[] = [];
  if (limit === 0) return found;
  const pause = newPause();
  for (const place of places) {
    await pause();
    if (place === undefined) continue;
    const one = repositories.get(names.ordered[place]!.id)!;
    if (isVisible(one, viewer) && found.push(one) === limit) break;
  }
  return found;
}

/**
 * Yields the matching repositories that the viewer may see, as indexes in the catalog's ordered names. Looks only at
 * the viewer's repositories, instead of all names.
 */
function* placesOfFew(
  catalog: Catalog,
  viewer: Viewer,
  { query, from }: { query: string; from: number },
): Generator<number> {
  const wanted = query.toLowerCase();
  const places: number[] = [];
  for (const { record } of visibleRepositories(catalog, viewer))
    if (holds(record.name, wanted) || holds(record.metadata.displayName ?? "", wanted))
      places.push(catalog.names.places[record.id]!);
  places.sort((a, b) => a - b);
  for (const place of places) if (place >= from) yield place;
}

const holds = (text: string, wanted: string): boolean => text.toLowerCase().includes(wanted);

type Lists = LruCache<string, Promise<Uint32Array>>;

/**
 * The cached lists of ids. The keys are the catalog, the viewer's set of ids, the array of names, and the other
 * parameters as a string. If the viewer's set of ids could change, the list is not cached.
 */
const lists = new WeakMap<Catalog, WeakMap<object, WeakMap<object, Lists>>>();
const MOST_LISTS = 16;
const EVERYTHING = {};

/** Resolves to the ids of the repositories on all pages of the list, in the order of the list. */
async function sortedIds(catalog: Catalog, question: ListQuestion): Promise<Uint32Array> {
  const { viewer, query, sort, direction, among } = question;
  const seen = viewer?.repositoryIds ?? EVERYTHING;
  if (viewer && !isInterned(viewer.repositoryIds)) return sortIds(catalog, question);
  const ofCatalog = getOrMake(lists, catalog, () => new WeakMap<object, WeakMap<object, Lists>>());
  const ofViewer = getOrMake(ofCatalog, seen, () => new WeakMap<object, Lists>());
  const known = getOrMake(
    ofViewer,
    among ?? EVERYTHING,
    (): Lists => new LruCache({ most: MOST_LISTS }),
  );
  const key = JSON.stringify([sort, direction, query.toLowerCase(), among?.length]);
  return known.getOrMake(key, () => {
    const list = sortIds(catalog, question);
    list.catch(() => known.delete(key));
    return list;
  });
}

async function sortIds(catalog: Catalog, question: ListQuestion): Promise<Uint32Array> {
  const { viewer, query, sort, direction, among } = question;
  const limit = Infinity;
  const pause = newPause();
  const isAmong = among && (await marked(catalog, among, pause));
  const dated: (Dated & { id: number })[] = [];
  for (const { record } of await pageByName(catalog, { viewer, query, after: undefined, limit })) {
    if (isAmong?.(record.id) ?? true) dated.push({ id: record.id, ...datesOf(record) });
    await pause();
  }
  const sorted = sort === "name" ? dated : await sortInSlices(dated, comparing(question), pause);
  const ids = new Uint32Array(sorted.length);
  for (const [at, { id }] of sorted.entries()) {
    ids[sort === "name" && direction === "desc" ? ids.length - 1 - at : at] = id;
    await pause();
  }
  return ids;
}

/**
 * Resolves to a function that takes the id of a repository, and returns whether `among` contains the repository's
 * name.
 */
async function marked(
  { names }: Catalog,
  among: readonly string[],
  pause: Pause,
): Promise<(id: number) => boolean> {
  const marks = new Uint8Array(names.places.length);
  for (const name of among) {
    const id = names.byName.get(name);
    if (id !== undefined) marks[id] = 1;
    await pause();
  }
  return (id) => marks[id] === 1;
}

function datesOf({ name, indexedAt, revisions }: CatalogRepository["record"]): Dated {
  const pushedAt = revisions[0]?.committedAt;
  return {
    name,
    indexedAt: new Date(indexedAt),
    ...(pushedAt !== undefined && { pushedAt: new Date(pushedAt) }),
  };
}

/** Finds a repository by its id or name. Returns undefined if it does not exist or the viewer may not see it. */
export function lookUp(
  catalog: Catalog,
  nameOrId: string | number,
  viewer: Viewer | undefined,
): CatalogRepository | undefined {
  const found =
    typeof nameOrId === "number"
      ? catalog.repositories.get(nameOrId)
      : repositoryNamed(catalog, nameOrId);
  return found && isVisible(found, viewer) ? found : undefined;
}

/** Creates the methods of an engine that find repositories in the catalog alone. */
export function knownRepositories(
  newest: () => Promise<Catalog>,
  indexing: () => ReadonlySet<string>,
): {
  publicIds(): Promise<ReadonlySet<number>>;
  find(
    nameOrId: string | number,
    viewer: Viewer | undefined,
  ): Promise<RepositorySummary | undefined>;
  page(question: ListQuestion): Promise<RepositoryPage>;
} {
  const show = (one: CatalogRepository) => describe(one, indexing().has(one.record.name));
  return {
    publicIds: async () => (await newest()).publicIds,
    async find(nameOrId, viewer) {
      const found = lookUp(await newest(), nameOrId, viewer);
      return found && show(found);
    },
    async page(question) {
      const catalog = await newest();
      const ids = await sortedIds(catalog, question);
      const { skip, limit } = question;
      const shown = Array.from(ids.subarray(skip, skip + limit), (id) =>
        show(catalog.repositories.get(id)!),
      );
      return { repositories: shown, total: ids.length };
    },
  };
}

/** Throws if `query`, `after` or `limit` is not a valid option of repositories(). */
export function checkPage(page: { query?: unknown; after?: unknown; limit?: unknown }): void {
  const { query = "", after = "", limit = 0 } = page;
  if (typeof query !== "string") throw invalid(`query must be a string, got ${typeof query}`);
  if (typeof after !== "string") throw invalid(`after must be a name, got ${typeof after}`);
  if (!(Number.isInteger(limit) && (limit as number) >= 0))
    throw invalid(`limit must be an integer of 0 or more, got ${String(limit)}`);
}

const invalid = (message: string): QuernError =>
  new QuernError("INVALID_REQUEST", `repositories: ${message}`);
