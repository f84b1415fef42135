/**
 * Keeps objects in PostgreSQL itself, in chunks of 1 MiB. With this store, a cluster of up to about 100 GB of source
 * needs no service other than PostgreSQL.
 */

import {
  checkedKey,
  checkedRange,
  inPieces,
  noSuchObject,
  ofLength,
  type SegmentStore,
  type StoredObject,
} from "../objects/segment-store.ts";
import type { PostgresPool } from "./pool.ts";
import { openTables, type PostgresPlace, type Tables } from "./schema.ts";

const CHUNK_BYTES = 2 ** 20;
const PAGE = 1000; // how many keys one statement lists

/**
 * Returns a store that keeps objects in PostgreSQL. It is meant for up to about 100 GB of source. `migrateCluster()`
 * creates its tables.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const segments = postgresSegments(pool);
 * for await (const { key } of segments.list("v1/seg/")) console.log(key);
 */
export function postgresSegments(pool: PostgresPool, place: PostgresPlace = {}): SegmentStore {
  const tables = openTables(pool, place);
  const [objects, chunks] = [tables.name("quern_object"), tables.name("quern_chunk")];
  return {
    async put(key, body, bytes) {
      checkedKey(key);
      await tables.transaction(async (client) => {
        // if several calls store the same key at the same time, all but the first wait here until the first has ended
        const { rows } = await client.query(
          `insert into ${objects} as old (key, bytes) values ($1, $2)
           on conflict (key) do update set stored_at = now() returning old.xmax <> 0 as was_there`,
          [key, bytes],
        );
        if (rows[0]?.was_there === true) return;
        let chunk = 0;
        for await (const piece of inPieces(ofLength(body, bytes), CHUNK_BYTES))
          await client.query(`insert into ${chunks} (key, chunk, body) values ($1, $2, $3)`, [
            key,
            chunk++,
            piece,
          ]);
      });
    },
    async get(key, range) {
      checkedKey(key);
      const [from, to] = checkedRange(range);
      const { rows } = await tables.query(`select bytes from ${objects} where key = $1`, [key]);
      if (rows[0] === undefined) throw noSuchObject(key);
      const end = Math.min(to, Number(rows[0].bytes));
      return readChunks(tables, { key, from, end });
    },
    async delete(key) {
      await tables.query(`delete from ${objects} where key = $1`, [checkedKey(key)]);
    },
    list: (prefix) => listKeys(tables, prefix),
  };
}

async function* readChunks(
  tables: Tables,
  { key, from, end }: { key: string; from: number; end: number },
): AsyncGenerator<Uint8Array> {
  for (let at = from; at < end;) {
    const chunk = Math.floor(at / CHUNK_BYTES);
    const start = chunk * CHUNK_BYTES;
    const { rows } = await tables.query(
      `select substring(body from $3 for $4) as body from ${tables.name("quern_chunk")}
       where key = $1 and chunk = $2`,
      [key, chunk, at - start + 1, Math.min(end, start + CHUNK_BYTES) - at],
    );
    const body = rows[0]?.body;
    if (!(body instanceof Uint8Array)) throw noSuchObject(key);
    yield body;
    at = start + CHUNK_BYTES;
  }
}

async function* listKeys(tables: Tables, prefix: string): AsyncGenerator<StoredObject> {
  for (let after = "", isMore = true; isMore;) {
    const { rows } = await tables.query(
      `select key, extract(epoch from stored_at) * 1000 as at from ${tables.name("quern_object")}
       where key > $1 and starts_with(key, $2) order by key limit ${PAGE}`,
      [after, prefix],
    );
    for (const row of rows) yield { key: String(row.key), at: new Date(Number(row.at)) };
    after = String(rows.at(-1)?.key);
    isMore = rows.length === PAGE;
  }
}
