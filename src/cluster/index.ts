/** The exports of `quern/cluster`. */

export type {
  ClusterEngine,
  ClusterStatus,
  CollectOptions,
  EnqueueOptions,
  WorkOptions,
} from "./cluster-engine.ts";
export {
  postgresCatalog,
  type ClusterCatalog,
  type ClusterNodeOptions,
  type ClusterOptions,
} from "./cluster-options.ts";
export { openCluster } from "./open-cluster.ts";
export type { CollectReport } from "./collect.ts";
export type { Job } from "./work.ts";
export { directorySegments } from "./objects/directory-segments.ts";
export type { S3Sender } from "./objects/s3-requests.ts";
export { s3Segments, type S3SegmentsOptions } from "./objects/s3-segments.ts";
export type { SegmentStore, StoredObject } from "./objects/segment-store.ts";
export { migrateCluster, type PostgresPlace } from "./postgres/schema.ts";
export type {
  PostgresClient,
  PostgresPool,
  PostgresQueries,
  PostgresResult,
} from "./postgres/pool.ts";
export { postgresAuditStore } from "./postgres/audit-store.ts";
export { postgresSegments } from "./postgres/segments.ts";
export { postgresTokenStore } from "./postgres/token-store.ts";
export { postgresUserStore } from "./postgres/user-store.ts";
