/**
 * Records in PostgreSQL which objects are damaged or missing. The machine that meets the damage adds a row. A machine
 * that has the content on its disk stores the object again and deletes the row (local/mender.ts). If there is no such
 * machine, the next index run of the repositories replaces the object.
 */

import type { PostgresPool } from "../postgres/pool.ts";
import { openTables, type PostgresPlace, type Tables } from "../postgres/schema.ts";

/** A damaged or missing object. */
export interface DamagedObject {
  readonly object: string;
  readonly shard: number;
  /** The segment's number in the shard, or undefined for the object of a repository. */
  readonly segment: number | undefined;
}

/** A damaged object that the newest generation of its shard uses, and the repositories that have files in it. */
export interface DamagedRepositories extends DamagedObject {
  readonly repositories: readonly string[];
}

export class Damage {
  readonly #tables: Tables;

  constructor(pool: PostgresPool, place: PostgresPlace) {
    this.#tables = openTables(pool, place);
  }

  async report(objects: readonly DamagedObject[]): Promise<void> {
    const { changed } = await this.#tables.query(
      `insert into ${this.#name("damaged")} (object, shard, segment)
       select * from unnest($1::text[], $2::int[], $3::bigint[]) on conflict do nothing`,
      [
        objects.map(({ object }) => object),
        objects.map(({ shard }) => shard),
        objects.map(({ segment }) => segment ?? null),
      ],
    );
    if (changed > 0) await this.#tables.notify("index");
  }

  async all(): Promise<DamagedObject[]> {
    const { rows } = await this.#tables.query(
      `select object, shard, segment from ${this.#name("damaged")} order by shard, segment, object`,
    );
    return rows.map(damagedOf);
  }

  /** Records that an object is intact again. */
  async mended(object: string): Promise<void> {
    await this.#tables.query(`delete from ${this.#name("damaged")} where object = $1`, [object]);
    await this.#tables.notify("index");
  }

  /** Resolves to the damaged objects, with the names of the repositories whose newest states refer to them. */
  async withRepositories(): Promise<DamagedRepositories[]> {
    if ((await this.all()).length === 0) return [];
    const { rows } = await this.#tables.query(
      `with state as (
         select distinct on (repository) repository, shard, removed, record, extra
         from ${this.#name("state")} where shard in (select shard from ${this.#name("damaged")})
         order by repository, changed desc
       )
       select object, one.shard, one.segment, json_agg(name order by name) as names
       from ${this.#name("damaged")} as one
       join state on state.shard = one.shard and not removed and (extra = object or one.segment in (
         select value::bigint from json_array_elements_text(record->'segments')))
       join ${this.#name("repository")} using (repository)
       group by object, one.shard, one.segment order by shard, segment, object`,
    );
    return rows.map((row) => ({ ...damagedOf(row), repositories: row.names as string[] }));
  }

  #name(table: string): string {
    return this.#tables.name(`quern_${table}`);
  }
}

const damagedOf = (row: Record<string, unknown>): DamagedObject => ({
  object: String(row.object),
  shard: Number(row.shard),
  segment: row.segment === null ? undefined : Number(row.segment),
});
