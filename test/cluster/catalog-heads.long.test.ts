/**
 * Heads of a shard: reading only the changes gives the same as reading everything, and both give what was published.
 */

import fc from "fast-check";
import { expect } from "vitest";
import { Catalog } from "../../src/cluster/catalog/catalog.ts";
import { Collection } from "../../src/cluster/catalog/collection.ts";
import type { PublishedState, ShardHead } from "../../src/cluster/catalog/head.ts";
import { migrateCluster } from "../../src/cluster/index.ts";
import { RepositoryList } from "../../src/store/catalog/repository-list.ts";
import { repositoryListOf } from "../store/repository-lists.ts";
import { emptyDatabase, poolOn, postgresTest as test } from "./postgres.ts";

const WRITER = "a writer";

async function newShard() {
  const pool = poolOn(await emptyDatabase());
  await migrateCluster(pool);
  await pool.query("insert into quern_shard (shard) values (1)");
  const catalog = new Catalog(pool, {});
  await catalog.lease(1, WRITER, 3_600_000);
  return { pool, catalog, collection: new Collection(pool, {}) };
}

const stateOf = (repository: number, changed: number): PublishedState => ({
  repository,
  changed,
  record: {
    id: repository,
    name: `shop ${repository} \u0000 "quoted"`,
    metadata: {},
    revisions: [],
    indexedAt: changed,
    contentBytes: 0,
    segments: [],
  },
  sets: [[1, 0, Uint8Array.of(changed)]],
  extra: repository % 2 === 0 ? Uint8Array.of(repository, changed) : `v1/repo/${repository}`,
});

interface Change {
  readonly arrived: readonly number[];
  readonly gone: readonly number[];
}

/** Publishes the changes that are possible. */
async function publish(catalog: Catalog, head: ShardHead, { arrived, gone }: Change) {
  const { repositories: before } = head;
  const removed = gone.filter((id) => before.get(id) !== undefined && !arrived.includes(id));
  const changed = head.generation + 1;
  const repositories = before.with({ arrived, gone: removed }, changed);
  await catalog.publish({
    shard: 1,
    before: head.generation,
    writer: WRITER,
    began: await catalog.clock(),
    segments: [],
    nextSegment: 1,
    slices: 1,
    removed,
    repositories,
    states: arrived.map((id) => stateOf(id, changed)),
  });
  return repositories;
}

const ids = fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 });
const history = fc.array(fc.record({ arrived: ids, gone: ids, collects: fc.boolean() }), {
  minLength: 1,
  maxLength: 8,
});

test("a head equals the published state, whichever head is known, and even after collections", async () => {
  const { pool, catalog, collection } = await newShard();
  let generation = 0;
  let published = [RepositoryList.EMPTY];
  const heads: ShardHead[] = [];
  await fc.assert(
    fc.asyncProperty(history, async (changes) => {
      for (const change of changes) {
        const head = await catalog.head(1, generation, heads.at(-1));
        published[generation + 1] = await publish(catalog, head, change);
        generation++;
        if (change.collects) await collection.dropRows(new Date(Date.now() - 3_600_000));
        heads.push(await catalog.head(1, generation, head));
        if (change.collects)
          await pool.query("update quern_manifest set created_at = '2020-01-01'");
      }
      const { rows } = await pool.query("select generation from quern_manifest order by 1");
      for (const row of rows as { generation: string }[]) {
        const kept = Number(row.generation);
        for (const known of [undefined, heads[0], heads.at(-4), heads.at(-1)]) {
          const { repositories } = await catalog.head(1, kept, known);
          expect([...repositories]).toEqual([...published[kept]!]);
        }
      }
      const { repositories } = heads.at(-1)!;
      const states: PublishedState[] = [];
      for await (const some of catalog.states(repositories, { hasExtra: true }))
        states.push(...some);
      states.sort((a, b) => a.repository - b.repository);
      expect(
        states.map((one) => ({ ...one, sets: one.sets.map(([, , bits]) => [...bits]) })),
      ).toEqual(
        Array.from(repositories, ([id, changed]) => ({
          ...stateOf(id, changed),
          sets: [[changed]],
          ...(id % 2 === 0 && { extra: Buffer.from([id, changed]) }),
        })),
      );
    }),
    { numRuns: 12 },
  );
});

test("a known head of another history is read again, and a damaged list is reported", async () => {
  const { pool, catalog } = await newShard();
  for (let generation = 0; generation < 3; generation++)
    await publish(catalog, await catalog.head(1, generation), {
      arrived: [generation + 1, generation + 2],
      gone: [],
    });
  const right = await catalog.head(1, 3);
  const other = { ...(await catalog.head(1, 2)), repositories: repositoryListOf([[9, 2]]) };
  expect([...(await catalog.head(1, 3, other)).repositories]).toEqual([...right.repositories]);
  await pool.query("delete from quern_state where repository = 4");
  await expect(catalog.head(1, 3)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
});
