/** Reads records from rows, and reads lists of any length in pages. */

import type { Stored } from "../../auth/stored-records.ts";
import type { Tables } from "./schema.ts";

const PAGE = 100; // rows per statement; between two statements, a slow reader holds no connection

/**
 * Returns the record of a row. REQUIRES: the statement selects the record as text, because a host may have set another
 * JSON parser in the package `pg`.
 */
export const plain = <T>(record: unknown): Stored<T> => JSON.parse(String(record)) as Stored<T>;

/**
 * Yields all rows, ordered by created_at, then by id. A row that is added meanwhile may or may not be yielded.
 * REQUIRES: `select` uses `value` as $1, returns id and created_at, and ends where a condition can be appended.
 */
export async function* inPages<T>(
  tables: Tables,
  list: {
    readonly select: string;
    readonly value: Uint8Array;
    readonly read: (row: Record<string, unknown>) => T;
  },
): AsyncGenerator<T> {
  let after: readonly [unknown, unknown] = [-(2 ** 53), new Uint8Array()];
  for (;;) {
    const { rows } = await tables.query(
      `${list.select} (created_at, id) > ($2, $3) order by created_at, id limit ${PAGE}`,
      [list.value, ...after],
    );
    for (const row of rows) yield list.read(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = [last.created_at, last.id];
  }
}
