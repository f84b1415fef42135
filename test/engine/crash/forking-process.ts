/**
 * A process that has an engine open, and starts a forked process, a worker of node:cluster, and a thread. All four write
 * and search the data directory at the same time. Prints the repositories that are there at the end, and what has gone
 * wrong, as JSON.
 */

import { fork } from "node:child_process";
import cluster from "node:cluster";
import { once } from "node:events";
import { Worker, isMainThread, workerData } from "node:worker_threads";
import { fileURLToPath } from "node:url";
import { open } from "../../../src/opened-engine.ts";
import { documents } from "../../../src/ingest/sources/documents.ts";

const ROUNDS = 3;
const self = fileURLToPath(import.meta.url);

/** Indexes a repository again and again, and finds its newest text and that of the host each time. */
async function share(path: string, name: string): Promise<string[]> {
  const wrong: string[] = [];
  await using engine = await open(path, { workers: 1, lockTimeoutMs: 120_000 });
  for (let round = 0; round < ROUNDS; round++) {
    await engine.index(
      documents({ name, files: [{ path: "a.ts", content: `needle ${name} round${round}\n` }] }),
    );
    const { files, stats } = await engine.search({ query: "needle", matches: 100 });
    const found = new Map(files.map((file) => [file.repository, file.chunks[0]?.content ?? ""]));
    if (!found.get(name)?.includes(`round${round}`)) wrong.push(`${name} does not find itself`);
    if (!found.has("host")) wrong.push(`${name} does not find the host`);
    if (stats.crashes > 0) wrong.push(`${name} finds damage`);
  }
  return wrong;
}

async function shareAndEnd(path: string, name: string): Promise<void> {
  const wrong = await share(path, name);
  if (wrong.length > 0) throw new Error(wrong.join(", "));
  if (cluster.isWorker) cluster.worker!.disconnect();
}

async function host(path: string): Promise<void> {
  await using engine = await open(path, { workers: 1, lockTimeoutMs: 120_000 });
  await engine.index(documents({ name: "host", files: [{ path: "a.ts", content: "needle\n" }] }));
  cluster.setupPrimary({ exec: self, args: [path, "cluster"] });
  const started = [
    fork(self, [path, "fork"]),
    cluster.fork().process,
    new Worker(self, { workerData: { path, name: "thread" } }),
  ];
  const ended = started.map(async (one) => ((await once(one, "exit")) as [number])[0]);
  const wrong = await share(path, "host");
  const codes = await Promise.all(ended);
  const repositories = (await engine.repositories()).map(({ name }) => name).sort();
  const { stats } = await engine.search({ query: `needle round${ROUNDS - 1}`, matches: 0 });
  const { problems } = await engine.check();
  console.log(JSON.stringify({ wrong, codes, repositories, files: stats.fileCount, problems }));
}

if (!isMainThread) {
  const { path, name } = workerData as { path: string; name: string };
  await shareAndEnd(path, name);
} else {
  const [path = "", name] = process.argv.slice(2);
  await (name === undefined ? host(path) : shareAndEnd(path, name));
}
