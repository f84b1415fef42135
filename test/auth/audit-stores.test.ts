/** The audit stores keep their contract, agree with each other, and stay within their bounds. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import {
  memoryAuditStore,
  newAuditId,
  type AuditRecord,
  type AuditStore,
} from "../../src/auth/audit-store.ts";
import { lmdbAuditStore } from "../../src/auth/lmdb-audit-store.ts";
import { lmdbUserStore } from "../../src/auth/lmdb-stores.ts";
import { auditStoreSuite } from "../../src/testing.ts";

const base = mkdtempSync(join(tmpdir(), "quern-audits-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let opened = 0;
const fresh = () => join(base, `store.${++opened}`);
const shared = fresh();

describe("memoryAuditStore", () => auditStoreSuite({ test }, async () => memoryAuditStore()));
describe("lmdbAuditStore", () => auditStoreSuite({ test }, async () => lmdbAuditStore(fresh())));
describe("lmdbAuditStore in one directory, reopened for every case", () =>
  auditStoreSuite({ test }, async () => lmdbAuditStore(shared)));

const NOW = Date.now();
const record = (id: string, timestamp: Date): AuditRecord => ({
  id,
  timestamp,
  action: "file.read",
  actorId: "ada",
  actorType: "api_key",
  targetId: "shop",
  targetType: "repository",
  version: "0",
  metadata: {},
});

/** Runs the suite's cases against a store with a fault. Resolves to the names of the cases that fail. */
async function failing(spoil: (store: AuditStore) => AuditStore): Promise<string[]> {
  const cases: [string, () => Promise<void>][] = [];
  const runner = { test: (name: string, run: () => Promise<void>) => void cases.push([name, run]) };
  auditStoreSuite(runner, async () => spoil(memoryAuditStore()));
  const failed: string[] = [];
  for (const [name, run] of cases) await run().catch(() => failed.push(name));
  return failed;
}

test.each<[string, (store: AuditStore) => AuditStore]>([
  [
    "lists the oldest records first",
    (store) => ({
      ...store,
      list: async (options) => {
        const { records, total } = await store.list(options);
        return { records: records.toReversed(), total };
      },
    }),
  ],
  [
    "counts only the page in the total",
    (store) => ({
      ...store,
      list: async (options) => {
        const { records } = await store.list(options);
        return { records, total: records.length };
      },
    }),
  ],
  [
    "omits records at the end of the period",
    (store) => ({
      ...store,
      list: ({ until, ...options }) =>
        store.list({ ...options, ...(until && { until: new Date(until.getTime() - 1) }) }),
    }),
  ],
  [
    "loses every tenth record",
    (store) => {
      let n = 0;
      return { ...store, append: async (one) => void (n++ % 10 && (await store.append(one))) };
    },
  ],
])("the suite notices a store that %s", async (_name, spoil) => {
  expect(await failing(spoil)).not.toEqual([]);
});

test("the suite accepts a correct store", async () => {
  expect(await failing((store) => store)).toEqual([]);
});

test("both stores return the same records", async () => {
  await using durable = lmdbAuditStore(fresh());
  const memory = memoryAuditStore();
  const minute = fc.integer({ min: 0, max: 30 });
  const at = (minutes: number) => new Date(NOW - minutes * 60_000);
  await fc.assert(
    fc.asyncProperty(
      fc.array(minute, { maxLength: 8 }),
      fc.option(minute),
      fc.option(minute),
      fc.nat({ max: 20 }),
      async (minutes, since, until, skip) => {
        for (const one of minutes) {
          const made = record(newAuditId(at(one)), at(one));
          await durable.append(made);
          await memory.append(made);
        }
        const page = {
          ...(since !== null && { since: at(since) }),
          ...(until !== null && { until: at(until) }),
          skip,
          limit: 10,
        };
        expect(await durable.list(page)).toEqual(await memory.list(page));
      },
    ),
    { numRuns: 60 },
  );
});

test("records that are too many or too old are dropped, the oldest first", async () => {
  await using store = lmdbAuditStore(fresh(), { maxRecords: 10, maxAgeMs: 3_600_000 });
  const at = (minutes: number) => new Date(NOW - minutes * 60_000);
  for (const minutes of [200, 90, 61]) await store.append(record(`old${minutes}`, at(minutes)));
  for (let n = 1; n <= 25; n++) await store.append(record(`r${n}`, at(50 - n)));
  const { records, total } = await store.list({ skip: 0, limit: 100 });
  expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, i) => `r${25 - i}`));
  expect(total).toBe(10);
  const { total: counted } = await store.list({ since: new Date(0), skip: 0, limit: 0 });
  expect(counted).toBe(10);
});

test("records of the same time are listed in the order of their ids", () => {
  const at = new Date();
  const ids = Array.from({ length: 1_000 }, () => newAuditId(at));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(1_000);
});

test.each([0, -1, 1.5, Number.NaN])("maxRecords: %s is rejected", (maxRecords) => {
  expect(() => lmdbAuditStore(fresh(), { maxRecords })).toThrow(/maxRecords/);
});

test("stores of one folder open and close while other stores of it write", async () => {
  const folder = fresh();
  const audits = lmdbAuditStore(folder);
  const writes: Promise<void>[] = [];
  for (let n = 0; n < 20; n++) {
    writes.push(audits.append(record(String(n), new Date(NOW))));
    const users = lmdbUserStore(folder);
    for await (const user of users.list()) throw new Error(user.id);
    await users[Symbol.asyncDispose]();
  }
  await Promise.all(writes);
  expect((await audits.list({ skip: 0, limit: 1 })).total).toBe(20);
  await audits[Symbol.asyncDispose]();
});
