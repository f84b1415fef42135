/**
 * A front as a process of its own, for tests that kill it. It searches and streams without a pause, sends the count of
 * each answer, and ends with its parent. Its argument is a FrontTold as JSON.
 */

import pg from "pg";
import { directorySegments, openCluster, postgresCatalog } from "../../src/cluster/index.ts";
import type { SearchRequest } from "../../src/index.ts";

export interface FrontTold {
  readonly postgresPort: number;
  readonly database: string;
  readonly directory: string;
  readonly secret: string;
  readonly request: SearchRequest;
}

const told = JSON.parse(process.argv[2]!) as FrontTold;
const { secret, directory, database, request } = told;
process.once("disconnect", () => process.exit());
const pool = new pg.Pool({ host: "127.0.0.1", port: told.postgresPort, user: "quern", database });
const engine = await openCluster({
  catalog: postgresCatalog(pool),
  segments: directorySegments(directory),
  directory,
  secret,
  workers: 0,
});
for (;;) {
  process.send!((await engine.search(request)).stats.totalMatchCount);
  for await (const event of engine.stream(request))
    if (event.type === "final") process.send!(event.accumulatedStats.totalMatchCount);
}
