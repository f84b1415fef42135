/**
 * A writer fetches the tables of a shard alone, and the rest of a segment before it merges it or finds its symbols. The
 * store counts what it sends, and each state answers as one engine with the same history.
 */

import { expect } from "vitest";
import { generatedFiles } from "../../bench/generated.ts";
import { directorySegments, type ClusterEngine } from "../../src/cluster/index.ts";
import type { SegmentStore } from "../../src/cluster/index.ts";
import { documents, type Engine, type SearchRequest, type Source } from "../../src/index.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNodes } from "./fronts.ts";
import { code, newCluster, type Cluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

interface Counted {
  readonly segments: SegmentStore;
  /** Bytes of the objects that the store has sent since the last call. */
  readonly sent: () => number;
  /** Bytes of all objects that were stored. */
  readonly stored: () => number;
  /** How many whole objects are still sent. After these, half of each is sent, and then an error. */
  left: number;
}

function counted(store: SegmentStore = directorySegments(temporaryFolder())): Counted {
  let [sent, stored] = [0, 0];
  const counter: Counted = {
    segments: {
      ...store,
      async put(key, body, bytes) {
        await store.put(key, body, bytes);
        stored += bytes;
      },
      async get(key, range) {
        const isCut = range === undefined && counter.left-- <= 0;
        const body = await store.get(key, range);
        return (async function* () {
          for await (const piece of body) {
            sent += piece.length;
            yield isCut ? piece.subarray(0, piece.length >> 1) : piece;
            if (isCut) throw new Error("the line broke");
          }
        })();
      },
    },
    sent() {
      const bytes = sent;
      sent = 0;
      return bytes;
    },
    stored: () => stored,
    left: Infinity,
  };
  return counter;
}

const QUESTIONS: readonly SearchRequest[] = [
  { query: "needle", matches: 50 },
  { query: "repository lang:c", matches: 5, facets: 3 },
  { query: "sym:basket", matches: 50 },
  { query: "basket or needle_2_ -file:part_3", matches: 50 },
  { query: "repository:large", matches: 3 },
];

/** Resolves to the answers to all questions. Ids are left out, because PostgreSQL leaves numbers out. */
async function answers(engine: Pick<Engine, "search">) {
  const all = await Promise.all(QUESTIONS.map((request) => engine.search(request)));
  const noIds = (name: string, value: unknown): unknown =>
    name === "id" || name === "repositoryId" ? undefined : value;
  return JSON.parse(JSON.stringify(all.map(comparable), noIds)) as ReturnType<typeof comparable>[];
}

/** Text that no grammar parses, because finding symbols takes long. */
const large = (number: number, bytes: number, changed = -1): Source =>
  documents({
    name: `large-${number}`,
    files: Array.from(generatedFiles(number, bytes), ({ path, content }, n) => ({
      path: path.replace(/c$/u, "txt"),
      content: n === changed ? Buffer.from("needle changed\n") : content,
    })),
  });
const BASKET = code("basket", "export function basket() {}\n", "basket();\n");
const MEGABYTE = 2 ** 20;

type Change = (engine: Pick<Engine, "index" | "remove" | "compact">) => Promise<unknown>;

/** A cluster in which one machine has filled a shard, and an engine with the same history. */
async function filled(changes: readonly Change[]) {
  const store = counted();
  const cluster = await newCluster({ segments: store.segments, replicas: 1 });
  await startNodes(cluster, 1);
  const engine = await openEngine();
  const first = await openFront(cluster);
  for (const change of changes) for (const each of [first, engine]) await change(each);
  return { cluster, store, engine };
}

/** Opens a machine that writes, and counts only that machine's fetches. */
async function newWriter(cluster: Cluster): Promise<{ writer: ClusterEngine; own: Counted }> {
  const own = counted(cluster.segments);
  return { writer: await openFront(cluster, { segments: own.segments }), own };
}

const LARGE: readonly Change[] = [
  (each) => each.index(large(1, MEGABYTE)),
  (each) => each.index(large(2, MEGABYTE / 2)),
];

test("a job in a full shard fetches only a few per cent of it", async () => {
  const { cluster, store, engine } = await filled([...LARGE, (each) => each.index(BASKET)]);
  const changes: readonly Change[] = [
    (each) => each.index(code("other", "basket();\nfunction otherBasket() {}\n")),
    (each) => each.index(large(2, MEGABYTE / 2, 7)),
    (each) => each.index(large(2, MEGABYTE / 2, 8)),
    (each) => each.index(code("basket", "basket();\n")),
  ];
  for (const change of changes) {
    const { writer, own } = await newWriter(cluster); // the writer has no segments yet
    for (const each of [writer, engine]) await change(each);
    expect(await answers(writer)).toEqual(await answers(engine));
    const part = own.sent() / store.stored();
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(0.04);
  }
});

test("a large repository is removed without being fetched", async () => {
  const { cluster, store, engine } = await filled(LARGE);
  const { writer, own } = await newWriter(cluster);
  for (const each of [writer, engine]) await each.remove("large-1");
  expect(own.sent() / store.stored()).toBeLessThan(0.04);
  expect(await answers(writer)).toEqual(await answers(engine));
});

/** Seven segments of the lowest tier. The next one makes a merge due. */
const SMALL: readonly Change[] = Array.from(
  { length: 7 },
  (_, n): Change =>
    (each) =>
      each.index(large(10 + n, 50_000)),
);
const EIGHTH: Change = (each) => each.index(large(17, 50_000));

test("only segments that are merged are completed first", async () => {
  const { cluster, store, engine } = await filled([...LARGE, ...SMALL]);
  const { writer, own } = await newWriter(cluster);
  const stored = store.stored();
  for (const each of [writer, engine]) await EIGHTH(each);
  const part = own.sent() / stored;
  expect(part).toBeGreaterThan(0.15);
  expect(part).toBeLessThan(0.4);
  expect(await answers(writer)).toEqual(await answers(engine));
});

test("only segments without symbols are completed", async () => {
  const { cluster, store, engine } = await filled([
    ...LARGE,
    (each) => each.index(BASKET, { symbols: "skip" }),
  ]);
  const { writer, own } = await newWriter(cluster);
  for (const each of [writer, engine]) await each.index(code("other", "function anyBasket() {}\n"));
  const told = await answers(writer);
  expect(told[2]).toMatchObject({ isSearchExhaustive: true, counters: { fileCount: 2 } });
  expect(told).toEqual(await answers(engine));
  expect(own.sent() / store.stored()).toBeLessThan(0.04);
});

test("an interrupted completion is repeated, even by another process", async () => {
  const { cluster, engine } = await filled([...LARGE, ...SMALL]);
  const own = counted(cluster.segments);
  const options = { segments: own.segments, directory: temporaryFolder() };
  for (const left of [0, 3, 5]) {
    own.left = left;
    const writer = await openFront(cluster, options);
    for (let times = 0; times < 2; times++)
      await expect(EIGHTH(writer)).rejects.toThrow("the line broke");
    await writer.refresh();
    expect((await writer.search({ query: "needle_17_", matches: 1 })).files).toHaveLength(1);
    await writer.close();
  }
  own.left = Infinity;
  const writer = await openFront(cluster, options);
  for (const each of [writer, engine]) await EIGHTH(each);
  const told = await answers(writer);
  expect(told).toEqual(await answers(engine));
  expect(told[0]!.counters["shardsScanned"]).toBe(3);
});

test("a writer that reads damaged tables publishes its changes, and nothing else is lost", async () => {
  const { cluster, engine } = await filled(LARGE);
  const { segments } = cluster;
  const spoilt: SegmentStore = {
    ...segments,
    async get(key, range) {
      const body = await segments.get(key, range);
      if (range?.[0] === 0 || !key.startsWith("v1/seg/")) return body;
      return (async function* () {
        for await (const piece of body) yield piece.map((byte, i) => (i === 40 ? byte ^ 1 : byte));
      })();
    },
  };
  const writer = await openFront(cluster, { segments: spoilt });
  for (const each of [writer, engine]) await each.index(BASKET);
  const shown = async (each: Engine) =>
    (await answers(each)).map((answer) => ({ ...answer, counters: undefined }));
  expect(await shown(writer)).toEqual(await shown(engine));
});
