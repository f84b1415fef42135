/** A PostgreSQL server in a process of its own, which can be stopped and started. */

import { fork } from "node:child_process";
import { once } from "node:events";

export interface PostgresServer {
  /** A port of the loopback interface. The user is `quern`, without a password. */
  readonly port: number;
  /** Stops the server. Resolves when connections are refused. */
  stop(): Promise<void>;
  /** Starts the server again, with its data. */
  start(): Promise<void>;
  /** Runs a line of SQL. REQUIRES: the server is stopped. */
  runStopped(database: string, sql: string): Promise<void>;
  /** Ends the server and deletes its data. */
  end(): Promise<void>;
}

/** Starts a server. If this machine has no PostgreSQL, rejects with the reason. */
export async function startPostgres(): Promise<PostgresServer> {
  const keeper = fork("test/cluster/postgres-server.mjs", { execArgv: [] });
  const said = async (): Promise<{ port: number } | { missing: string }> =>
    ((await once(keeper, "message")) as [{ port: number }])[0];
  const tell = async (what: "stop" | "start" | object): Promise<void> => {
    const done = said();
    keeper.send(what);
    await done;
  };
  const first = await said();
  if ("missing" in first) throw new Error(`no PostgreSQL: ${first.missing}`);
  return {
    port: first.port,
    stop: () => tell("stop"),
    start: () => tell("start"),
    runStopped: (database, sql) => tell({ database, sql }),
    async end() {
      const gone = once(keeper, "exit");
      keeper.disconnect();
      await gone;
    },
  };
}
