/**
 * A node of a cluster as a process of its own, for tests that kill it. Its argument is a NodeTold as JSON. It sends its
 * warnings, and "ready" when all slices that it owns are ready. It ends with its parent.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import pg from "pg";
import { directorySegments, openCluster, postgresCatalog } from "../../src/cluster/index.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";

export interface NodeTold {
  readonly postgresPort: number;
  readonly database: string;
  /** The folder of directorySegments(). */
  readonly objects: string;
  readonly directory: string;
  readonly name: string;
  /** The port of the loopback interface on which the node listens. */
  readonly port: number;
  readonly secret: string;
  readonly replicas: number;
  readonly shardBytes: number;
  /** How far the node's clock is ahead, in milliseconds. */
  readonly clockMs?: number;
}

const told = JSON.parse(process.argv[2]!) as NodeTold;
const { name, port, secret, directory, replicas, shardBytes } = told;
const { now } = Date;
Date.now = () => now() + (told.clockMs ?? 0);
process.once("disconnect", () => process.exit());

const pool = new pg.Pool({
  host: "127.0.0.1",
  port: told.postgresPort,
  user: "quern",
  database: told.database,
  max: 4,
});
pool.on("error", () => undefined); // connections break when PostgreSQL stops
const engine = await openCluster({
  catalog: postgresCatalog(pool),
  segments: directorySegments(told.objects),
  directory,
  workers: 0,
  replicas,
  shardBytes,
  onWarning: ({ message }) => process.send!({ warning: message }),
  node: {
    name,
    url: `http://127.0.0.1:${port}`,
    secret,
    diskBytes: 2 ** 40,
    listen: (internal) =>
      once(createServer(toNodeListener(internal)).listen(port, "127.0.0.1"), "listening"),
  },
});
process.send!("ready");
const close = async (): Promise<void> => {
  await engine.close();
  process.exit();
};
process.once("SIGTERM", () => void close());
process.once("message", () => void engine.drain().then(close)); // the node leaves for good
