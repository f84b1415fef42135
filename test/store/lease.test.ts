/**
 * One writer at a time: which writer waits and which takes over, and that a writer that lost the lease writes nothing
 * more.
 */

import { spawnSync } from "node:child_process";
import { pack, unpack } from "msgpackr";
import { expect, onTestFinished, test, vi } from "vitest";
import { openEnvironment, type Environment } from "../../src/store/lmdb/environment.ts";
import { engineKey, repositoryKey } from "../../src/store/format/format.ts";
import { acquireLease, checkLease } from "../../src/store/lmdb/lease.ts";
import { temporaryFolder } from "../engine/opened.ts";

function environment(path = temporaryFolder()): Environment {
  const opened = openEnvironment(path, { readOnly: false });
  onTestFinished(() => opened.close());
  return opened;
}

type Stored = { owner: string; boot: string; pid: number; at: number };

/** Changes the stored lease. */
async function alter(where: Environment, change: Partial<Stored>): Promise<void> {
  await where.write((writer) => {
    const stored = unpack(writer.get(engineKey("lease"), "lease")!) as Stored;
    writer.put(engineKey("lease"), pack({ ...stored, ...change }));
  });
}

const NOW = { timeoutMs: 0 };

test("a second writer is rejected with the process number of the first", async () => {
  const where = environment();
  const lease = await acquireLease(where, NOW);
  const second = acquireLease(where, NOW);
  await expect(second).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  await expect(second).rejects.toThrow(`process ${process.pid}`);
  await lease.release();
  await (await acquireLease(where, NOW)).release();
});

test("a second writer waits for the given time", async () => {
  const where = environment();
  const lease = await acquireLease(where, NOW);
  const waiting = acquireLease(where, { timeoutMs: 5000 });
  setTimeout(() => void lease.release(), 100);
  await (await waiting).release();
  const again = await acquireLease(where, NOW);
  const start = performance.now();
  await expect(acquireLease(where, { timeoutMs: 120 })).rejects.toMatchObject({
    code: "INDEX_LOCKED",
  });
  expect(performance.now() - start).toBeGreaterThan(110);
  await again.release();
});

const deadPid = () => spawnSync(process.execPath, ["-e", ""]).pid;

const TAKEN: [what: string, change: () => Partial<Stored>, isTaken: boolean][] = [
  ["a dead process of this machine", () => ({ pid: deadPid() }), true],
  ["a heartbeat of 31 s ago", () => ({ at: Date.now() - 31_000 }), true],
  ["a heartbeat of 25 s ago", () => ({ at: Date.now() - 25_000 }), false],
  ["a dead number on another machine", () => ({ pid: deadPid(), boot: "elsewhere" }), false],
  ["another machine, long silent", () => ({ boot: "elsewhere", at: 0 }), true],
  [
    "another machine, before the clock was put back an hour",
    () => ({ boot: "elsewhere", at: Date.now() + 3_600_000 }),
    true,
  ],
  [
    "another machine, whose clock is 25 s ahead",
    () => ({ boot: "elsewhere", at: Date.now() + 25_000 }),
    false,
  ],
];

test.each(TAKEN)("%s", async (_, change, isTaken) => {
  const where = environment();
  const first = await acquireLease(where, NOW);
  await alter(where, change());
  const second = acquireLease(where, NOW);
  if (isTaken) await (await second).release();
  else await expect(second).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  await first.release();
});

test("a writer whose lease was taken over writes nothing, and does not release the other's lease", async () => {
  const where = environment();
  const first = await acquireLease(where, NOW);
  await alter(where, { at: 0 });
  const second = await acquireLease(where, NOW);
  const write = where.write((writer) => {
    checkLease(writer, first.owner);
    writer.put(repositoryKey(1), Buffer.from("written"));
  });
  await expect(write).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  expect(() => where.writeSync((writer) => checkLease(writer, first.owner))).toThrow(
    expect.objectContaining({ code: "INDEX_LOCKED" }),
  );
  const snapshot = where.snapshot();
  expect(snapshot.get(repositoryKey(1), "it")).toBeUndefined();
  snapshot.close();
  await first.release();
  await expect(acquireLease(where, NOW)).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  await second.release();
});

test("within one process, a lease that a full disk kept from being released counts as released", async () => {
  const where = environment();
  const first = await acquireLease(where, NOW);
  vi.spyOn(where, "write").mockRejectedValueOnce(new Error("ENOSPC"));
  await expect(first.release()).rejects.toThrow("ENOSPC");
  await (await acquireLease(where, NOW)).release();
});

test.each([-20_000, 20_000])("a write transaction renews a lease of %i ms", async (ms) => {
  const where = environment();
  const lease = await acquireLease(where, NOW);
  await alter(where, { at: Date.now() + ms });
  await where.write((writer) => checkLease(writer, lease.owner));
  const snapshot = where.snapshot();
  const { at } = unpack(snapshot.get(engineKey("lease"), "lease")!) as Stored;
  snapshot.close();
  expect(Math.abs(Date.now() - at)).toBeLessThan(5000);
  await lease.release();
});
