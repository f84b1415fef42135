/**
 * A process that works on the queue of a cluster and stops at a step: killed, or stopped until somebody lets it go on.
 * Its first publication is 1, and so on. Its arguments, as JSON: port, database, objects, directory, step, signal.
 */

import pg from "pg";
import {
  directorySegments,
  openCluster,
  postgresCatalog,
  type PostgresPool,
} from "../../src/cluster/index.ts";
import { documents } from "../../src/index.ts";

interface Mortal {
  readonly port: number;
  readonly database: string;
  readonly objects: string;
  readonly directory: string;
  readonly step: string;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

const told = JSON.parse(process.argv[2]!) as Mortal;
/** Ends a process that outlives its test. On a busy machine it is stopped for long. */
const LONGEST_MS = 280_000;
let isDone = false;

/** Reports a step, which is named after what was just done. */
function reached(step: string): void {
  if (isDone || step !== told.step) return;
  isDone = true;
  process.kill(process.pid, told.signal);
}

const pool = new pg.Pool({
  host: "127.0.0.1",
  port: told.port,
  user: "quern",
  database: told.database,
});
let publications = 0;
/** The pool itself, except that it watches what a publication does. */
const watched: PostgresPool = {
  query: (text, values) => pool.query(text, values),
  async connect() {
    const client = await pool.connect();
    return {
      release: (destroy) => client.release(destroy),
      async query(text, values) {
        const result = await client.query(text, values);
        if (text.includes("generation = generation + 1")) publications++;
        const step = text === "commit" ? text : (/quern_\w+/.exec(text)?.[0] ?? "other");
        if (publications > 0) reached(`${step} ${publications}`);
        return result;
      },
    };
  },
};

const store = directorySegments(told.objects);
let puts = 0;
const engine = await openCluster({
  catalog: postgresCatalog(watched),
  segments: {
    ...store,
    async put(...asked) {
      await store.put(...asked);
      reached(`put ${++puts}`);
    },
  },
  directory: told.directory,
  workers: 0,
});
const end = new AbortController();
await engine.work(
  async ({ repository, payload }) => {
    const files = [{ path: "a.ts", content: String(payload) }];
    return documents({ name: repository, files });
  },
  { signal: AbortSignal.any([end.signal, AbortSignal.timeout(LONGEST_MS)]) },
);
