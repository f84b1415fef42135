/** A host that ends its pool, in the way its arguments say, before the second worker has started. */

import { pathToFileURL } from "node:url";
import { createPool } from "../../src/threads/pool.ts";
import { tasks } from "./tasks.ts";

const [entry, how, mark] = process.argv.slice(2);
const pool = createPool({
  size: 2,
  entry: pathToFileURL(entry!),
  tasks,
  environment: { slowMs: 300, mark },
});
const answers = [1, 2].map((input) => pool.run("echo", input, { lane: "search" }));
console.log(...(await Promise.all(answers)));
if (how === "close") await pool.close();
if (how === "exit") process.exit(0);
