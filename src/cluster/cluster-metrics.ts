/** The state of a cluster as one machine sees it, for Prometheus. */

import type { Metric } from "../metrics/metrics-text.ts";
import type { QueueState } from "./catalog/jobs.ts";

interface SeenStatus {
  readonly shards: readonly {
    readonly shard: number;
    readonly published: number;
    readonly here: number;
  }[];
  readonly queue: QueueState;
}

/** `status` is undefined where PostgreSQL cannot be reached. */
export function clusterMetrics(status: SeenStatus | undefined): Metric[] {
  const up = gauge("quern_cluster_up", "Whether PostgreSQL answers.", [{ value: status ? 1 : 0 }]);
  if (status === undefined) return [up];
  const { shards, queue } = status;
  const behind = shards.map(({ shard, published, here }) => ({
    labels: { shard: String(shard) },
    value: published - here,
  }));
  const jobs = (["waiting", "running", "failed"] as const).map((state) => ({
    labels: { state },
    value: queue[state],
  }));
  return [
    up,
    gauge("quern_cluster_generations_behind", "Published and not searched here yet.", behind),
    gauge("quern_cluster_jobs", "Repositories to index; the failed ones wait, too.", jobs),
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
