/**
 * Records in PostgreSQL which nodes exist, and which slices each node has ready. All times are those of PostgreSQL's
 * clock. Fronts may ask a node if its last heartbeat is not older than LIVE_MS. A node owns slices if its last
 * heartbeat is not older than PLACED_MS, so no slices move when a node restarts.
 */

import type { PostgresPool } from "../postgres/pool.ts";
import { openTables, type PostgresPlace, type Tables } from "../postgres/schema.ts";
import { ownersOf } from "./placement.ts";

export const LIVE_MS = 10_000;
export const PLACED_MS = 600_000;
/** If PostgreSQL reports an error, or does not answer for this long, a machine assumes that PostgreSQL is down. */
const OUTAGE_MS = 5_000;
/** How much time each node has to send its next heartbeat after an outage of PostgreSQL. */
const SETTLE_MS = 10_000;

export interface NodeRow {
  readonly name: string;
  readonly url: string;
  /** Whether fronts may ask the node. */
  readonly isLive: boolean;
  /** Whether the node owns slices. */
  readonly isPlaced: boolean;
  readonly isDraining: boolean;
  readonly diskBytes: number;
}

/** The slices of a shard for which a node can answer at one generation. */
export interface ReadySlices {
  readonly node: string;
  readonly shard: number;
  readonly generation: number;
  readonly slices: readonly number[];
}

export type OwnReady = Omit<ReadySlices, "node">;

export interface Membership {
  readonly nodes: readonly NodeRow[];
  readonly ready: readonly ReadySlices[];
}

export class Nodes {
  readonly #tables: Tables;
  /** The result of the last read, and the performance.now() at which it arrived. */
  #heard: { readonly at: number; readonly members: Membership } | undefined;
  #isOut = false;
  #settlesAt = -Infinity;

  constructor(pool: PostgresPool, place: PostgresPlace) {
    this.#tables = openTables(pool, place);
  }

  /**
   * Records a heartbeat of a node. The first heartbeat after a start also records that the node has nothing ready and
   * is not draining.
   */
  async beat(node: Pick<NodeRow, "name" | "url" | "diskBytes">, isFirst: boolean): Promise<void> {
    const { name, url, diskBytes } = node;
    if (isFirst) await this.setReady(name, [], { isWhole: true });
    await this.#tables.query(
      `insert into ${this.#name("node")} (node, url, heartbeat, disk_bytes) values ($1, $2, now(), $3)
       on conflict (node) do update set url = $2, heartbeat = now(), disk_bytes = $3
       ${isFirst ? ", draining = false" : ""}`,
      [name, url, diskBytes],
    );
    if (isFirst) await this.#tables.notify("nodes");
  }

  /** Records that fronts must stop asking a node. The node still owns its slices, because it may come back. */
  async stop(name: string): Promise<void> {
    await this.#tables.query(
      `update ${this.#name("node")} set heartbeat = least(heartbeat, now() - $2 * interval '1 millisecond')
       where node = $1`,
      [name, LIVE_MS],
    );
    await this.setReady(name, [], { isWhole: true });
  }

  /**
   * Records that a node must give up its slices. The node still answers for these slices until other nodes have them
   * ready.
   */
  async drain(name: string): Promise<void> {
    await this.#tables.query(`update ${this.#name("node")} set draining = true where node = $1`, [
      name,
    ]);
    await this.#tables.notify("nodes");
  }

  /**
   * Records the slices for which a node can answer. If `isWhole` is true, deletes all records of the node that are not
   * in `ready`.
   */
  async setReady(
    name: string,
    ready: readonly OwnReady[],
    { isWhole }: { readonly isWhole: boolean },
  ): Promise<void> {
    const values = [
      name,
      ready.map(({ shard }) => shard),
      ready.map(({ generation }) => generation),
      ready.map(({ slices }) => `{${slices.join()}}`),
    ];
    const rows = `unnest($2::int[], $3::bigint[], $4::text[]) as own (shard, generation, slices)`;
    await this.#tables.transaction(async (client) => {
      if (isWhole)
        await client.query(
          `delete from ${this.#name("ready")} as old where node = $1 and not exists
           (select from ${rows} where own.shard = old.shard and own.generation = old.generation)`,
          values,
        );
      await client.query(
        `insert into ${this.#name("ready")} (node, shard, generation, slices)
         select $1, own.shard, own.generation, own.slices::int[] from ${rows}
         on conflict (node, shard, generation) do update set slices = excluded.slices`,
        values,
      );
      await this.#tables.notify("nodes", client);
    });
  }

  /**
   * Resolves to all nodes, and the slices that each has ready. After an outage of PostgreSQL, all heartbeats are old.
   * So for SETTLE_MS after an outage, each node keeps the status that it had before the outage. Otherwise, fronts
   * would ask no node, and the first node that returned would fetch all slices.
   */
  async all(): Promise<Membership> {
    const read = await this.#read().catch((error: unknown) => {
      this.#isOut = true;
      throw error;
    });
    const now = performance.now();
    const before = this.#heard;
    if (before && (this.#isOut || now - before.at > OUTAGE_MS)) this.#settlesAt = now + SETTLE_MS;
    this.#isOut = false;
    const members = before && now < this.#settlesAt ? asBefore(read, before.members) : read;
    this.#heard = { at: now, members };
    return members;
  }

  async #read(): Promise<Membership> {
    const nodes = await this.#tables.query(
      `select node, url, draining, disk_bytes,
         heartbeat > now() - $1 * interval '1 millisecond' as is_live,
         heartbeat > now() - $2 * interval '1 millisecond' and not draining as is_placed
       from ${this.#name("node")} order by node`,
      [LIVE_MS, PLACED_MS],
    );
    const ready = await this.#tables.query(
      `select node, shard, generation, array_to_string(slices, ',') as slices
       from ${this.#name("ready")} order by node, shard, generation`,
    );
    return {
      nodes: nodes.rows.map((row) => ({
        name: String(row.node),
        url: String(row.url),
        isLive: row.is_live === true,
        isPlaced: row.is_placed === true,
        isDraining: row.draining === true,
        diskBytes: Number(row.disk_bytes),
      })),
      ready: ready.rows.map((row) => ({
        node: String(row.node),
        shard: Number(row.shard),
        generation: Number(row.generation),
        slices: String(row.slices).split(",").filter(Boolean).map(Number),
      })),
    };
  }

  #name(table: string): string {
    return this.#tables.name(`quern_${table}`);
  }
}

function asBefore({ nodes, ready }: Membership, before: Membership): Membership {
  const known = new Map(before.nodes.map((one) => [one.name, one]));
  const settled = nodes.map((one): NodeRow => {
    const { isLive = false, isPlaced = false } = known.get(one.name) ?? {};
    return {
      ...one,
      isLive: one.isLive || isLive,
      isPlaced: one.isPlaced || (isPlaced && !one.isDraining),
    };
  });
  return { nodes: settled, ready };
}

/** Returns the names of the nodes that own a slice, the preferred one first. */
export const placedOwners = (
  nodes: readonly NodeRow[],
  slice: readonly [shard: number, slice: number],
  replicas: number,
): string[] => ownersOf(placedNames(nodes), slice, replicas);

/** Returns the names of the nodes that own slices. */
export const placedNames = (nodes: readonly NodeRow[]): string[] =>
  nodes.filter(({ isPlaced }) => isPlaced).map(({ name }) => name);
