/** Machines of a cluster answer as one engine does, whichever machine has indexed and whatever fails. */

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect } from "vitest";
import {
  postgresSegments,
  type ClusterEngine,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import { Catalog } from "../../src/cluster/catalog/catalog.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import { repositoryRanges } from "../../src/store/format/format.ts";
import { createHandler } from "../../src/http/index.ts";
import { bringTo, difference, moveViewer, streamDifference } from "../engine/corpus-engine.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { CONTEXTS, searchStates } from "../oracle/queries.ts";
import { code, found, newCluster, newGate, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

const contexts = (name: string) => CONTEXTS[name];

describe("as one engine", () => {
  test("two machines that index in turn answer as brute force does, with many shards or one", async () => {
    for (const shardBytes of [1, 2000, undefined]) {
      const cluster = await newCluster({ contexts, ...(shardBytes && { shardBytes }) });
      const machines = [await cluster.open(), await cluster.open()];
      const long = "more than a shard may have\n".repeat(100);
      for (const name of ["first", "second"]) await machines[0]!.index(shop(name, long));
      let turn = 0;
      const property = fc.asyncProperty(searchStates(3), async ({ corpus, asked }) => {
        const there = await bringTo(machines[turn++ % 2]!, corpus);
        for (const machine of machines) {
          await machine.refresh();
          for (const one of asked) {
            const moved = { ...one, options: moveViewer(one.options, corpus, there) };
            expect(await difference(machine, there, moved)).toBeUndefined();
            expect(await streamDifference(machine, there, moved)).toBeUndefined();
          }
        }
      });
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
      expect(await machines[0]!.check()).toMatchObject({ ok: true });
      const { shards } = await machines[1]!.status();
      expect(shards.length > 1).toBe(shardBytes !== undefined);
    }
  });

  test("another machine has the same symbols, files, folders and lists as the machine that indexed", async () => {
    const cluster = await newCluster({ shardBytes: 1 });
    const [one, other] = [await cluster.open(), await cluster.open()];
    const [report] = await one.index(code("shop", "export function basket() {}\n", "basket();\n"));
    expect(report).toMatchObject({ repository: "shop", added: 2, symbols: 1 });
    await other.refresh();
    for (const machine of [one, other]) {
      const { files } = await machine.search({ query: "sym:basket", matches: 5 });
      expect(files.map(({ fileName }) => fileName.text)).toEqual(["src/file0.ts"]);
      const file = await machine.read({ repository: "shop", path: "src/file1.ts" });
      expect(file?.content).toBe("basket();\n");
      const folder = await machine.list({ repository: "shop", path: "src" });
      expect(folder?.map(({ name }) => name)).toEqual(["file0.ts", "file1.ts"]);
      expect(await machine.repository("shop")).toMatchObject({ id: report!.repositoryId });
    }
  });

  test("a machine continues from what another machine indexed, and does not read unchanged files again", async () => {
    const cluster = await newCluster();
    const [one, other] = [await cluster.open(), await cluster.open()];
    await one.index(shop("shop", "old one\n", "old two\n"));
    const [report] = await other.index(shop("shop", "old one\n", "new two\n"));
    expect(report).toMatchObject({ added: 1, removed: 1, unchanged: 1 });
    const [again] = await one.index(shop("shop", "old one\n", "new two\n", "new three\n"));
    expect(again).toMatchObject({ added: 1, removed: 0, unchanged: 2 });
    await other.refresh();
    for (const machine of [one, other]) {
      expect(await found(machine, "new")).toEqual(["shop: new three", "shop: new two"]);
      expect(await machine.check()).toMatchObject({ ok: true });
    }
  });

  test("ids are the same on all machines, and are never reused", async () => {
    const cluster = await newCluster();
    const [one, other] = [await cluster.open(), await cluster.open()];
    const idOf = async (machine: ClusterEngine, name: string, text: string) =>
      (await machine.index(shop(name, text)))[0]!.repositoryId;
    const first = await idOf(one, "a", "x");
    const second = await idOf(other, "b", "x");
    expect(await idOf(other, "a", "y")).toBe(first);
    expect(await one.remove("a")).toBe(true);
    expect(await one.remove("a")).toBe(false);
    expect(await other.remove("never")).toBe(false);
    const third = await idOf(other, "a", "x");
    expect(new Set([first, second, third]).size).toBe(3);
    await one.refresh();
    expect((await one.repositories()).map(({ name, id }) => [name, id])).toEqual([
      ["a", third],
      ["b", second],
    ]);
  });

  test("compact() on one machine merges segments for all machines", async () => {
    const cluster = await newCluster();
    const [one, other] = [await cluster.open(), await cluster.open({}, { retireMs: 100 })];
    for (let i = 0; i < 4; i++) await one.index(shop(`r${i}`, `text ${i}\n`));
    const report = await other.compact();
    expect(report.segmentsAfter).toBe(1);
    await one.refresh();
    expect(await found(one, "text")).toHaveLength(4);
    expect(await one.check()).toMatchObject({ ok: true });
  });

  test("the objects can be stored in PostgreSQL, too", async () => {
    const cluster = await newCluster();
    const segments = postgresSegments(cluster.pool);
    const [one, other] = [await cluster.open({ segments }), await cluster.open({ segments })];
    await one.index(shop("shop", "needle\n"));
    await other.refresh();
    expect(await found(other, "needle")).toEqual(["shop: needle"]);
  });

  test("two processes of a machine share its folder", async () => {
    const cluster = await newCluster();
    const directory = temporaryFolder();
    const [one, other] = [await cluster.open({ directory }), await cluster.open({ directory })];
    await Promise.all([one.index(shop("a", "needle\n")), other.index(shop("b", "needle\n"))]);
    await Promise.all([one.refresh(), other.refresh()]);
    for (const each of [one, other]) expect(await found(each, "needle")).toHaveLength(2);
  });

  test("a machine notices by itself what others publish", async () => {
    const cluster = await newCluster();
    const [one, other] = [await cluster.open(), await cluster.open()];
    await one.index(shop("shop", "needle\n"));
    await expect.poll(() => found(other, "needle")).toEqual(["shop: needle"]);
  });

  test("the HTTP handler can serve a machine's engine", async () => {
    const cluster = await newCluster();
    const engine = await cluster.open();
    await engine.index(shop("shop", "needle\n"));
    const handler = createHandler(engine, { anonymous: "all" });
    const body = JSON.stringify({ query: "needle", matches: 1 });
    const headers = { "content-type": "application/json" };
    const asked = new Request("http://x/api/search", { method: "POST", headers, body });
    const answer = (await (await handler(asked)).json()) as { stats: { totalMatchCount: number } };
    expect(answer.stats.totalMatchCount).toBe(1);
    expect((await handler(new Request("http://x/api/repos"))).status).toBe(200);
  });
});

describe("writers", () => {
  test("that run at once, on one shard or on several, publish everything", async () => {
    for (const shardBytes of [1, undefined]) {
      const cluster = await newCluster(shardBytes ? { shardBytes } : {});
      const machines = [await cluster.open(), await cluster.open(), await cluster.open()];
      await Promise.all(
        machines.flatMap((machine, m) =>
          [0, 1].map((n) => machine.index(shop(`r${m}${n}`, `needle ${m}${n}\n`))),
        ),
      );
      for (const machine of machines) {
        await machine.refresh();
        expect(await found(machine, "needle")).toHaveLength(6);
      }
    }
  });

  test("that do not wait fail with INDEX_LOCKED while another one writes", async () => {
    const cluster = await newCluster();
    const engine = await cluster.open({ lockTimeoutMs: 0 });
    await engine.index(shop("shop", "old\n"));
    const catalog = new Catalog(cluster.pool, {});
    const [shard] = [...(await catalog.generations()).keys()];
    await catalog.lease(shard!, "another", 60_000);
    await expect(engine.index(shop("shop", "new\n"))).rejects.toMatchObject({
      code: "INDEX_LOCKED",
    });
    await catalog.release(shard!, "nobody");
    await expect(engine.remove("shop")).rejects.toMatchObject({ code: "INDEX_LOCKED" });
    await catalog.release(shard!, "another");
    await engine.index(shop("shop", "new\n"));
    expect(await found(engine, "new")).toEqual(["shop: new"]);
  });

  test("that were stopped until their lease expired publish nothing, and continue from what others have published", async () => {
    const cluster = await newCluster();
    const gate = newGate();
    const reached = newGate();
    const slow: SegmentStore = {
      ...cluster.segments,
      async put(key, body, bytes) {
        reached.open();
        await gate.opened;
        await cluster.segments.put(key, body, bytes);
      },
    };
    const [stopped, other] = [await cluster.open({ segments: slow }), await cluster.open()];
    const late = stopped.index(shop("shop", "late\n"));
    const refused = expect(late).rejects.toMatchObject({ code: "INDEX_LOCKED" });
    await reached.opened;
    // as if its lease had expired
    await cluster.pool.query("update quern_shard set writer_until = now() - interval '1 s'");
    await other.index(shop("shop", "early\n"));
    await other.index(shop("more", "early\n"));
    gate.open();
    await refused;
    await stopped.refresh();
    for (const machine of [stopped, other]) {
      expect(await found(machine, "late or early")).toEqual(["more: early", "shop: early"]);
    }
    const [report] = await stopped.index(shop("shop", "early\n", "late\n"));
    expect(report).toMatchObject({ added: 1, unchanged: 1 });
    await other.refresh();
    expect(await found(other, "late or early")).toEqual([
      "more: early",
      "shop: early",
      "shop: late",
    ]);
    expect(await stopped.check()).toMatchObject({ ok: true });
  });

  /** Returns a store that lets `before` calls pass and fails the next one. */
  const failing = (store: SegmentStore, before: number): SegmentStore => {
    let left = before;
    return {
      ...store,
      async put(key, body, bytes) {
        if (left-- === 0) throw new Error("the store is gone");
        await store.put(key, body, bytes);
      },
    };
  };

  // if there are many files, the data that a writer needs is a separate object
  test.each(
    someOf(
      [
        [0, 1],
        [0, 500],
        [1, 500],
      ],
      2,
    ),
  )("that fail after %i objects publish nothing (%i files)", async (before, count) => {
    const cluster = await newCluster();
    const good = await cluster.open();
    await good.index(code("shop", "old\n"));
    const bad = await cluster.open({ segments: failing(cluster.segments, before) });
    const others = Array.from({ length: count }, (_, i) => `export function other${i}() {}\n`);
    const changed = code("shop", "old\n", "export function fresh() {}\n", ...others);
    await expect(bad.index(changed)).rejects.toThrow("the store is gone");
    await bad.refresh();
    expect(await found(bad, "fresh")).toEqual([]);
    await good.index(shop("other", "fresh\n"));
    await bad.index(code("shop", "old\n", "fresh again\n"));
    await good.refresh();
    expect(await found(good, "fresh")).toEqual(["other: fresh", "shop: fresh again"]);
    for (const machine of [good, bad]) expect(await machine.check()).toMatchObject({ ok: true });
  });

  test("give a repository whose first index failed an id above those assigned in the meantime", async () => {
    const cluster = await newCluster();
    const bad = await cluster.open({ segments: failing(cluster.segments, 0) });
    await expect(bad.index(shop("a", "needle a\n"))).rejects.toThrow("the store is gone");
    const good = await cluster.open();
    const [b] = await good.index(shop("b", "needle b\n"));
    const [a] = await good.index(shop("a", "needle a\n"));
    expect(a!.repositoryId).toBeGreaterThan(b!.repositoryId);
    expect(await found(good, "needle")).toEqual(["a: needle a", "b: needle b"]);
  });

  test("that remove a repository leave none of its data on another machine", async () => {
    const cluster = await newCluster();
    const [one, other] = [await cluster.open(), await cluster.open()];
    const [report] = await one.index([shop("a", "needle\n"), shop("b", "needle\n")]);
    await other.refresh();
    const store = await openStore(join(other.path, "replica"), { readOnly: false });
    const keys = () => {
      const snapshot = store.snapshot();
      const ranges = repositoryRanges(report!.repositoryId);
      const count = ranges.flatMap((range) => [...snapshot.keys(range)]).length;
      snapshot.close();
      return count;
    };
    try {
      expect(keys()).toBeGreaterThan(2);
      await one.remove("a");
      await other.refresh();
      expect(keys()).toBe(0);
    } finally {
      await store.close();
    }
    expect(await found(other, "needle")).toEqual(["b: needle"]);
  });
});

describe("failures", () => {
  test("damaged bytes are rejected, and the older generation answers until they are intact", async () => {
    const cluster = await newCluster();
    const one = await cluster.open();
    await one.index(shop("shop", "old\n"));
    let isDamaged = false;
    const warnings: string[] = [];
    const damaging: SegmentStore = {
      ...cluster.segments,
      async get(key, range) {
        const body = await cluster.segments.get(key, range);
        return isDamaged ? flipped(body) : body;
      },
    };
    const onWarning = ({ message }: { message: string }) => void warnings.push(message);
    const other = await cluster.open({ segments: damaging, onWarning });
    const before = (await one.status()).shards[0]!.published;
    isDamaged = true;
    await one.index(shop("shop", "new\n"));
    await expect(other.refresh()).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    expect(await found(other, "old or new")).toEqual(["shop: old"]);
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    expect(await other.status()).toMatchObject({ shards: [{ shard: 1, here: before }] });
    isDamaged = false;
    await other.refresh();
    expect(await found(other, "old or new")).toEqual(["shop: new"]);
    expect(await other.check()).toMatchObject({ ok: true });
  });

  async function* flipped(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      const copy = Uint8Array.from(piece);
      copy[copy.length - 2]! ^= 1;
      yield copy;
    }
  }

  test("without PostgreSQL and the object store, searches continue, and nothing is published", async () => {
    const cluster = await newCluster();
    const engine = await cluster.open({ onWarning: () => undefined });
    await engine.index(shop("shop", "needle\n"));
    await cluster.pool.query("alter table quern_shard rename to gone");
    expect(await found(engine, "needle")).toEqual(["shop: needle"]);
    await expect(engine.index(shop("shop", "other\n"))).rejects.toThrow();
    await expect(engine.status()).rejects.toThrow();
    expect(await found(engine, "needle")).toEqual(["shop: needle"]);
    await cluster.pool.query("alter table gone rename to quern_shard");
    await engine.index(shop("shop", "other\n"));
    expect(await found(engine, "needle or other")).toEqual(["shop: other"]);
  });

  test("a missing manifest fails with INDEX_CORRUPT", async () => {
    const cluster = await newCluster();
    await (await cluster.open()).index(shop("shop", "needle\n"));
    for (const table of ["quern_state", "quern_segment", "quern_manifest"]) {
      await cluster.pool.query(`delete from ${table}`);
      await expect(cluster.open()).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    }
  });

  test("a machine whose folder was lost fetches everything again", async () => {
    const cluster = await newCluster();
    const directory = temporaryFolder();
    const one = await cluster.open({ directory });
    await one.index(shop("shop", "needle\n"));
    await one.close();
    const again = await cluster.open({ directory: `${directory}/${randomUUID()}` });
    expect(await found(again, "needle")).toEqual(["shop: needle"]);
    const back = await cluster.open({ directory });
    expect(await found(back, "needle")).toEqual(["shop: needle"]);
  });

  test("closing twice is harmless, and later calls fail with ENGINE_CLOSED", async () => {
    const cluster = await newCluster();
    const engine = await cluster.open();
    await Promise.all([engine.close(), engine.close()]);
    for (const refused of [
      engine.index(shop("shop", "x")),
      engine.search({ query: "x", matches: 1 }),
      engine.remove("shop"),
      engine.refresh(),
      engine.status(),
      engine.compact(),
    ])
      await expect(refused).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
  });
});

const REFUSED: readonly (readonly [string, object, string])[] = [
  ["an empty directory", { directory: "" }, "directory must be a non-empty string"],
  ["shardBytes: 0", { shardBytes: 0 }, "shardBytes must be an integer of 1 or more, got 0"],
  ["an unknown option", { shards: 3 }, "shards"],
  ["readOnly", { readOnly: true }, "readOnly"],
];

test.each(REFUSED)("%s fails with INVALID_REQUEST", async (_, option, words) => {
  const cluster = await newCluster();
  const refused = cluster.open(option);
  await expect(refused).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  await expect(refused).rejects.toThrow(words);
});

test("a folder cannot be followed", async () => {
  const engine = await (await newCluster()).open();
  await expect(engine.workspace(".")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
});

test("searches see only published states while everything changes", async () => {
  const cluster = await newCluster();
  const [writer, reader] = [await cluster.open(), await cluster.open()];
  const stateOf = (n: number) => shop("shop", ...Array.from({ length: 5 }, () => `needle ${n}\n`));
  await writer.index(stateOf(0));
  await reader.refresh();
  let isOver = false;
  const writing = (async () => {
    for (let n = 1; n <= 12; n++) await writer.index(stateOf(n));
    isOver = true;
  })();
  const seen = new Set<string>();
  while (!isOver) {
    const lines = await found(reader, "needle");
    expect(lines).toHaveLength(5);
    expect(new Set(lines).size).toBe(1);
    seen.add(lines[0]!);
    await reader.refresh();
  }
  await writing;
  expect(seen.size).toBeGreaterThan(1);
});
