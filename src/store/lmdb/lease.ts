/**
 * Allows only one writer to an index at a time. A record, called the lease, identifies the writer. Every write
 * transaction checks the lease. So a writer that was suspended and has lost its lease fails with INDEX_LOCKED instead
 * of writing. Another process may take over the lease if the owner's process no longer exists on this machine, or if
 * the last heartbeat is 30 s old. A heartbeat of the future is as old: the clock was put back after it, and otherwise
 * the lease of a dead writer would last until the clock is there again.
 */

import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { pack, unpack } from "msgpackr";
import { QuernError } from "../../base/errors.ts";
import type { Environment, Writer } from "./environment.ts";
import { engineKey } from "../format/format.ts";

const RENEW_MS = 4_000;
const STALE_MS = 30_000;
const RETRY_MS = 50;

/**
 * The owners of leases of this process that were released but could not be removed because the disk failed. Such a
 * lease counts as free.
 */
const ended = new Set<string>();

interface LeaseRecord {
  readonly owner: string;
  /** Identifies the boot of the machine and the process namespace to which `pid` belongs. */
  readonly boot: string;
  readonly pid: number;
  /** The time of the last heartbeat, in milliseconds since 1970. */
  readonly at: number;
}

export interface Lease {
  /** The random id of this writer. Its workers use this id to check and renew the lease. */
  readonly owner: string;
  /** Releases the lease, unless another writer has taken it over. REQUIRES: no write is running. */
  release(): Promise<void>;
}

/**
 * Takes the lease. If another writer holds it, waits up to `timeoutMs` until the lease is free, then throws
 * INDEX_LOCKED.
 */
export async function acquireLease(
  environment: Environment,
  options: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<Lease> {
  const owner = randomBytes(16).toString("hex");
  for (const start = performance.now(); ;) {
    const holder = await environment.write((writer) => take(writer, owner));
    if (!holder) return held(environment, owner);
    if (performance.now() - start >= options.timeoutMs)
      throw new QuernError(
        "INDEX_LOCKED",
        `process ${holder.pid} is writing to this index; try again when it has finished, or wait for it (option lockTimeoutMs, or --wait on the command line)`,
      );
    await sleep(RETRY_MS, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** Takes the lease if it is free. Otherwise returns its holder. */
function take(writer: Writer, owner: string): LeaseRecord | undefined {
  const lease = readLease(writer);
  if (lease && isAlive(lease) && !ended.has(lease.owner)) return lease;
  putLease(writer, owner);
  return undefined;
}

/** Renews the lease, or throws INDEX_LOCKED if another writer has taken it over. Called in every write transaction. */
export function checkLease(writer: Writer, owner: string): void {
  const lease = readLease(writer);
  if (lease?.owner !== owner)
    throw new QuernError(
      "INDEX_LOCKED",
      "another process has taken over writing to this index, because this one did not renew its lease for 30 s; nothing more was written",
    );
  if (ageOf(lease) >= RENEW_MS / 2) putLease(writer, owner);
}

function held(environment: Environment, owner: string): Lease {
  const renew = () =>
    environment
      .write((writer) => checkLease(writer, owner))
      // if this fails, the next write reports the failure
      .catch(() => undefined);
  const timer = setInterval(() => void renew(), RENEW_MS).unref();
  return {
    owner,
    async release() {
      clearInterval(timer);
      ended.add(owner);
      await environment.write((writer) => {
        if (readLease(writer)?.owner === owner) writer.remove(engineKey("lease"));
      });
      ended.delete(owner);
    },
  };
}

function readLease(writer: Writer): LeaseRecord | undefined {
  const value = writer.get(engineKey("lease"), "the write lease");
  return value && (unpack(value) as LeaseRecord);
}

function putLease(writer: Writer, owner: string): void {
  const lease: LeaseRecord = { owner, boot: bootId(), pid: process.pid, at: Date.now() };
  writer.put(engineKey("lease"), pack(lease));
}

const ageOf = ({ at }: LeaseRecord): number => Math.abs(Date.now() - at);

function isAlive(lease: LeaseRecord): boolean {
  const { boot, pid } = lease;
  if (ageOf(lease) >= STALE_MS) return false;
  return boot !== bootId() || processExists(pid);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // the process exists and belongs to another user
  }
}

let boot: string | undefined;

function bootId(): string {
  boot ??= [hostname(), read("/proc/sys/kernel/random/boot_id"), namespace()].join(" ");
  return boot;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

/**
 * Returns the namespace of process ids. Two containers on one machine have the same boot id, but number their processes
 * separately.
 */
function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}
