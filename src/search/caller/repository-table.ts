/**
 * Builds the table of repositories that the threads use to rank files. Also finds the repository to which a file
 * belongs.
 */

import type { Pause } from "../../base/yield.ts";
import type { Catalog, CatalogRepository } from "../../store/catalog/catalog.ts";
import { repositoryOf } from "../../store/segments/segment-tables.ts";
import type { RepositoryTable } from "../messages/messages.ts";

const tables = new WeakMap<Catalog, RepositoryTable>();

/** Returns the table of a catalog, in shared memory. */
export async function repositoryTable(catalog: Catalog, pause: Pause): Promise<RepositoryTable> {
  let table = tables.get(catalog);
  if (table) return table;
  const { places } = catalog.names;
  const ranks = new Float64Array(new SharedArrayBuffer(8 * places.length));
  for (const [id, { record }] of catalog.repositories) {
    ranks[id] = record.metadata.rank ?? 0.5;
    await pause();
  }
  table = { places, ranks };
  tables.set(catalog, table);
  return table;
}

/** Returns a function that finds the repository to which a file of a segment belongs. */
export function ownerFinder(
  catalog: Catalog,
): (segment: number, file: number) => CatalogRepository {
  return (segment, file) =>
    catalog.repositories.get(repositoryOf(catalog.headers.get(segment)!, file))!;
}
