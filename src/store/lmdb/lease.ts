/**
 * One writer: a record that says who writes, checked in every transaction that writes, so that a
 * writer which was stopped and taken over fails with INDEX_LOCKED instead of writing. It may be
 * taken over when its process is gone from the same machine, or its heartbeat is 30 s old.
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

/** Of this process, that a disk would not let go: nobody holds them. */
const ended = new Set<string>();

interface LeaseRecord {
  readonly owner: string;
  /** The boot of the machine and the process namespace in which `pid` means something. */
  readonly boot: string;
  readonly pid: number;
  readonly at: number; // of the last heartbeat, milliseconds since 1970
}

export interface Lease {
  /** Secret of this writer: workers check and renew with it. */
  readonly owner: string;
  /** REQUIRES: no write is under way. Another writer's lease is left alone. */
  release(): Promise<void>;
}

/** Waits up to `timeoutMs` for another process's writer to end. */
export async function acquireLease(
  environment: Environment,
  options: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<Lease> {
  const owner = randomBytes(16).toString("hex");
  for (const start = Date.now(); ;) {
    const holder = await environment.write((writer) => take(writer, owner));
    if (!holder) return held(environment, owner);
    if (Date.now() - start >= options.timeoutMs)
      throw new QuernError(
        "INDEX_LOCKED",
        `process ${holder.pid} writes to this index; try again when it is done, or wait for it (lockTimeoutMs, in the command --wait)`,
      );
    await sleep(RETRY_MS, undefined, options.signal ? { signal: options.signal } : {});
  }
}

/** Takes the lease if it is free, else returns who holds it. */
function take(writer: Writer, owner: string): LeaseRecord | undefined {
  const lease = readLease(writer);
  if (lease && isAlive(lease) && !ended.has(lease.owner)) return lease;
  putLease(writer, owner);
  return undefined;
}

/** Within a transaction that writes: throws INDEX_LOCKED when the lease is somebody else's by now, else renews it. */
export function checkLease(writer: Writer, owner: string): void {
  const lease = readLease(writer);
  if (lease?.owner !== owner)
    throw new QuernError(
      "INDEX_LOCKED",
      "another process has taken over writing to this index, because this one did not answer for 30 s; nothing more was written",
    );
  if (Date.now() - lease.at >= RENEW_MS / 2) putLease(writer, owner);
}

function held(environment: Environment, owner: string): Lease {
  const renew = () =>
    environment
      .write((writer) => checkLease(writer, owner))
      // whoever writes next finds out for itself
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

function isAlive({ boot, pid, at }: LeaseRecord): boolean {
  if (Date.now() - at >= STALE_MS) return false;
  return boot !== bootId() || processExists(pid);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // there, but somebody else's
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

/** Two containers on one machine share its boot, not its process numbers. */
function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}
