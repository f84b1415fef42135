/** Repositories as threads need them to rank, and to whom a file of a segment belongs. */

import { compareText } from "../../base/compare.ts";
import { sortInSlices } from "../../base/sort.ts";
import type { Pause } from "../../base/yield.ts";
import type { Catalog, CatalogRepository } from "../../store/catalog/catalog.ts";
import { repositoryOf } from "../../store/segments/segment-tables.ts";
import type { RepositoryTable } from "../messages/messages.ts";

const tables = new WeakMap<Catalog, RepositoryTable>();

/** In the order of names, in memory that threads share. */
export async function repositoryTable(catalog: Catalog, pause: Pause): Promise<RepositoryTable> {
  let table = tables.get(catalog);
  if (table) return table;
  const given = Array.from(catalog.repositories.values(), ({ record }) => record);
  const records = await sortInSlices(given, (a, b) => compareText(a.name, b.name), pause);
  table = {
    ids: new Uint32Array(new SharedArrayBuffer(4 * records.length)),
    ranks: new Float64Array(new SharedArrayBuffer(8 * records.length)),
  };
  table.ids.set(records.map(({ id }) => id));
  table.ranks.set(records.map(({ metadata }) => metadata.rank ?? 0.5));
  tables.set(catalog, table);
  return table;
}

/** Finds the repository a file of a segment belongs to. */
export function ownerFinder(
  catalog: Catalog,
): (segment: number, file: number) => CatalogRepository {
  return (segment, file) =>
    catalog.repositories.get(repositoryOf(catalog.headers.get(segment)!, file))!;
}
