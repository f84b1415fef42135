/** Collections delete only unused objects and rows, whatever runs at the same time. */

import fc from "fast-check";
import { expect, onTestFinished, vi } from "vitest";
import { Collection } from "../../src/cluster/catalog/collection.ts";
import type { ClusterEngine } from "../../src/cluster/index.ts";
import { QuernError } from "../../src/index.ts";
import { RUNS } from "../runs.ts";
import { found, newCluster, shop, type Cluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const HOUR = 3_600_000;
const later = (ms: number): Date => new Date(Date.now() + ms);

async function keysOf({ segments }: Cluster): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of segments.list("")) keys.push(key);
  return keys;
}

const count = async ({ pool }: Cluster, table: string): Promise<number> =>
  (await pool.query(`select * from quern_${table}`)).rows.length;

test("generations are deleted an hour after they were replaced, and objects that only they named a day later", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  for (const text of ["one", "two", "three"]) await machine.index(shop("shop", `${text}\n`));
  await machine.index(shop("gone", "gone\n"));
  await machine.remove("gone");
  const before = await keysOf(cluster);
  const nothing = { manifests: 0, states: 0, segments: 0, objects: 0 };
  expect(await machine.collect({ now: later(0.9 * HOUR) })).toEqual(nothing);
  const rows = await machine.collect({ now: later(1.1 * HOUR) });
  // each run has published twice, its content and its symbols, and the removal once
  expect(rows).toMatchObject({ manifests: 2 * 4, states: 3, objects: 0 });
  expect(rows!.segments).toBeGreaterThan(0);
  expect([await count(cluster, "manifest"), await count(cluster, "state")]).toEqual([1, 1]);
  expect(await keysOf(cluster)).toEqual(before);
  const objects = await machine.collect({ now: later(24.1 * HOUR) });
  expect(objects).toMatchObject({ manifests: 0, states: 0, segments: 0 });
  const left = await keysOf(cluster);
  expect(left.length).toBe(before.length - objects!.objects);
  expect(new Set(left)).toEqual(await new Collection(cluster.pool, {}).named());
  const fresh = await cluster.open();
  expect(await found(fresh, "one or two or three or gone")).toEqual(["shop: three"]);
  expect(await fresh.check()).toMatchObject({ ok: true });
});

test("only one process collects at a time, and another one continues after it was killed", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  for (const text of ["one", "two"]) await machine.index(shop("shop", `${text}\n`));
  const collection = new Collection(cluster.pool, {});
  expect(await collection.lease("another", 60_000)).toBe(true);
  expect(await machine.collect()).toBeUndefined();
  await collection.dropRows(later(0));
  const named = await collection.named();
  const unused = (await keysOf(cluster)).filter((key) => !named.has(key));
  expect(unused.length).toBeGreaterThan(0);
  await collection.doom(unused); // here the process was killed
  await cluster.pool.query("update quern_lease set held_until = now() - interval '1 s'");
  expect(await machine.collect()).toMatchObject({ objects: unused.length });
  expect(new Set(await keysOf(cluster))).toEqual(named);
});

test("a publication that needs an object that is being deleted is rejected, and the next one stores it again", async () => {
  const cluster = await newCluster();
  const collection = new Collection(cluster.pool, {});
  const helper = await cluster.open();
  for (const text of ["one", "two"]) await helper.index(shop("shop", `${text}\n`));
  await collection.dropRows(later(0));
  let isFirst = true;
  const { segments } = cluster;
  const machine = await cluster.open({
    segments: {
      ...segments,
      async put(key, body, bytes) {
        await segments.put(key, body, bytes);
        if (!isFirst) return;
        isFirst = false;
        // a collection that began a day ago runs between the storing and the publication
        await collection.doom([key]);
        await segments.delete(key);
        await collection.recordDeletion([key]);
      },
    },
  });
  const again = () => machine.index(shop("shop", "one\n"));
  await expect(again()).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  await again();
  const fresh = await cluster.open();
  expect(await found(fresh, "one or two")).toEqual(["shop: one"]);
});

test("a machine that has written collects each hour", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const cluster = await newCluster();
  const machine = await cluster.open();
  for (const text of ["one", "two"]) await machine.index(shop("shop", `${text}\n`));
  await cluster.pool.query("update quern_manifest set created_at = created_at - interval '2 h'");
  vi.advanceTimersByTime(0.9 * HOUR);
  expect(await count(cluster, "manifest")).toBe(4);
  vi.advanceTimersByTime(0.1 * HOUR);
  await expect.poll(() => count(cluster, "manifest")).toBe(1);
});

test("invalid calls are rejected", async () => {
  const machine = await (await newCluster()).open();
  const now = new Date(Number.NaN);
  await expect(machine.collect({ now })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(machine.index({} as never)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  const signal = AbortSignal.abort();
  await expect(machine.collect({ signal })).rejects.toMatchObject({ code: "ABORTED" });
});

// ── at random ──

const NAMES = ["a", "b", "c"];
const TEXTS = ["needle one\n", "needle two\n", "needle three\n"];

type Step =
  | { readonly repository: string; readonly texts: readonly string[] }
  | "compact"
  | "collect";

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ repository: fc.constantFrom(...NAMES), texts: fc.subarray(TEXTS) }),
  },
  { weight: 1, arbitrary: fc.constant("compact" as const) },
  { weight: 2, arbitrary: fc.constant("collect" as const) },
);

/** Takes a step. Resolves to whether it succeeded: another writer may hold the lease. */
async function take(machine: ClusterEngine, one: Step): Promise<boolean> {
  try {
    // a day and a half later, objects that another machine has just stored are old
    if (one === "collect") await machine.collect({ now: later(36 * HOUR) });
    else if (one === "compact") await machine.compact();
    else if (one.texts.length === 0) await machine.remove(one.repository);
    else await machine.index(shop(one.repository, ...one.texts));
    return true;
  } catch (error) {
    if (error instanceof QuernError && error.code === "INDEX_LOCKED") return false;
    throw error;
  }
}

test("random steps never delete anything in use, and leave nothing else", async () => {
  const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), {
    minLength: 2,
    maxLength: 2,
  });
  const property = fc.asyncProperty(scripts, async (each) => {
    const cluster = await newCluster();
    const expected = new Map<string, readonly string[]>();
    const machines = await Promise.all(each.map(() => cluster.open()));
    await Promise.all(
      each.map(async (steps, m) => {
        for (const one of steps) {
          // each machine has its own repositories, so that the outcome is known
          const own = typeof one === "string" ? one : { ...one, repository: one.repository + m };
          while (!(await take(machines[m]!, own)));
          if (typeof own !== "string") expected.set(own.repository, own.texts);
        }
      }),
    );
    const lines = [...expected].flatMap(([name, texts]) =>
      texts.map((text) => `${name}: ${text.trim()}`),
    );
    await machines[0]!.collect({ now: later(36 * HOUR) });
    const fresh = await cluster.open();
    for (const machine of [...machines, fresh]) {
      await machine.refresh();
      expect(await found(machine, "needle")).toEqual(lines.sort());
    }
    expect(await fresh.check()).toMatchObject({ ok: true });
    expect(new Set(await keysOf(cluster))).toEqual(await new Collection(cluster.pool, {}).named());
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
});
