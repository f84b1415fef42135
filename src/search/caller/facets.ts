/** The threads' counts of what files have, put together: how many files each value has, the most frequent first. */

import type { Pause } from "../../base/yield.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { SearchOutput } from "../messages/messages.ts";
import type { Facet, Facets } from "../messages/response.ts";

interface Counting {
  readonly catalog: Catalog;
  /** How many values are listed. */
  readonly most: number;
  readonly pause: Pause;
}

export async function facetsOf(
  outputs: readonly SearchOutput[],
  { catalog, most, pause }: Counting,
): Promise<Facets> {
  const counts = outputs.flatMap(({ facets }) => facets ?? []);
  const nameOf = (id: number): string => catalog.repositories.get(id)!.record.name;
  const repositories = await addUp(
    counts.map((one) => one.repositories),
    nameOf,
    pause,
  );
  const languages = await addUp(
    counts.map((one) => one.languages),
    String,
    pause,
  );
  const isOne = repositories.size === 1;
  const folders = await addUp(isOne ? counts.map((one) => one.folders) : [], String, pause);
  return {
    repositories: await list(repositories, most, pause),
    languages: await list(languages, most, pause),
    folders: await list(folders, most, pause),
  };
}

async function addUp<Key>(
  counts: readonly ReadonlyMap<Key, number>[],
  valueOf: (key: Key) => string,
  pause: Pause,
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (const one of counts)
    for (const [key, files] of one) {
      const value = valueOf(key);
      sums.set(value, (sums.get(value) ?? 0) + files);
      await pause();
    }
  return sums;
}

type Counted = Facet["values"][number];

const compare = (a: Counted, b: Counted): number =>
  b.fileCount - a.fileCount || (a.value < b.value ? -1 : 1);

/** Sorts what may be among the first ones, never all: there may be as many values as files. */
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
