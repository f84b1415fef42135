/**
 * Ends a process that hangs in one case. Only another thread can notice an endless loop. A case hangs if it uses the
 * processor for too long, or if the process and its children are idle for that long. Wall-clock time would also include
 * waiting for the processor, which other programs use. Only Linux reports these times separately.
 */

import { Worker } from "node:worker_threads";
import { MOST_MS } from "./target.ts";

// plain JavaScript, because threads cannot load TypeScript
const CODE = `
const { workerData: { shared, name, ms } } = require("node:worker_threads");
const { readdirSync, readFileSync, writeSync } = require("node:fs");
const LOOK_MS = 250;
const seed = new Float64Array(shared);
const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const isBusy = (folder) => /^[RD]/.test(readFileSync(folder + "/stat", "utf8").replace(/^.*\\) /s, ""));
function rests() {
  try {
    const tasks = readdirSync("/proc/self/task").map((task) => "/proc/self/task/" + task);
    const children = tasks.flatMap((task) => readFileSync(task + "/children", "utf8").match(/\\d+/g) ?? []);
    if (children.some((child) => isBusy("/proc/" + child))) return false;
    return tasks.filter(isBusy).length <= 1; // this thread
  } catch (error) {
    return error.code === "ENOENT" && process.platform !== "linux"; // the thread or child has just ended
  }
}
let [last, before, rested] = [NaN, used(), 0];
setInterval(() => {
  if (!Object.is(seed[0], last)) [last, before, rested] = [seed[0], used(), 0];
  rested = rests() ? rested + LOOK_MS : 0;
  if (used() - before <= ms && rested <= ms) return;
  writeSync(2, "it hangs: npx tsx fuzz/run.ts " + name + " --seed " + last + " --cases 1\\n");
  process.kill(process.pid, "SIGKILL");
}, LOOK_MS);
`;

export function startWatchdog(name: string): { at(seed: number): void; end(): void } {
  const shared = new SharedArrayBuffer(8);
  const seed = new Float64Array(shared);
  const workerData = { shared, name, ms: 3 * MOST_MS };
  const worker = new Worker(CODE, { eval: true, workerData });
  worker.unref();
  return { at: (now) => (seed[0] = now), end: () => void worker.terminate() };
}
