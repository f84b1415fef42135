/** Jobs are merged, run once, and end with what they have published, whichever process is killed. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type pg from "pg";
import { beforeAll, expect, onTestFinished } from "vitest";
import type { ClusterEngine, Job } from "../../src/cluster/index.ts";
import { documents, type Source } from "../../src/index.ts";
import { directorySegments } from "../../src/cluster/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";
import { found, newCluster, shop } from "./machines.ts";
import { postgresPort, postgresTest as test } from "./postgres.ts";
import { someOf } from "../runs.ts";
import { SHORT_LIVED } from "../short-lived.ts";

/** Returns a source of one line: the payload. */
const told = async ({ repository, payload }: Job): Promise<Source> =>
  shop(repository, `${String(payload)}\n`);

/** Runs work() until the test ends. Resolves when it has ended. */
function working(
  machine: ClusterEngine,
  source: (job: Job) => Promise<Source> = told,
  concurrency = 1,
): { readonly stop: () => Promise<void> } {
  const end = new AbortController();
  const done = machine.work(source, { signal: end.signal, concurrency });
  const stop = (): Promise<void> => {
    end.abort();
    return done;
  };
  onTestFinished(stop);
  return { stop };
}

const isEmpty = (machine: ClusterEngine) =>
  expect
    .poll(() => machine.status().then(({ queue }) => queue))
    .toMatchObject({ waiting: 0, running: 0 });

const rows = async (pool: pg.Pool): Promise<unknown[]> =>
  (await pool.query("select repository, attempts, error from quern_job order by 1")).rows;

test("a queued repository is indexed by any machine, and all machines see it", async () => {
  const cluster = await newCluster();
  const [asking, one, other] = [await cluster.open(), await cluster.open(), await cluster.open()];
  for (let n = 0; n < 6; n++) await asking.enqueue(`r${n}`, `needle ${n}`);
  expect(await asking.status()).toMatchObject({ queue: { waiting: 6, running: 0, failed: 0 } });
  for (const machine of [one, other]) working(machine, told, 2);
  await isEmpty(asking);
  await asking.refresh();
  const lines = Array.from({ length: 6 }, (_, n) => `r${n}: needle ${n}`);
  expect(await found(asking, "needle")).toEqual(lines);
});

test("requests for one repository are merged, with the last payload and the earliest date", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  const late = new Date(Date.now() + 3_600_000);
  await machine.enqueue("shop", "first", { runAfter: late });
  await machine.enqueue("later", "later", { runAfter: late });
  for (const text of ["second", "third"]) await machine.enqueue("shop", text);
  await machine.enqueue("shop", "last", { runAfter: late });
  const runs: string[] = [];
  working(machine, (job) => {
    runs.push(`${job.repository}: ${String(job.payload)}`);
    return told(job);
  });
  await expect.poll(() => rows(cluster.pool)).toHaveLength(1);
  expect(runs).toEqual(["shop: last"]);
  expect(await rows(cluster.pool)).toMatchObject([{ repository: "later" }]);
});

test("a request during a job starts another run", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  await machine.enqueue("shop", "old");
  const payloads: unknown[] = [];
  working(machine, async (job) => {
    if (payloads.push(job.payload) === 1) await machine.enqueue("shop", "new");
    return told(job);
  });
  await isEmpty(machine);
  expect(payloads).toEqual(["old", "new"]);
  await machine.refresh();
  expect(await found(machine, "old or new")).toEqual(["shop: new"]);
});

test("a job that fails keeps its error, is delayed longer each time, and ends when it succeeds", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  await machine.enqueue("shop", { deep: [null, "é\0"] });
  const seen: unknown[] = [];
  working(machine, async ({ failures, payload, repository }) => {
    seen.push([failures, payload]);
    if (failures < 2) throw new Error(`no clone (${failures})`);
    return shop(repository, "needle\n");
  });
  for (const attempts of [1, 2]) {
    const error = `Error: no clone (${attempts - 1})`;
    await expect.poll(() => rows(cluster.pool)).toEqual([{ repository: "shop", attempts, error }]);
    expect((await machine.status()).queue).toMatchObject({ failed: 1, waiting: 1 });
    const wait = await cluster.pool.query(
      "update quern_job set run_after = now() returning " +
        "(select extract(epoch from run_after - now()) from quern_job) as s",
    );
    // 5 s, then 10 s, less what has passed since
    expect(Number((wait.rows[0] as { s: string }).s)).toBeLessThanOrEqual(5 * attempts);
    expect(Number((wait.rows[0] as { s: string }).s)).toBeGreaterThan(5 * (attempts - 1));
  }
  await isEmpty(machine);
  const payload = { deep: [null, "é\0"] };
  expect(seen).toEqual([0, 1, 2].map((failures) => [failures, payload]));
  await machine.refresh();
  expect(await found(machine, "needle")).toEqual(["shop: needle"]);
});

test("a source with another name is rejected, and changes nothing", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  await machine.enqueue("shop", null);
  working(machine, async () => shop("other", "needle\n"));
  await expect
    .poll(() => rows(cluster.pool))
    .toMatchObject([{ error: expect.stringContaining('must have the name "shop", got "other"') }]);
  expect(await found(machine, "needle")).toEqual([]);
});

test("a job for a repository that has not changed ends, too", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  await machine.index(shop("shop", "same\n"));
  await machine.enqueue("shop", "same");
  working(machine);
  await isEmpty(machine);
  expect(await found(machine, "same")).toEqual(["shop: same"]);
});

test("a worker that is stopped returns its job, and another machine takes it", async () => {
  const cluster = await newCluster();
  const [one, other] = [await cluster.open(), await cluster.open()];
  await one.enqueue("shop", "needle");
  let taken = 0;
  const { stop } = working(one, async ({ signal }) => {
    taken++;
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new Error("stopped");
  });
  await expect.poll(() => taken).toBe(1);
  expect((await one.status()).queue).toMatchObject({ running: 1 });
  await stop();
  expect(await rows(cluster.pool)).toEqual([{ repository: "shop", attempts: 0, error: null }]);
  working(other);
  await isEmpty(other);
  await other.refresh();
  expect(await found(other, "needle")).toEqual(["shop: needle"]);
});

test("close() ends the work", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  const done = machine.work(told, { signal: new AbortController().signal });
  await machine.close();
  await done;
  await expect(machine.enqueue("a", 1)).rejects.toMatchObject({ code: "ENGINE_CLOSED" });
});

test("only one of many workers runs each job", async () => {
  const cluster = await newCluster();
  const machines = [await cluster.open(), await cluster.open()];
  const runs = new Map<string, number>();
  for (let n = 0; n < 8; n++) await machines[0]!.enqueue(`r${n}`, n);
  for (const machine of machines)
    working(
      machine,
      (job) => {
        runs.set(job.repository, (runs.get(job.repository) ?? 0) + 1);
        return told(job);
      },
      3,
    );
  await isEmpty(machines[0]!);
  expect([...runs.values()]).toEqual(Array.from({ length: 8 }, () => 1));
});

test("invalid calls are rejected", async () => {
  const cluster = await newCluster();
  const machine = await cluster.open();
  const { signal } = new AbortController();
  const circular: unknown[] = [];
  circular.push(circular);
  const calls: [() => Promise<void>, string][] = [
    [() => machine.enqueue("", 1), 'repository must be a name without U+0000, got ""'],
    [() => machine.enqueue("a\0", 1), "repository must be a name"],
    [() => machine.enqueue("a", circular), "payload must be a JSON value"],
    [() => machine.enqueue("a", 1n), "payload must be a JSON value"],
    [() => machine.enqueue("a", 1, { runAfter: new Date(Number.NaN) }), "runAfter must be a Date"],
    [() => machine.work(told, { signal, concurrency: 0 }), "concurrency must be an integer"],
    [() => machine.work(told, {} as { signal: AbortSignal }), "signal must be an AbortSignal"],
  ];
  for (const [call, message] of calls)
    await expect(call()).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining(message),
    });
});

// ── killed and stopped ──

interface Dying {
  readonly step: string;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

let mortalWriter: string;
beforeAll(async () => {
  [mortalWriter] = (await bundledPrograms(["test/cluster/mortal-writer.ts"])) as [string];
});

/** Makes a cluster where `shop` is "old", and a process that is to make it "fresh" but stops at a step. */
async function withMortal({ step, signal }: Dying) {
  const objects = temporaryFolder();
  const cluster = await newCluster({ segments: directorySegments(objects) });
  const machine = await cluster.open();
  await machine.index(shop("shop", "old\n"));
  await machine.enqueue("shop", "function fresh() {}\n");
  const { database } = cluster.pool.options;
  const directory = temporaryFolder();
  const told = { port: postgresPort, database, objects, directory, step, signal };
  const child = spawn(process.execPath, [...SHORT_LIVED, mortalWriter, JSON.stringify(told)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { ...cluster, machine, child };
}

/** Sets all leases to expired. */
async function expireLeases(pool: pg.Pool): Promise<void> {
  const past = "now() - interval '1 s'";
  await pool.query(`update quern_shard set writer_until = ${past}`);
  await pool.query(`update quern_job set worker_until = ${past}`);
}

const isStopped = async ({ pid }: ChildProcess): Promise<boolean> =>
  / [Tt] /.test(await readFile(`/proc/${pid}/stat`, "utf8"));

/** What is published when the writer is killed: the old text, the new one, or the new one and its symbols. */
const STEPS = [
  ["put 1", "old"],
  ["quern_shard 1", "old"],
  ["quern_manifest 1", "old"],
  ["commit 1", "text"],
  ["put 2", "text"],
  ["quern_shard 2", "text"],
  ["quern_manifest 2", "text"],
  ["quern_job 2", "text"],
  ["commit 2", "symbols"],
] as const;

/** The source of mortal-writer.ts. */
const mortalSource = async ({ repository, payload }: Job): Promise<Source> =>
  documents({ name: repository, files: [{ path: "a.ts", content: String(payload) }] });

async function symbolsOf(machine: ClusterEngine): Promise<unknown> {
  const { files, isSearchExhaustive } = await machine.search({ query: "sym:fresh", matches: 5 });
  return [files.length, isSearchExhaustive];
}

test("a writer that is killed at any step has published all or nothing of the step, and another one continues", async () => {
  const killed = async ([step, published]: (typeof STEPS)[number]): Promise<void> => {
    const { pool, machine, child } = await withMortal({ step, signal: "SIGKILL" });
    const [, signal] = (await once(child, "exit")) as [number | null, string | null];
    expect(signal, step).toBe("SIGKILL");
    await machine.refresh();
    const fresh = "shop: function fresh() {}";
    const line = { old: "shop: old", text: fresh, symbols: fresh }[published];
    expect(await found(machine, "old or fresh"), step).toEqual([line]);
    const answer = { old: [0, true], text: [0, false], symbols: [1, true] }[published];
    expect(await symbolsOf(machine), step).toEqual(answer);
    expect(await rows(pool), step).toHaveLength(published === "symbols" ? 0 : 1);
    await expireLeases(pool);
    working(machine, mortalSource);
    await isEmpty(machine);
    await machine.refresh();
    expect(await found(machine, "old or fresh"), step).toEqual([fresh]);
    expect(await symbolsOf(machine), step).toEqual([1, true]);
    expect(await machine.check(), step).toMatchObject({ ok: true });
  };
  await Promise.all(someOf(STEPS, 3).map(killed));
});

test.each([
  ["before its first publication", "put 1"],
  ["before its second one", "put 2"],
])("a writer stopped past its leases %s and resumed publishes nothing", async (_, step) => {
  if (process.platform !== "linux") return; // only Linux shows that a process is stopped
  const mortal = await withMortal({ step, signal: "SIGSTOP" });
  const { pool, machine, child } = mortal;
  await expect.poll(() => isStopped(child)).toBe(true);
  await expireLeases(pool);
  await machine.enqueue("shop", "newer\n");
  const { stop } = working(machine);
  await isEmpty(machine);
  await stop();
  const published = async () => (await machine.status()).shards[0]!.published;
  const before = await published();
  child.kill("SIGCONT");
  const later = "again\n";
  await machine.enqueue("more", later); // it continues to work, from what is published
  await isEmpty(machine);
  await machine.refresh();
  expect(await found(machine, "fresh or newer or again")).toEqual(["more: again", "shop: newer"]);
  expect(await published()).toBe(before + 2); // the text and the symbols of `more`
  expect(await machine.check()).toMatchObject({ ok: true });
});
