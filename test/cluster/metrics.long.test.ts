/** What Prometheus reads of a cluster: each name that the page has, and no other, also while PostgreSQL is away. */

import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { postgresCatalog, type ClusterEngine } from "../../src/cluster/index.ts";
import { createHandler } from "../../src/http/index.ts";
import { openFront, startNode } from "./fronts.ts";
import { newCluster, shop } from "./machines.ts";
import { postgresTest as test } from "./postgres.ts";

/** Values by name and labels. */
async function metricsOf(engine: ClusterEngine): Promise<Map<string, number>> {
  const handler = createHandler(engine, { anonymous: "all", metrics: "anyone" });
  const text = await (await handler(new Request("http://x/api/metrics"))).text();
  const lines = text.split("\n").filter((line) => line.startsWith("quern_cluster_"));
  return new Map(
    lines.map((line): [string, number] => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const namesIn = (text: string): Set<string> => new Set(text.match(/quern_cluster_[a-z_]+/g));

test("nodes, generations and jobs, with the names that the page has", async () => {
  const cluster = await newCluster({ replicas: 1, onWarning: () => undefined });
  const node = await startNode(cluster, "one");
  let isDown = false;
  const orFail = <T>(run: () => T): T => {
    if (isDown) throw new Error("PostgreSQL is down");
    return run();
  };
  const catalog = postgresCatalog({
    query: async (text, values) => orFail(() => cluster.pool.query(text, values)),
    connect: async () => orFail(() => cluster.pool.connect()),
  });
  const front = await openFront(cluster, { catalog });
  await front.index(shop("shop", "needle\n"));
  await front.enqueue("later", null, { runAfter: new Date(Date.now() + 3_600_000) });
  const whole = new Map([
    ["quern_cluster_up", 1],
    ['quern_cluster_generations_behind{shard="1"}', 0],
    ['quern_cluster_node_live{node="one"}', 1],
    ['quern_cluster_node_missing_bytes{node="one"}', 0],
    ["quern_cluster_damaged_objects", 0],
    ['quern_cluster_jobs{state="waiting"}', 1],
    ['quern_cluster_jobs{state="running"}', 0],
    ['quern_cluster_jobs{state="failed"}', 0],
    ["quern_cluster_oldest_due_job_seconds", 0],
  ]);
  await expect.poll(() => metricsOf(front)).toEqual(whole);
  expect(namesIn(readFileSync("docs/metrics.md", "utf8"))).toEqual(
    namesIn([...whole.keys()].join()),
  );

  await node.engine.close();
  const left = async () => {
    const now = await metricsOf(front);
    const of = (name: string) => now.get(`quern_cluster_node_${name}{node="one"}`);
    return [of("live"), of("missing_bytes")! > 0];
  };
  await expect.poll(left).toEqual([0, true]);

  isDown = true;
  expect(await metricsOf(front)).toEqual(new Map([["quern_cluster_up", 0]]));
});
