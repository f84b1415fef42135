/** Adds up the threads' counts of files by repository, language and folder, and lists the most frequent values. */

import type { Pause } from "../../base/yield.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { FacetCounts } from "../messages/messages.ts";
import type { Facet, Facets } from "../messages/response.ts";

/**
 * The number of files for each value. Here, repositories are identified by their names. In FacetCounts, they are
 * identified by their ids.
 */
export interface NamedCounts {
  readonly repositories: ReadonlyMap<string, number>;
  readonly languages: ReadonlyMap<string, number>;
  /** Counts by folder. Empty if the files belong to several repositories. */
  readonly folders: ReadonlyMap<string, number>;
}

/** Adds up the counts in the outputs of the threads. */
export async function countsOf(
  outputs: readonly { readonly facets?: FacetCounts }[],
  { catalog, pause }: { readonly catalog: Catalog; readonly pause: Pause },
): Promise<NamedCounts> {
  const counts = outputs.flatMap(({ facets }) => facets ?? []);
  const nameOf = (id: number): string => catalog.repositories.get(id)!.record.name;
  const all = { repositories: await addUp(counts, "repositories", nameOf, pause) };
  return addOthers(all, counts, pause);
}

/** Adds up the counts of several engines. */
export async function addCounts(
  counts: readonly NamedCounts[],
  pause: Pause,
): Promise<NamedCounts> {
  const all = { repositories: await addUp(counts, "repositories", String, pause) };
  return addOthers(all, counts, pause);
}

async function addOthers(
  { repositories }: Pick<NamedCounts, "repositories">,
  counts: readonly (FacetCounts | NamedCounts)[],
  pause: Pause,
): Promise<NamedCounts> {
  const languages = await addUp(counts, "languages", String, pause);
  const isOne = repositories.size === 1;
  const folders = await addUp(isOne ? counts : [], "folders", String, pause);
  return { repositories, languages, folders };
}

/** Lists the most frequent values of each facet, up to `most`. */
export async function facetsOf(counts: NamedCounts, most: number, pause: Pause): Promise<Facets> {
  return {
    repositories: await list(counts.repositories, most, pause),
    languages: await list(counts.languages, most, pause),
    folders: await list(counts.folders, most, pause),
  };
}

async function addUp<Of extends string, Key>(
  counts: readonly Readonly<Record<Of, ReadonlyMap<Key, number>>>[],
  of: Of,
  valueOf: (key: Key) => string,
  pause: Pause,
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (const one of counts)
    for (const [key, files] of one[of]) {
      const value = valueOf(key);
      sums.set(value, (sums.get(value) ?? 0) + files);
      await pause();
    }
  return sums;
}

type Counted = Facet["values"][number];

const compare = (a: Counted, b: Counted): number =>
  b.fileCount - a.fileCount || (a.value < b.value ? -1 : 1);

/**
 * Lists the most frequent values. Keeps and sorts only the best values so far, because there may be as many values as
 * files.
 */
async function list(sums: ReadonlyMap<string, number>, most: number, pause: Pause): Promise<Facet> {
  let values: Counted[] = [];
  for (const [value, fileCount] of sums) {
    values.push({ value, fileCount });
    if (values.length >= 2 * most + 100) values = values.sort(compare).slice(0, most);
    await pause();
  }
  values = values.sort(compare).slice(0, most);
  return { values, more: sums.size - values.length };
}
