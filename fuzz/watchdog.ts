/** Ends a process that hangs in one case: a loop that never ends can only be seen from another thread. */

import { Worker } from "node:worker_threads";
import { MOST_MS } from "./target.ts";

// plain JavaScript: threads have no loader of TypeScript
const CODE = `
const { workerData: { shared, name, ms } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const seed = new Float64Array(shared);
let [last, since] = [NaN, Date.now()];
setInterval(() => {
  if (!Object.is(seed[0], last)) [last, since] = [seed[0], Date.now()];
  else if (Date.now() - since > ms) {
    writeSync(2, "it hangs: npx tsx fuzz/run.ts " + name + " --seed " + last + " --cases 1\\n");
    process.kill(process.pid, "SIGKILL");
  }
}, 250);
`;

export function startWatchdog(name: string): { at(seed: number): void; end(): void } {
  const shared = new SharedArrayBuffer(8);
  const seed = new Float64Array(shared);
  const workerData = { shared, name, ms: 3 * MOST_MS };
  const worker = new Worker(CODE, { eval: true, workerData });
  worker.unref();
  return { at: (now) => (seed[0] = now), end: () => void worker.terminate() };
}
