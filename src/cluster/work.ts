/**
 * Runs jobs from the queue. For each job, asks the host for the source, and indexes the source. The transaction that
 * publishes the result also ends the job. If the process dies, another process takes the job after LEASE_MS.
 */

import { randomBytes } from "node:crypto";
import { JoinedSignal } from "../base/joined-signal.ts";
import { QuernError } from "../base/errors.ts";
import type { Alarm } from "./follow/alarm.ts";
import { keepRenewing, LEASE_MS } from "./follow/renewal.ts";
import type { Source } from "../ingest/sources/source.ts";
import type { EndedJob, Jobs, TakenJob } from "./catalog/jobs.ts";

const POLL_MS = 1_000;
/** The delay after the first failure. It doubles with each further failure. */
const RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 3_600_000;

/**
 * A repository that work() is to index.
 *
 * @example
 * const source = async ({ repository }: Job) => git(`/clones/${repository}`, { name: repository });
 */
export interface Job {
  /** The name of the repository. The source must have the same name. */
  readonly repository: string;
  /** The payload of the last call of enqueue() for this repository. */
  readonly payload: unknown;
  /** How many times the job has failed since the last call of enqueue() for this repository. */
  readonly failures: number;
  /** Aborts when work() should end, or when another process has taken over the job. */
  readonly signal: AbortSignal;
}

export interface Working {
  readonly jobs: Jobs;
  /** Indexes the source, and ends the job in the transaction that publishes the result. */
  readonly index: (source: Source, job: EndedJob, signal: AbortSignal) => Promise<void>;
  /** Wakes the loop when there may be a job. */
  readonly alarm: Alarm;
  readonly onTrouble: (error: unknown) => void;
}

/** Takes and runs jobs one after another, until the signal aborts. */
export async function workOn(
  working: Working,
  source: (job: Job) => Promise<Source>,
  signal: AbortSignal,
): Promise<void> {
  const worker = randomBytes(16).toString("hex");
  while (!signal.aborted) {
    const job = await working.jobs.take(worker, LEASE_MS).catch((error: unknown) => {
      working.onTrouble(error);
      return undefined;
    });
    if (job === undefined) await working.alarm.wait(POLL_MS, signal);
    else await runJob(working, { job, worker, source, signal }).catch(working.onTrouble);
  }
}

interface Run {
  readonly job: TakenJob;
  readonly worker: string;
  readonly source: (job: Job) => Promise<Source>;
  readonly signal: AbortSignal;
}

async function runJob(working: Working, run: Run): Promise<void> {
  const { job, worker, source, signal } = run;
  const { jobs } = working;
  using renewal = keepRenewing(() => jobs.renew(job, worker, LEASE_MS));
  using either = new JoinedSignal([signal, renewal.lost]);
  const stop = either.signal;
  const { repository, payload, failures, asked } = job;
  try {
    const given = await source({ repository, payload, failures, signal: stop });
    mustBeNamed(given, repository);
    await working.index(given, { repository, asked }, stop);
    await jobs.end(job, worker);
  } catch (error) {
    if (stop.aborted) await jobs.release(job, worker);
    else await jobs.fail(job, worker, { error: String(error), delayMs: delayAfter(failures) });
  }
}

const delayAfter = (failures: number): number =>
  Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** failures);

function mustBeNamed(source: Source, repository: string): void {
  const name: unknown = (source as Partial<Source> | undefined)?.name;
  if (name !== repository)
    throw new QuernError(
      "INVALID_REQUEST",
      `work: the source of a job must have the name ${JSON.stringify(repository)}, got ${JSON.stringify(name)}`,
    );
}

export function encodePayload(payload: unknown): string {
  try {
    return JSON.stringify(payload) ?? "null";
  } catch (cause) {
    throw new QuernError("INVALID_REQUEST", "enqueue: payload must be a JSON value", { cause });
  }
}
