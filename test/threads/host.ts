/** A host process: it runs what its arguments say, prints the result, and must end by itself. */

import { pathToFileURL } from "node:url";
import { createPool } from "../../src/threads/pool.ts";
import { tasks } from "./tasks.ts";

const [entry, size, task, input] = process.argv.slice(2);
const pool = createPool({
  size: Number(size),
  entry: pathToFileURL(entry!),
  tasks,
  environment: undefined,
});
try {
  console.log(await pool.run(task!, Number(input), { lane: "ingest" }));
} catch (error) {
  console.log(String(error));
}
