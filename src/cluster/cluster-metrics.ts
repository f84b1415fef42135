/** Reports the state of a cluster as one machine sees it, for Prometheus. */

import type { Metric } from "../metrics/metrics-text.ts";
import type { QueueState } from "./catalog/jobs.ts";
import type { NodeStatus } from "./status.ts";

interface SeenStatus {
  readonly shards: readonly {
    readonly shard: number;
    readonly published: number;
    readonly here: number;
  }[];
  readonly nodes: readonly Pick<NodeStatus, "name" | "isLive" | "missingBytes">[];
  readonly queue: QueueState;
  readonly damaged: readonly unknown[];
}

/** Returns the metrics of a cluster. `status` is undefined if PostgreSQL cannot be reached. */
export function clusterMetrics(status: SeenStatus | undefined): Metric[] {
  const up = gauge("quern_cluster_up", "Whether PostgreSQL responds.", [{ value: status ? 1 : 0 }]);
  if (status === undefined) return [up];
  const { shards, nodes, queue, damaged } = status;
  const behind = shards.map(({ shard, published, here }) => ({
    labels: { shard: String(shard) },
    value: published - here,
  }));
  const ofNodes = (name: string, help: string, value: (node: (typeof nodes)[number]) => number) =>
    gauge(
      name,
      help,
      nodes.map((node) => ({ labels: { node: node.name }, value: value(node) })),
    );
  const jobs = (["waiting", "running", "failed"] as const).map((state) => ({
    labels: { state },
    value: queue[state],
  }));
  return [
    up,
    gauge("quern_cluster_generations_behind", "Published and not searched here yet.", behind),
    ofNodes("quern_cluster_node_live", "Whether a node may be asked.", ({ isLive }) =>
      isLive ? 1 : 0,
    ),
    ofNodes(
      "quern_cluster_node_missing_bytes",
      "Bytes of slices that a node owns and that are not ready.",
      ({ missingBytes }) => missingBytes,
    ),
    gauge("quern_cluster_damaged_objects", "Objects that the index needs and that are damaged.", [
      { value: damaged.length },
    ]),
    gauge("quern_cluster_jobs", "Repositories to index, including failed ones.", jobs),
    gauge("quern_cluster_oldest_due_job_seconds", "How long a job has been due.", [
      { value: queue.oldestDueMs / 1000 },
    ]),
  ];
}

const gauge = (name: string, help: string, samples: Metric["samples"]): Metric => ({
  name,
  help,
  type: "gauge",
  samples,
});
