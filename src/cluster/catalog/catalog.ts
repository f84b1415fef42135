/**
 * Reads and writes the current state of a cluster in PostgreSQL. Only the writer of a shard raises the shard's
 * generation. The writer does so in the transaction that stores the new generation, and only if the shard is still at
 * the generation from which the writer started. So if a writer is suspended and another one takes its place, the first
 * one publishes nothing.
 *
 * A lease is a row whose end is a time of PostgreSQL's clock. So leases work across machines, and also through
 * PgBouncer.
 */

import { pack, unpack } from "msgpackr";
import { QuernError } from "../../base/errors.ts";
import { bytesOf } from "../../base/growable.ts";
import { RepositoryList } from "../../store/catalog/repository-list.ts";
import type { RepositoryRecord } from "../../store/format/records.ts";
import { sealOf } from "../../store/format/sealed.ts";
import type { PostgresPool, PostgresQueries } from "../postgres/pool.ts";
import { openTables, type PostgresPlace, type Tables } from "../postgres/schema.ts";
import { endJob } from "./jobs.ts";
import {
  emptyHead,
  type Publication,
  type PublishedSegment,
  type PublishedState,
  type ShardHead,
} from "./head.ts";

/**
 * The body of a manifest. The other fields of a segment are in the segment's row. The body does not list the
 * repositories of the generation, because they follow from the rows of quern_state. A state is valid from the
 * generation in which it was written until the repository's next state.
 */
export interface Body {
  readonly segments: readonly (readonly [
    segment: number,
    symbols: number,
    hasSymbols: boolean,
    symbolsObject: string | null,
  ])[];
  /**
   * The length of the list of repositories, and the list's checksum (digestOf()). Absent in manifests that older
   * versions of quern wrote.
   */
  readonly repositories?: { readonly count: number; readonly digest: number };
  readonly nextSegment: number;
  readonly slices: number;
}

type Row = Record<string, unknown>;

/** The maximum number of rows that one statement reads or inserts. */
const BATCH = 1_000;
/**
 * The length in bytes of one pair in a list of changed repositories. A pair consists of an id, and a generation or 0.
 */
const PAIR_BYTES = 8;

export class Catalog {
  readonly #tables: Tables;

  constructor(pool: PostgresPool, place: PostgresPlace) {
    this.#tables = openTables(pool, place);
  }

  /** Resolves to the newest generation of each shard that has one. */
  async generations(): Promise<Map<number, number>> {
    const { rows } = await this.#tables.query(
      `select shard, generation from ${this.#name("shard")} where generation > 0 order by shard`,
    );
    return new Map(rows.map((row) => [Number(row.shard), Number(row.generation)]));
  }

  /**
   * Reads a shard at a generation. If an older head is given as `known`, reads only what has changed since that head.
   * REQUIRES: the generation was published, and no collection has deleted it yet.
   */
  async head(shard: number, generation: number, known?: ShardHead): Promise<ShardHead> {
    if (known?.generation === generation) return known;
    if (generation === 0) return emptyHead(shard);
    const before = known && known.generation < generation ? known : emptyHead(shard);
    const { rows } = await this.#tables.query(
      `with known as (
         select coalesce(max(generation), 0) as generation from ${this.#name("manifest")}
         where shard = $1 and generation = $3
       ), changed as (
         select distinct on (repository) repository, changed, removed
         from ${this.#name("state")}, known
         where shard = $1 and changed > known.generation and changed <= $2
         order by repository, changed desc
       )
       select body, known.generation as known, (
         select string_agg(int4send(repository) || int4send(case when removed then 0 else changed::int end), '' order by repository)
         from changed
       ) as changed
       from ${this.#name("manifest")} as manifest, known
       where shard = $1 and manifest.generation = $2`,
      [shard, generation, before.generation],
    );
    const [row] = rows;
    if (row === undefined)
      throw damaged(`the manifest of shard ${shard}, generation ${generation}, is gone`);
    const { segments, repositories: digest, ...rest } = unpack(row.body as Uint8Array) as Body;
    const isKnown = before.generation > 0 && Number(row.known) === before.generation;
    const list = isKnown ? before.repositories : RepositoryList.EMPTY;
    const repositories = changeList(list, row.changed as Uint8Array | null);
    if (digest && !isOf(repositories, digest)) {
      // the database was restored from a backup, so its history may differ from that of the known head
      if (isKnown) return this.head(shard, generation);
      throw damaged(`a state of shard ${shard}, generation ${generation}, has no row`);
    }
    return {
      shard,
      generation,
      ...rest,
      repositories,
      segments: await this.#segments(shard, segments, isKnown ? before.segments : []),
    };
  }

  async #segments(
    shard: number,
    named: Body["segments"],
    known: ShardHead["segments"],
  ): Promise<PublishedSegment[]> {
    const bySegment = new Map<number, OfSegment>(known.map((one) => [one.segment, one]));
    const numbers = named.map(([segment]) => segment).filter((one) => !bySegment.has(one));
    const { rows } =
      numbers.length === 0
        ? { rows: [] }
        : await this.#tables.query(
            `select segment, object, bytes, files, text_bytes from ${this.#name("segment")}
             where shard = $1 and segment = any($2::bigint[])`,
            [shard, numbers],
          );
    for (const row of rows)
      bySegment.set(Number(row.segment), {
        object: String(row.object),
        bytes: Number(row.bytes),
        files: Number(row.files),
        textBytes: Number(row.text_bytes),
      });
    return named.map(([segment, symbols, hasSymbols, symbolsObject]) => {
      const one = bySegment.get(segment);
      if (one === undefined) throw damaged(`segment ${segment} of shard ${shard} has no row`);
      const { object, bytes, files, textBytes } = one;
      return {
        segment,
        object,
        bytes,
        files,
        textBytes,
        symbols,
        hasSymbols,
        symbolsObject: symbolsObject ?? undefined,
      };
    });
  }

  /**
   * Yields the states of repositories at the given generations, in batches and in any order. If `hasExtra` is false,
   * the field `extra` of each state is empty.
   */
  async *states(
    wanted: Iterable<readonly [repository: number, changed: number]>,
    { hasExtra }: { readonly hasExtra: boolean },
  ): AsyncGenerator<PublishedState[]> {
    const all = [...wanted];
    for (let at = 0; at < all.length; at += BATCH) {
      const some = all.slice(at, at + BATCH);
      const { rows } = await this.#tables.query(
        `select repository, changed, record::text as record, sets,
           ${hasExtra ? "extra, extra_body" : "'' as extra, null as extra_body"}
         from ${this.#name("state")} join unnest($1::int[], $2::bigint[]) as wanted (id, generation)
         on repository = wanted.id and changed = wanted.generation`,
        [some.map(([id]) => id), some.map(([, changed]) => changed)],
      );
      if (rows.length !== some.length) throw damaged("the state of a repository has no row");
      yield rows.map(stateOf);
    }
  }

  /**
   * Resolves to the shard of a repository. A new repository gets a shard with less than `shardBytes` of text, if
   * possible a shard to which nobody is writing.
   */
  async shardOf(name: string, shardBytes: number): Promise<number> {
    const known = await this.knownShard(name);
    if (known !== undefined) return known;
    return this.#tables.transaction(async (client) => {
      const shards = this.#name("shard");
      // waits for a call that is creating a shard, because this repository may fit into that shard
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

  /** Resolves to the shard of a repository, or to undefined if the name has no shard or the repository was removed. */
  async knownShard(name: string): Promise<number | undefined> {
    const { rows } = await this.#tables.query(
      `select shard from ${this.#name("repository")} where name = $1`,
      [name],
    );
    return rows[0] && Number(rows[0].shard);
  }

  /**
   * Assigns an id to a repository that was never published, and resolves to the id, which is higher than all earlier
   * ids. REQUIRES: the caller holds the lease of the repository's shard.
   */
  async newId(name: string): Promise<number> {
    const { rows } = await this.#tables.query(
      `update ${this.#name("repository")} set repository = default where name = $1 returning repository`,
      [name],
    );
    if (rows[0] === undefined) throw damaged(`the repository ${name} has no row`);
    return Number(rows[0].repository);
  }

  /**
   * Takes or renews the lease of a shard. Resolves to the shard's generation, or to undefined if another writer has
   * the lease.
   */
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

  /** Releases the lease, unless another writer has taken it over. */
  async release(shard: number, writer: string): Promise<void> {
    await this.#tables.query(
      `update ${this.#name("shard")} set writer = null, writer_until = null
       where shard = $1 and writer = $2`,
      [shard, writer],
    );
  }

  /**
   * Publishes a writer's changes as the shard's next generation. If another writer has taken over the shard,
   * publishes nothing and rejects with INDEX_LOCKED.
   */
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
        repositories: {
          count: publication.repositories.length,
          digest: digestOf(publication.repositories),
        },
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
      await this.#dropDamage(client, publication);
      if (publication.job) await endJob(client, this.#name("job"), publication.job);
      await this.#tables.notify("index", client);
    });
  }

  /**
   * Throws INDEX_LOCKED if the publication refers to an object that a collection is about to delete, or has deleted
   * since the writer began. REQUIRES: the manifest is already inserted, so that a collection waits for the end of
   * this transaction.
   */
  async #refuseDoomed(
    client: PostgresQueries,
    { shard, segments, states, began }: Publication,
  ): Promise<void> {
    const objects = segments.flatMap((one) => [one.object, one.symbolsObject ?? []].flat());
    const { rows } = await client.query(
      `select key from ${this.#name("doomed")}
       where key = any($1::text[]) and (deleted_at is null or deleted_at > $2::timestamptz) limit 1`,
      [[...objects, ...states.map(keyOf).filter((key) => key !== "")], began],
    );
    if (rows[0] !== undefined)
      throw new QuernError(
        "INDEX_LOCKED",
        `changes of shard ${shard} were not published: while they were written, the object ${String(rows[0].key)}, which they use, was deleted as unused; index again`,
      );
  }

  /** Deletes the records of damaged objects that the shard no longer uses. */
  async #dropDamage(client: PostgresQueries, { shard, segments }: Publication): Promise<void> {
    await client.query(
      `delete from ${this.#name("damaged")} as one where shard = $1 and case when segment is null
         then not exists (
           select from ${this.#name("state")} as state
           where state.shard = $1 and extra = object and not exists (
             select from ${this.#name("state")} as newer
             where newer.repository = state.repository and newer.changed > state.changed))
         else not object = any($2::text[]) end`,
      [shard, segments.flatMap((one) => [one.object, one.symbolsObject ?? []].flat())],
    );
  }

  /** Resolves to the current time of PostgreSQL's clock, as text with full precision. */
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

  /** Stores the states of repositories. A removed repository gets a row that marks it as removed. */
  async #putStates(
    client: PostgresQueries,
    { shard, before, states, removed }: Publication,
  ): Promise<void> {
    for (let at = 0; at < states.length; at += BATCH) {
      const some = states.slice(at, at + BATCH);
      await client.query(
        `insert into ${this.#name("state")} (shard, repository, changed, record, sets, extra, extra_body)
         select $1, id, changed, record::json, sets, extra, extra_body
         from unnest($2::int[], $3::bigint[], $4::text[], $5::bytea[], $6::text[], $7::bytea[])
           as new (id, changed, record, sets, extra, extra_body)`,
        [
          shard,
          some.map(({ repository }) => repository),
          some.map(({ changed }) => changed),
          some.map(({ record }) => JSON.stringify(record)),
          some.map(({ sets }) => pack(sets)),
          some.map(keyOf),
          some.map(({ extra }) => (typeof extra === "string" ? null : Buffer.from(extra))),
        ],
      );
    }
    if (removed.length > 0)
      await client.query(
        `insert into ${this.#name("state")} (shard, repository, changed, removed, record, sets, extra)
         select $1, id, $2, true, 'null'::json, ''::bytea, '' from unnest($3::int[]) as gone (id)`,
        [shard, before + 1, removed],
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
    extra: (row.extra_body as Uint8Array | null) ?? String(row.extra),
  };
}

const keyOf = ({ extra }: PublishedState): string => (typeof extra === "string" ? extra : "");

type OfSegment = Pick<PublishedSegment, "object" | "bytes" | "files" | "textBytes">;

/**
 * Returns `before` with the changes that `changed` describes. `changed` consists of pairs of an id and a generation,
 * both big-endian, sorted by id. A generation of 0 means that the repository was removed.
 */
function changeList(before: RepositoryList, changed: Uint8Array | null): RepositoryList {
  const pairs = Buffer.from(changed ?? []);
  const generations = new Map<number, number>();
  const gone: number[] = [];
  for (let at = 0; at < pairs.length; at += PAIR_BYTES) {
    const [id, generation] = [pairs.readUInt32BE(at), pairs.readUInt32BE(at + 4)];
    if (generation === 0) gone.push(id);
    else generations.set(id, generation);
  }
  const arrived = [...generations.keys()];
  return before.with({ arrived, gone }, (id) => generations.get(id)!);
}

/** Returns a checksum of a list. Two lists that differ almost certainly have different checksums. */
const digestOf = ({ ids, changed }: RepositoryList): number =>
  sealOf(bytesOf(ids), bytesOf(changed));

const isOf = (
  list: RepositoryList,
  { count, digest }: NonNullable<Body["repositories"]>,
): boolean => list.length === count && digestOf(list) === digest;

const takenOver = (shard: number): QuernError =>
  new QuernError(
    "INDEX_LOCKED",
    `another process has taken over writing to shard ${shard}, because this one did not renew its lease; its unpublished changes are discarded`,
  );

const damaged = (what: string): QuernError =>
  new QuernError("INDEX_CORRUPT", `the catalog in PostgreSQL is damaged: ${what}; restore it`);
