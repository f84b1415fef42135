/**
 * Determines which rows and objects are no longer used. A replaced row is never used again. So if the oldest kept
 * generation of a shard does not use an older row, no later generation uses it. For this reason, only one manifest
 * per shard is read to find unused rows.
 *
 * A writer stores an object before any row refers to it. An object to which no row refers is deleted in three steps.
 * First, its key is written to `quern_doomed`, while no publication is running. Then all references to objects are
 * read again. If still no row refers to the object, the object is deleted. A publication is rejected if it refers to a
 * doomed object, or to an object that was deleted since the writer of the publication began. So no publication refers
 * to a deleted object, although the object store has no transactions.
 */

import { unpack } from "msgpackr";
import type { PostgresPool } from "../postgres/pool.ts";
import { openTables, type PostgresPlace, type Tables } from "../postgres/schema.ts";
import type { Body } from "./catalog.ts";

export interface DroppedRows {
  readonly manifests: number;
  readonly states: number;
  readonly segments: number;
}

export class Collection {
  readonly #tables: Tables;

  constructor(pool: PostgresPool, place: PostgresPlace) {
    this.#tables = openTables(pool, place);
  }

  /**
   * Takes or renews the lease that lets only one process collect. Resolves to false if another process holds the
   * lease.
   */
  async lease(holder: string, ms: number): Promise<boolean> {
    const { changed } = await this.#tables.query(
      `insert into ${this.#name("lease")} as old (name, holder, held_until)
       values ('collection', $1, now() + $2 * interval '1 millisecond')
       on conflict (name) do update set holder = $1, held_until = excluded.held_until
       where old.holder = $1 or old.held_until < now()`,
      [holder, ms],
    );
    return changed === 1;
  }

  async release(holder: string): Promise<void> {
    await this.#tables.query(`delete from ${this.#name("lease")} where holder = $1`, [holder]);
  }

  /** Deletes generations that were replaced before the date `before`, and the rows that only they need. */
  async dropRows(before: Date): Promise<DroppedRows> {
    const manifest = this.#name("manifest");
    const dropped = await this.#tables.query(
      `delete from ${manifest} as old using ${manifest} as next
       where next.shard = old.shard and next.generation = old.generation + 1 and next.created_at < $1`,
      [before.toISOString()],
    );
    const { rows } = await this.#tables.query(
      `select distinct on (shard) shard, generation, body from ${manifest} order by shard, generation`,
    );
    const sum = { manifests: dropped.changed, states: 0, segments: 0 };
    for (const row of rows) {
      const body = unpack(row.body as Uint8Array) as Body;
      const shard = Number(row.shard);
      sum.states += await this.#dropStates(shard, Number(row.generation));
      sum.segments += await this.#dropSegments(shard, body);
    }
    return sum;
  }

  /**
   * Deletes the states that `oldest` and later generations do not need. A row that marks a repository as removed is
   * deleted together with all earlier rows of the repository.
   */
  async #dropStates(shard: number, oldest: number): Promise<number> {
    const table = this.#name("state");
    const { rows } = await this.#tables.query(
      `with dropped as (
         delete from ${table} as state where shard = $1 and changed <= $2 and (removed or exists (
           select from ${table} as next where next.repository = state.repository
           and next.changed > state.changed and next.changed <= $2))
         returning removed
       ) select count(*) as states from dropped where not removed`,
      [shard, oldest],
    );
    return Number(rows[0]?.states);
  }

  async #dropSegments(shard: number, { segments, nextSegment }: Body): Promise<number> {
    const { changed } = await this.#tables.query(
      `delete from ${this.#name("segment")}
       where shard = $1 and segment < $2 and segment <> all($3::bigint[])`,
      [shard, nextSegment, segments.map(([segment]) => segment)],
    );
    return changed;
  }

  /** Resolves to the keys of all objects to which a row refers. */
  async named(): Promise<Set<string>> {
    const { rows } = await this.#tables.query(
      `select object as key from ${this.#name("segment")} union all
       select extra from ${this.#name("state")} where extra <> ''`,
    );
    const keys = new Set(rows.map(({ key }) => String(key)));
    const manifests = await this.#tables.query(
      `select shard, generation from ${this.#name("manifest")} order by shard, generation`,
    );
    // reads one manifest at a time, because a manifest that lists the symbols of all its segments may be long
    for (const { shard, generation } of manifests.rows) {
      const found = await this.#tables.query(
        `select body from ${this.#name("manifest")} where shard = $1 and generation = $2`,
        [shard, generation],
      );
      if (found.rows[0] === undefined) continue;
      const { segments } = unpack(found.rows[0].body as Uint8Array) as Body;
      for (const [, , , symbols] of segments) if (symbols !== null) keys.add(symbols);
    }
    return keys;
  }

  /**
   * Resolves to the keys of the objects that an earlier collection has doomed but not deleted. Also removes a key from
   * the list of doomed keys if its object was deleted over 7 days ago.
   */
  async doomed(): Promise<string[]> {
    const table = this.#name("doomed");
    await this.#tables.query(`delete from ${table} where deleted_at < now() - interval '7 days'`);
    const { rows } = await this.#tables.query(`select key from ${table} where deleted_at is null`);
    return rows.map(({ key }) => String(key));
  }

  /**
   * Adds the keys to the list of doomed keys. When the promise resolves, all earlier publications have ended, and
   * every later publication that refers to one of the keys is rejected.
   */
  async doom(keys: readonly string[]): Promise<void> {
    await this.#tables.transaction(async (client) => {
      // waits for running publications, because they insert into this table
      await client.query(`lock table ${this.#name("manifest")} in share mode`);
      await client.query(
        `insert into ${this.#name("doomed")} (key) select unnest($1::text[])
         on conflict (key) do update set deleted_at = null`,
        [keys],
      );
    });
  }

  /** Removes keys from the list of doomed keys, because rows refer to their objects. */
  async spare(keys: readonly string[]): Promise<void> {
    const table = this.#name("doomed");
    await this.#tables.query(`delete from ${table} where key = any($1::text[])`, [keys]);
  }

  /**
   * Records that the objects are deleted. Publications that began before the deletion are still rejected, because they
   * may rely on these objects.
   */
  async recordDeletion(keys: readonly string[]): Promise<void> {
    await this.#tables.query(
      `update ${this.#name("doomed")} set deleted_at = clock_timestamp() where key = any($1::text[])`,
      [keys],
    );
  }

  #name(table: string): string {
    return this.#tables.name(`quern_${table}`);
  }
}
