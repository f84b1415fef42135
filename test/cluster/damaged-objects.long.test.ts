/**
 * Damaged and missing objects of a cluster. A machine that has a copy on its disk stores the object again. Otherwise a
 * node serves its other slices, and index runs of the repositories replace the object.
 */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import {
  directorySegments,
  postgresSegments,
  type ClusterEngine,
  type SegmentStore,
} from "../../src/cluster/index.ts";
import { createHandler } from "../../src/http/index.ts";
import { documents, type Source } from "../../src/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { comparable } from "./comparable.ts";
import { openFront, startNode, startNodes } from "./fronts.ts";
import { code, found, newCluster, shop, type Cluster } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";
import { syncConnections, type SyncConfig } from "../../src/sync/index.ts";
import { commit, serveRemotes } from "../sync/remotes.ts";

/** Sources that give a segment with two repositories, and one with another. */
const A = code("a", "export function needleOfA() {} // needle\n");
const B = code("b", "export function needleOfB() {} // needle\n");
const C = code("c", "export function needleOfC() {} // needle\n");
const ALL = ["a", "b", "c"].map(
  (name) => `${name}: export function needleOf${name.toUpperCase()}() {} // needle`,
);

interface Filled {
  readonly cluster: Cluster;
  readonly folder: string;
}

/** A cluster with the repositories `a` and `b` in one slice, and `c` in another. Its writer's folder is gone. */
async function filled(replicas: number): Promise<Filled> {
  const folder = temporaryFolder();
  const segments = directorySegments(folder);
  const cluster = await newCluster({ shardBytes: 90, replicas, segments, onWarning() {} });
  const writer = await cluster.open({}, { retireMs: 0 });
  for (const one of [A, B]) await writer.index(one);
  await writer.compact();
  await writer.index(C);
  await writer.close();
  return { cluster, folder };
}

/** The objects of the segment with the most files, or of its symbols. */
async function objectOf({ cluster }: Filled, kind: "seg" | "sym"): Promise<string> {
  const { rows } = await cluster.pool.query<{ object: string }>(
    "select object from quern_segment order by files desc, segment desc limit 1",
  );
  if (kind === "seg") return rows[0]!.object;
  const keys: { key: string; bytes: number }[] = [];
  for await (const { key } of cluster.segments.list("v1/sym/"))
    keys.push({ key, bytes: await lengthOf(cluster, key) });
  return keys.toSorted((a, b) => b.bytes - a.bytes)[0]!.key;
}

async function lengthOf(cluster: Cluster, key: string): Promise<number> {
  let bytes = 0;
  for await (const piece of await cluster.segments.get(key)) bytes += piece.length;
  return bytes;
}

const DAMAGES: readonly (readonly [string, (file: string) => void])[] = [
  ["a changed byte", (file) => changeByte(file, -1)],
  ["a changed byte of its tables", (file) => changeByte(file, 100)],
  ["a cut end", (file) => writeFileSync(file, readFileSync(file).subarray(0, -3))],
  ["a missing object", (file) => rmSync(file)],
];

function changeByte(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  writeFileSync(file, bytes);
}

async function damagedMetric(engine: ClusterEngine): Promise<number> {
  const handler = createHandler(engine, { anonymous: "all", metrics: "anyone" });
  const text = await (await handler(new Request("http://x/api/metrics"))).text();
  return Number(/^quern_cluster_damaged_objects (\d+)$/m.exec(text)?.[1]);
}

const missingFrom = async (engine: ClusterEngine) =>
  (await engine.search({ query: "needle", matches: 10 })).stats.crashes;

test.each(DAMAGES)("a node that starts gets %s back from a replica's disk", async (_, damage) => {
  const given = await filled(2);
  const { cluster, folder } = given;
  const [first] = await startNodes(cluster, 2);
  const front = await openFront(cluster);
  expect(await found(front, "needle")).toEqual(ALL);
  const objects = [await objectOf(given, "seg"), await objectOf(given, "sym")];
  for (const object of objects) damage(join(folder, object));
  await first!.restart(); // with an empty folder
  await expect.poll(async () => (await front.status()).damaged).toEqual([]);
  await expect
    .poll(async () => (await front.status()).nodes.map(({ missingBytes }) => missingBytes))
    .toEqual([0, 0]);
  const whole = await cluster.open(); // reads every object
  expect(await found(whole, "needle")).toEqual(ALL);
  const request = { query: "sym:needle", matches: 10 };
  expect(comparable(await front.search(request))).toEqual(comparable(await whole.search(request)));
});

test.each([
  ["seg", ...DAMAGES[0]!],
  ["seg", ...DAMAGES[1]!],
  ["sym", ...DAMAGES[3]!],
] as const)(
  "a node starts without a %s object that nobody has (%s), and index runs replace it",
  async (kind, _, damage) => {
    const given = await filled(1);
    const { cluster, folder } = given;
    const warnings: string[] = [];
    const object = await objectOf(given, kind);
    damage(join(folder, object));
    const node = await startNode(cluster, "one", {
      onWarning: ({ code: why, message }) => void warnings.push(`${why} ${message}`),
    });
    const front = await openFront(cluster, {}, { retireMs: 0 });
    expect(await found(front, "needle")).toEqual(ALL.slice(2));
    expect(await missingFrom(front)).toBe(1);
    expect(warnings.join()).toContain("INDEX_CORRUPT this node does without 1 of its slices");
    const status = { shard: 1, object, repositories: ["a", "b"] };
    expect((await front.status()).damaged).toEqual([status]);
    expect(await damagedMetric(front)).toBe(1);
    await expect(front.compact()).rejects.toMatchObject({ code: "INDEX_CORRUPT" });

    const changes = documents({ name: "a", changes: [{ path: "b.ts", content: "needle of b\n" }] });
    await expect(front.index(changes)).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    const [report] = await front.index(A); // the same content as before
    expect(report).toMatchObject({ added: 1, unchanged: 0 });
    expect(await missingFrom(front)).toBe(1);
    expect((await front.status()).damaged).toEqual([{ ...status, repositories: ["b"] }]);
    await front.index(C); // a repository that is not affected does not hide the damage
    await front.index(code("d", "needle of d\n"));
    expect(await missingFrom(front)).toBe(1);

    await front.index(B);
    expect((await front.status()).damaged).toEqual([]);
    expect(await damagedMetric(front)).toBe(0);
    expect(await missingFrom(front)).toBe(0);
    expect(await found(front, "needle")).toEqual([...ALL, "d: needle of d"]);
    await front.compact();
    expect(await found(front, "sym:needle")).toEqual(ALL);
    await node.restart();
    expect(await found(front, "needle")).toEqual([...ALL, "d: needle of d"]);
    expect(await node.engine.check()).toMatchObject({ ok: true });
  },
);

test("sync indexes a repository again that has not changed", async () => {
  const given = await filled(1);
  const { cluster, folder } = given;
  const remotes = await serveRemotes();
  commit(remotes.root, "acme/shop", { "a.txt": "needle of a remote\n".repeat(20) });
  const url = `${remotes.url}/acme/shop.git`;
  const config: SyncConfig = { connections: { work: { type: "git", urls: [url] } } };
  const clones = temporaryFolder();
  const writer = await cluster.open();
  await syncConnections(writer, config, { env: {}, folder: clones });
  const before = (await writer.search({ query: "remote", matches: 0 })).stats;
  await writer.close();
  const { rows } = await cluster.pool.query<{ object: string }>(
    `select object from quern_segment join quern_state using (shard)
     where segment::text = record->'segments'->>0 and record->>'name' = $1`,
    ["127.0.0.1/acme/shop"],
  );
  changeByte(join(folder, rows[0]!.object), -1);
  await startNode(cluster, "one");
  const front = await openFront(cluster);
  const [lost] = (await front.status()).damaged;
  expect(lost!.repositories).toEqual(["127.0.0.1/acme/shop"]);
  expect((await front.repositories()).map(({ name }) => name)).toContain("127.0.0.1/acme/shop");
  await syncConnections(front, config, { env: {}, folder: clones });
  expect((await front.status()).damaged).toEqual([]);
  expect(await missingFrom(front)).toBe(0);
  const { totalMatchCount, fileCount } = before;
  const after = (await front.search({ query: "remote", matches: 0 })).stats;
  expect(after).toMatchObject({ totalMatchCount, fileCount });
});

test("a repository is removed although nobody has its damaged object", async () => {
  const given = await filled(1);
  changeByte(join(given.folder, await objectOf(given, "seg")), -1);
  await startNode(given.cluster, "one");
  const front = await openFront(given.cluster);
  expect(await front.remove("a")).toBe(true);
  expect((await front.status()).damaged).toMatchObject([{ repositories: ["b"] }]);
  expect(await front.remove("b")).toBe(true);
  expect((await front.status()).damaged).toEqual([]);
  expect(await found(front, "needle")).toEqual(ALL.slice(2));
  expect(await missingFrom(front)).toBe(0);
});

test("a node keeps its earlier generation while a new object is damaged, until the writer repairs it", async () => {
  const { cluster, folder } = await filled(1);
  await startNode(cluster, "one");
  const front = await openFront(cluster);
  let isBroken = true;
  const segments: SegmentStore = {
    ...cluster.segments,
    async put(key, body, bytes) {
      await cluster.segments.put(key, body, bytes);
      if (isBroken && key.startsWith("v1/seg/")) changeByte(join(folder, key), -1);
    },
  };
  const writer = await openFront(cluster, { segments });
  const error = { code: "INDEX_CORRUPT", published: ["d"] };
  await expect(writer.index(shop("d", "needle of d\n"))).rejects.toMatchObject(error);
  await expect(front.refresh()).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
  expect(await found(front, "needle")).toEqual(ALL);
  expect(await missingFrom(front)).toBe(0);
  expect((await front.status()).damaged).toMatchObject([{ repositories: ["d"] }]);
  isBroken = false;
  const [report] = await writer.index(shop("d", "needle of d\n"));
  expect(report).toMatchObject({ added: 0, unchanged: 1 });
  expect((await front.status()).damaged).toEqual([]);
  await front.refresh();
  expect(await found(front, "needle")).toEqual([...ALL, "d: needle of d"]);
});

/** So many files that their versions are an object of their own. */
const many = (name: string): Source =>
  documents({
    name,
    files: Array.from({ length: 1_500 }, (_, i) => ({
      path: `${name}/${i}.txt`,
      content: `needle${i}\n`,
      version: String(i),
    })),
  });

test("a damaged object of a repository is replaced by an index run of it", async () => {
  const { cluster, folder } = await filled(1);
  const writer = await cluster.open();
  await writer.index(many("many"));
  await writer.close();
  const keys: string[] = [];
  for await (const { key } of cluster.segments.list("v1/repo/")) keys.push(key);
  expect(keys).toHaveLength(1);
  changeByte(join(folder, keys[0]!), -1);
  const node = await startNode(cluster, "one");
  const front = await openFront(cluster);
  expect((await front.status()).damaged).toEqual([
    { shard: 2, object: keys[0], repositories: ["many"] },
  ]);
  expect(await missingFrom(front)).toBeGreaterThan(0);
  await front.index(A);
  expect((await front.status()).damaged).toHaveLength(1);
  await front.index(many("many"));
  expect((await front.status()).damaged).toEqual([]);
  expect((await front.search({ query: "needle", matches: 1 })).stats.totalMatchCount).toBe(1_506);
  expect(await missingFrom(front)).toBe(0);
  expect(await node.engine.check()).toMatchObject({ ok: true });
});

test("a machine with the whole index starts when another one has repaired the object", async () => {
  const given = await filled(1);
  const one = await given.cluster.open();
  changeByte(join(given.folder, await objectOf(given, "seg")), -1);
  const other = await given.cluster.open();
  expect(await found(other, "needle")).toEqual(ALL);
  expect((await one.status()).damaged).toEqual([]);
});

test("an index run that makes an equal segment repairs its object, also in a store that replaces none", async () => {
  const cluster = await newCluster();
  const segments = postgresSegments(cluster.pool);
  const one = await cluster.open({ segments });
  await one.index(C);
  await one.close();
  await cluster.pool.query(
    "update quern_chunk set body = set_byte(body, length(body) - 1, 255 - get_byte(body, length(body) - 1))",
  );
  await startNode(cluster, "one", { segments });
  const front = await openFront(cluster, { segments });
  expect((await front.status()).damaged).not.toEqual([]);
  await front.index(C);
  expect((await front.status()).damaged).toEqual([]);
  expect(await found(front, "needle")).toEqual(ALL.slice(2));
  expect(await missingFrom(front)).toBe(0);
});

test("an object that a store does not replace is deleted before it is stored again", async () => {
  const segments = (cluster: Cluster) => postgresSegments(cluster.pool);
  const cluster = await newCluster();
  const one = await cluster.open({ segments: segments(cluster) });
  await one.index(A);
  await cluster.pool.query(
    "update quern_chunk set body = set_byte(body, length(body) - 1, 255 - get_byte(body, length(body) - 1))",
  );
  const other = await cluster.open({ segments: segments(cluster) });
  expect(await found(other, "needle")).toEqual(ALL.slice(0, 1));
  expect((await other.status()).damaged).toEqual([]);
});
