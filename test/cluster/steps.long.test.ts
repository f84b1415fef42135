/** A run publishes after each of its steps: content, symbols, merges. Each step is held back at its first object. */

import { expect, onTestFinished } from "vitest";
import {
  directorySegments,
  type ClusterEngine,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import type { SearchRequest } from "../../src/index.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNodes } from "./fronts.ts";
import { code, found, newCluster, newGate, type Gate } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

interface Held {
  /** A store that holds back one object. */
  readonly segments: SegmentStore;
  /** Holds the next object whose key begins like this. Resolves when the store is asked to keep it. */
  readonly next: (prefix: string) => Promise<Gate>;
}

function holdable(): Held {
  const store = directorySegments(temporaryFolder());
  let held: { readonly prefix: string; readonly asked: Gate; readonly gate: Gate } | undefined;
  return {
    segments: {
      ...store,
      async put(key, body, bytes) {
        if (held && key.startsWith(held.prefix)) {
          const { asked, gate } = held;
          held = undefined;
          asked.open();
          await gate.opened;
        }
        await store.put(key, body, bytes);
      },
    },
    async next(prefix) {
      const [asked, gate] = [newGate(), newGate()];
      onTestFinished(gate.open); // or the machine could not be closed
      held = { prefix, asked, gate };
      await asked.opened;
      return gate;
    },
  };
}

const SEGMENT = "v1/seg/";
const SYMBOLS = "v1/sym/";

const QUESTIONS: readonly SearchRequest[] = [
  { query: "basket", matches: 10 },
  { query: "sym:basket", matches: 10 },
  { query: "basket -sym:basket", matches: 10, facets: 3 },
  { query: "sym:/b.s/ or lang:go", matches: 0 },
];

const CART = code("shop", "export function basket() {}\n", "basket();\n", "none\n");

/** Resolves to the answers to all questions. `wait` and the other times differ. */
async function answers(engine: Pick<ClusterEngine, "search">) {
  const all = await Promise.all(QUESTIONS.map((request) => engine.search(request)));
  return all.map(comparable);
}

test.each([
  ["a machine with the whole index", 0],
  ["a front over two nodes", 2],
])(
  "%s shows content before its symbols, and says as one engine that they are missing",
  async (_, nodes) => {
    const { segments, next } = holdable();
    const cluster = await newCluster({ segments, shardBytes: 40, replicas: 1 });
    await startNodes(cluster, nodes);
    const [machine, writer] =
      nodes > 0
        ? [await openFront(cluster), await openFront(cluster)]
        : [await cluster.open(), await cluster.open()];
    const engine = await openEngine();
    await engine.index(code("first", "x\n")); // in a cluster, the first id is 2
    await engine.remove("first");
    const isReached = next(SYMBOLS);
    let isDone = false;
    const indexing = writer.index(CART).then((reports) => {
      isDone = true;
      return reports;
    });
    const gate = await isReached;
    await engine.index(CART, { symbols: "skip" });
    for (const each of [machine, writer]) {
      await each.refresh();
      const told = await answers(each);
      expect(told).toEqual(await answers(engine));
      expect(told.map(({ isSearchExhaustive }) => isSearchExhaustive)).toEqual([
        true,
        false,
        false,
        false,
      ]);
      expect(told[1]!.counters["filesSkipped"]).toBe(2);
    }
    expect(isDone).toBe(false); // it resolves when the symbols are found, too
    gate.open();
    expect(await indexing).toMatchObject([{ symbols: 1 }]);
    await engine.index(CART);
    await machine.refresh();
    for (const each of [machine, writer])
      expect(await answers(each)).toEqual(await answers(engine));
  },
);

test("symbols are found before segments are merged", async () => {
  const { segments, next } = holdable();
  const cluster = await newCluster({ segments });
  const [machine, writer] = [await cluster.open(), await cluster.open()];
  for (let n = 0; n < 7; n++) await writer.index(code(`r${n}`, `function needle${n}() {}\n`));
  await machine.refresh();
  const isContent = next(SEGMENT);
  const indexing = writer.index(code("r7", "function needle7() {}\n"));
  const isMerged = isContent.then((gate) => {
    const merged = next(SEGMENT);
    gate.open();
    return merged;
  });
  const gate = await isMerged;
  await machine.refresh();
  const request = { query: "sym:needle", matches: 20 };
  const before = await machine.search(request);
  expect([before.files.length, before.isSearchExhaustive]).toEqual([8, true]);
  expect(before.stats.shardsScanned).toBe(8);
  gate.open();
  await indexing;
  await machine.refresh();
  const after = await machine.search(request);
  expect([after.files.length, after.stats.shardsScanned]).toEqual([8, 1]);
  expect(await machine.check()).toMatchObject({ ok: true });
});

test("a removed repository is gone before segments are merged", async () => {
  const { segments, next } = holdable();
  const cluster = await newCluster({ segments });
  const [machine, writer] = [await cluster.open(), await cluster.open()];
  const needles = Array.from({ length: 9 }, (_, n) => `function needle${n}() {}\n`);
  await writer.index(code("gone", ...needles));
  for (let n = 0; n < 7; n++) await writer.index(code(`r${n}`, `needle of another ${n}\n`));
  await machine.refresh();
  expect(await found(machine, "repo:gone needle")).toHaveLength(9);
  const isReached = next(SEGMENT);
  const removing = writer.remove("gone");
  const gate = await isReached;
  await machine.refresh();
  expect(await found(machine, "repo:gone needle")).toEqual([]);
  gate.open();
  expect(await removing).toBe(true);
  expect(await machine.check()).toMatchObject({ ok: true });
});

test("symbols that a failed run has left out are found by the next run in the shard", async () => {
  const cluster = await newCluster();
  const { segments } = cluster;
  const failing: SegmentStore = {
    ...segments,
    put: (key, ...rest) =>
      key.startsWith(SYMBOLS)
        ? Promise.reject(new Error("it is full"))
        : segments.put(key, ...rest),
  };
  const [machine, other] = [await cluster.open({ segments: failing }), await cluster.open()];
  await expect(machine.index(CART)).rejects.toThrow("it is full");
  await other.refresh();
  const request = { query: "sym:basket", matches: 10 };
  const without = await other.search(request);
  expect([without.files.length, without.isSearchExhaustive]).toEqual([0, false]);
  await other.index(code("unrelated", "text\n"));
  for (const each of [machine, other]) {
    await each.refresh();
    const { files, isSearchExhaustive } = await each.search(request);
    expect([files.length, isSearchExhaustive]).toEqual([1, true]);
  }
});
