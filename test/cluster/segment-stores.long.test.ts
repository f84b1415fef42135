/** Every store of objects keeps its contract, and the suite that checks this can fail. */

import { mkdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import {
  directorySegments,
  migrateCluster,
  postgresSegments,
  type PostgresPool,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import { segmentStoreSuite } from "../../src/testing.ts";
import { emptyDatabase, isThere, poolOn, postgresTest } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

describe("directorySegments", () => {
  const folder = temporaryFolder();
  segmentStoreSuite({ test }, async () => directorySegments(`${folder.path}/objects`));

  test("a folder in the place of an object counts as damage, and the error names the object", async () => {
    const store = directorySegments(`${folder.path}/damaged`);
    mkdirSync(`${folder.path}/damaged/v1/seg/a`, { recursive: true });
    const damage = {
      code: "INDEX_CORRUPT",
      message: expect.stringContaining("v1/seg/a") as string,
    };
    await expect(store.get("v1/seg/a")).rejects.toMatchObject(damage);
  });
});

describe("postgresSegments", () => {
  let pool: PostgresPool;
  beforeAll(async () => {
    if (!isThere) return;
    pool = poolOn(await emptyDatabase());
    await migrateCluster(pool, { schema: "search" });
  });
  segmentStoreSuite({ test: postgresTest }, async () =>
    postgresSegments(pool, { schema: "search" }),
  );

  postgresTest("an object that is deleted leaves no chunk", async () => {
    const store = postgresSegments(pool, { schema: "search" });
    await store.put("a", pieces(3_000_000), 3_000_000);
    const reading = await store.get("a");
    await store.delete("a");
    await expect(readAll(reading)).rejects.toMatchObject({ code: "INDEX_NOT_FOUND" });
    expect((await pool.query("select * from search.quern_chunk")).rowCount).toBe(0);
  });
});

async function* pieces(bytes: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(bytes);
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of body) length += piece.length;
  return length;
}

// ── the suite detects faults ──

/** What a store does wrong, and the case of the suite that detects it. */
const FAULTS: Record<string, [noticed: string, (store: SegmentStore) => Partial<SegmentStore>]> = {
  "put stores the received part of a broken body": [
    "a body that is too short, too long or broken stores nothing",
    (store) => ({
      async put(key, body, bytes) {
        const held: Uint8Array[] = [];
        try {
          for await (const piece of body) held.push(piece);
        } finally {
          const length = held.reduce((sum, { length }) => sum + length, 0);
          await store.put(
            key,
            (async function* () {
              yield* held;
            })(),
            length,
          );
        }
        if (bytes < 0) throw new Error("never");
      },
    }),
  ],
  "put does nothing if the object exists": [
    "putting again leaves one object and renews its date",
    (store) => ({
      async put(key, body, bytes) {
        for await (const one of store.list(key)) if (one.key === key) return;
        await store.put(key, body, bytes);
      },
    }),
  ],
  "a range has its last byte": [
    "a range has its first byte and not its last",
    (store) => ({
      get: (key, range) => store.get(key, range && [range[0], range[1] + 1]),
    }),
  ],
  "a missing object is empty": [
    "an object that does not exist is INDEX_NOT_FOUND, and may be deleted",
    (store) => ({
      get: (key, range) => store.get(key, range).catch(() => pieces(0)),
    }),
  ],
  "a list contains all keys": [
    "a list contains the keys that begin with the prefix, in order",
    (store) => ({ list: () => store.list("") }),
  ],
  "a list ends after 1000 keys": [
    "a long list is whole",
    (store) => ({
      async *list(prefix) {
        let count = 0;
        for await (const one of store.list(prefix)) if (count++ < 1000) yield one;
      },
    }),
  ],
  "deleting does nothing": [
    "an object that does not exist is INDEX_NOT_FOUND, and may be deleted",
    () => ({ delete: async () => undefined }),
  ],
};

test.each(Object.entries(FAULTS))(
  "the suite detects a store in which %s",
  async (_, [noticed, spoil]) => {
    using folder = temporaryFolder();
    const store = directorySegments(`${folder.path}/objects`);
    const cases = new Map<string, () => Promise<void>>();
    const run = (name: string, one: () => Promise<void>) => void cases.set(name, one);
    segmentStoreSuite({ test: run }, async () => ({ ...store, ...spoil(store) }));
    await expect(cases.get(noticed)!()).rejects.toThrow(/expected/);
  },
);
