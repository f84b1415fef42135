/**
 * What is true of a cluster now, in PostgreSQL. A shard's generation is raised by its writer alone, in one
 * transaction with all that the generation consists of, and only from the generation that the
 * writer began with: a writer that was stopped and taken over publishes nothing. Leases are
 * rows with PostgreSQL's own clock, so they hold across machines and through PgBouncer.
 */

import { pack, unpack } from "msgpackr";
import { QuernError } from "../../base/errors.ts";
import type { RepositoryRecord } from "../../store/format/records.ts";
import type { PostgresPool, PostgresQueries } from "../postgres/pool.ts";
import { openTables, type PostgresPlace, type Tables } from "../postgres/schema.ts";
import { endJob } from "./jobs.ts";
import type { Publication, PublishedSegment, PublishedState, ShardHead } from "./head.ts";

/** What a manifest's body holds; the rest of a segment stands in its row. */
export interface Body {
  readonly segments: readonly (readonly [
    segment: number,
    symbols: number,
    hasSymbols: boolean,
    symbolsObject: string | null,
  ])[];
  readonly repositories: ShardHead["repositories"];
  readonly nextSegment: number;
  readonly slices: number;
}

type Row = Record<string, unknown>;

export class Catalog {
  readonly #tables: Tables;

  constructor(pool: PostgresPool, place: PostgresPlace) {
    this.#tables = openTables(pool, place);
  }

  /** The newest generation of each shard that has one. */
  async generations(): Promise<Map<number, number>> {
    const { rows } = await this.#tables.query(
      `select shard, generation from ${this.#name("shard")} where generation > 0 order by shard`,
    );
    return new Map(rows.map((row) => [Number(row.shard), Number(row.generation)]));
  }

  /** A shard at a generation. REQUIRES: it was published, and is not collected yet. */
  async head(shard: number, generation: number): Promise<ShardHead> {
    if (generation === 0)
      return { shard, generation, segments: [], repositories: [], nextSegment: 1, slices: 1 };
    const { rows } = await this.#tables.query(
      `select body from ${this.#name("manifest")} where shard = $1 and generation = $2`,
      [shard, generation],
    );
    if (rows[0] === undefined)
      throw damaged(`the manifest of shard ${shard}, generation ${generation}, is gone`);
    const { segments, ...rest } = unpack(rows[0].body as Uint8Array) as Body;
    return {
      shard,
      generation,
      ...rest,
      segments: await this.#segments(shard, segments),
    };
  }

  async #segments(shard: number, named: Body["segments"]): Promise<PublishedSegment[]> {
    const numbers = named.map(([segment]) => segment);
    const { rows } = await this.#tables.query(
      `select segment, object, bytes, files, text_bytes from ${this.#name("segment")}
       where shard = $1 and segment = any($2::bigint[])`,
      [shard, numbers],
    );
    const bySegment = new Map(rows.map((row) => [Number(row.segment), row]));
    return named.map(([segment, symbols, hasSymbols, symbolsObject]) => {
      const row = bySegment.get(segment);
      if (row === undefined) throw damaged(`segment ${segment} of shard ${shard} has no row`);
      return {
        segment,
        symbols,
        hasSymbols,
        symbolsObject: symbolsObject ?? undefined,
        object: String(row.object),
        bytes: Number(row.bytes),
        files: Number(row.files),
        textBytes: Number(row.text_bytes),
      };
    });
  }

  /** The states of repositories at the generations in which they changed, in any order. */
  async states(wanted: ShardHead["repositories"]): Promise<PublishedState[]> {
    if (wanted.length === 0) return [];
    const { rows } = await this.#tables.query(
      `select repository, changed, record::text as record, sets, extra from ${this.#name("state")}
       join unnest($1::int[], $2::bigint[]) as wanted (id, generation)
       on repository = wanted.id and changed = wanted.generation`,
      [wanted.map(([id]) => id), wanted.map(([, changed]) => changed)],
    );
    if (rows.length !== wanted.length) throw damaged("the state of a repository has no row");
    return rows.map(stateOf);
  }

  /** The shard of a repository; a new repository is given one of less than `shardBytes` of text, with a writer to spare if there is one. */
  async shardOf(name: string, shardBytes: number): Promise<number> {
    const known = await this.knownShard(name);
    if (known !== undefined) return known;
    return this.#tables.transaction(async (client) => {
      const shards = this.#name("shard");
      // of two new repositories, one may need the shard that the other makes
      await client.query(`lock table ${shards} in share row exclusive mode`);
      const { rows } = await client.query(
        `select shard from ${shards} where text_bytes < $1
         order by coalesce(writer_until > now(), false), shard limit 1`,
        [shardBytes],
      );
      const shard = rows[0] ? Number(rows[0].shard) : await this.#addShard(client);
      const repositories = this.#name("repository");
      await client.query(
        `insert into ${repositories} (name, shard) values ($1, $2) on conflict (name) do nothing`,
        [name, shard],
      );
      const placed = await client.query(`select shard from ${repositories} where name = $1`, [
        name,
      ]);
      return Number(placed.rows[0]?.shard);
    });
  }

  async #addShard(client: PostgresQueries): Promise<number> {
    const shards = this.#name("shard");
    const { rows } = await client.query(
      `insert into ${shards} (shard) select coalesce(max(shard), 0) + 1 from ${shards} returning shard`,
    );
    return Number(rows[0]?.shard);
  }

  /** undefined: nobody has ever asked for a shard for a repository of that name, or it was removed. */
  async knownShard(name: string): Promise<number | undefined> {
    const { rows } = await this.#tables.query(
      `select shard from ${this.#name("repository")} where name = $1`,
      [name],
    );
    return rows[0] && Number(rows[0].shard);
  }

  /** An id for a repository that was never published, above all that were given before. REQUIRES: its shard's lease. */
  async newId(name: string): Promise<number> {
    const { rows } = await this.#tables.query(
      `update ${this.#name("repository")} set repository = default where name = $1 returning repository`,
      [name],
    );
    if (rows[0] === undefined) throw damaged(`the repository ${name} has no row`);
    return Number(rows[0].repository);
  }

  /** Takes or renews the lease of a shard. Resolves to its generation; undefined: another writer has it. */
  async lease(shard: number, writer: string, ms: number): Promise<number | undefined> {
    const { rows } = await this.#tables.query(
      `update ${this.#name("shard")}
       set writer = $2, writer_until = now() + $3 * interval '1 millisecond'
       where shard = $1 and (writer is null or writer = $2 or writer_until < now())
       returning generation`,
      [shard, writer, ms],
    );
    return rows[0] && Number(rows[0].generation);
  }

  /** Gives the lease back, unless another writer has taken it over. */
  async release(shard: number, writer: string): Promise<void> {
    await this.#tables.query(
      `update ${this.#name("shard")} set writer = null, writer_until = null
       where shard = $1 and writer = $2`,
      [shard, writer],
    );
  }

  /** Makes what a writer has made the shard's next generation. Rejects with INDEX_LOCKED, and changes nothing, if another writer has taken over. */
  async publish(publication: Publication): Promise<void> {
    await this.#tables.transaction(async (client) => {
      const { shard, before, writer, segments } = publication;
      const textBytes = segments.reduce((sum, one) => sum + one.textBytes, 0);
      const raised = await client.query(
        `update ${this.#name("shard")} set generation = generation + 1, text_bytes = $4
         where shard = $1 and generation = $2 and writer = $3`,
        [shard, before, writer, textBytes],
      );
      if (raised.rowCount !== 1) throw takenOver(shard);
      await this.#putSegments(client, publication);
      await this.#putStates(client, publication);
      const body: Body = {
        segments: segments.map((one) => [
          one.segment,
          one.symbols,
          one.hasSymbols,
          one.symbolsObject ?? null,
        ]),
        repositories: publication.repositories,
        nextSegment: publication.nextSegment,
        slices: publication.slices,
      };
      await client.query(
        `insert into ${this.#name("manifest")} (shard, generation, body) values ($1, $2, $3)`,
        [shard, before + 1, pack(body)],
      );
      await client.query(
        `delete from ${this.#name("repository")} where repository = any($1::int[])`,
        [publication.removed],
      );
      await this.#refuseDoomed(client, publication);
      if (publication.job) await endJob(client, this.#name("job"), publication.job);
      await this.#tables.notify("index", client);
    });
  }

  /** REQUIRES: the manifest is inserted, so that a collection waits for the end of this transaction. */
  async #refuseDoomed(
    client: PostgresQueries,
    { shard, segments, states, began }: Publication,
  ): Promise<void> {
    const objects = segments.flatMap((one) => [one.object, one.symbolsObject ?? []].flat());
    const { rows } = await client.query(
      `select key from ${this.#name("doomed")}
       where key = any($1::text[]) and (deleted_at is null or deleted_at > $2::timestamptz) limit 1`,
      [[...objects, ...states.map(({ extra }) => extra)], began],
    );
    if (rows[0] !== undefined)
      throw new QuernError(
        "INDEX_LOCKED",
        `nothing was published to shard ${shard}: while it was written, the unused object ${String(rows[0].key)}, which it uses again, was deleted; index again`,
      );
  }

  /** PostgreSQL's time, to all its digits. */
  async clock(): Promise<string> {
    const { rows } = await this.#tables.query("select clock_timestamp()::text as now");
    return String(rows[0]?.now);
  }

  async #putSegments(client: PostgresQueries, publication: Publication): Promise<void> {
    const { shard, segments } = publication;
    await client.query(
      `insert into ${this.#name("segment")} (shard, segment, object, bytes, files, text_bytes)
       select $1, * from unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
       on conflict do nothing`,
      [
        shard,
        segments.map((one) => one.segment),
        segments.map((one) => one.object),
        segments.map((one) => one.bytes),
        segments.map((one) => one.files),
        segments.map((one) => one.textBytes),
      ],
    );
  }

  async #putStates(client: PostgresQueries, { shard, states }: Publication): Promise<void> {
    for (const { repository, changed, record, sets, extra } of states)
      await client.query(
        `insert into ${this.#name("state")} (repository, changed, shard, record, sets, extra)
         values ($1, $2, $3, $4, $5, $6)`,
        [repository, changed, shard, JSON.stringify(record), pack(sets), extra],
      );
  }

  #name(table: string): string {
    return this.#tables.name(`quern_${table}`);
  }
}

function stateOf(row: Row): PublishedState {
  return {
    repository: Number(row.repository),
    changed: Number(row.changed),
    record: JSON.parse(String(row.record)) as RepositoryRecord,
    sets: unpack(row.sets as Uint8Array) as PublishedState["sets"],
    extra: String(row.extra),
  };
}

const takenOver = (shard: number): QuernError =>
  new QuernError(
    "INDEX_LOCKED",
    `another process has taken over writing to shard ${shard}, because this one did not renew its lease; nothing was published`,
  );

const damaged = (what: string): QuernError =>
  new QuernError("INDEX_CORRUPT", `the catalog in PostgreSQL is damaged: ${what}; restore it`);
