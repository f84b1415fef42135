/** Reading rows: records, and lists of any length page by page. */

import type { Stored } from "../../auth/stored-records.ts";
import type { Tables } from "./schema.ts";

const PAGE = 100; // rows that are read at once, so that a slow reader holds no connection

/** The record of a row. REQUIRES: selected as text, because a host may have its own parser of json. */
export const plain = <T>(record: unknown): Stored<T> => JSON.parse(String(record)) as Stored<T>;

/**
 * All rows by created_at, then id. What is added meanwhile may or may not be seen. REQUIRES: `select` ends
 * where one more condition may follow, has `value` as $1, and returns id and created_at.
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
