/** Starts the writer's process, kills it, and returns what it had reported. */

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { RUN_BOUNDS } from "../../../src/ingest/run/bounds.ts";
import type { Internals } from "../../../src/internals.ts";
import { LAYOUT } from "../../../src/store/format/format.ts";
import type { Moment, Step } from "./steps.ts";
import { SHORT_LIVED } from "../../short-lived.ts";

export interface Told {
  /** The numbers of operations that were done and begun. */
  readonly done: number;
  readonly began: number;
  /** The code and message with which an operation failed. */
  readonly failed: string | undefined;
  readonly isKilled: boolean;
}

export interface WriterOptions {
  readonly script: string;
  readonly path: string;
  readonly first: number;
  readonly end: number;
  readonly workers: number;
  /** The file to which steps are written. Without it no steps are recorded. */
  readonly log?: string;
  readonly moment?: Moment;
  /** The writer is killed this many milliseconds after its first operation has begun. */
  readonly killAfterMs?: number;
  readonly retireMs?: number;
  /** The number of segments of about the same size that are merged into one. */
  readonly tier?: number;
  /** The number of blocks from which text is stored in a file. Default 1, which stores all text in files. */
  readonly fileBlocks?: number;
  /** A planted fault: the writer does not check who holds the lease. */
  readonly isBlind?: boolean;
}

/** A number of blocks that keeps all text in values, so that transactions for text are tested. */
export const IN_VALUES = 1_000;

export function startWriter(options: WriterOptions): ChildProcess {
  const { script, path, first, end, workers, log, moment, retireMs = 0, isBlind } = options;
  const { tier: tierSegments = RUN_BOUNDS.tierSegments } = options;
  const layout = { ...LAYOUT, fileBlocks: options.fileBlocks ?? 1 };
  const internals: Partial<Internals> = { retireMs, layout, runs: { ...RUN_BOUNDS, tierSegments } };
  if (log !== undefined) rmSync(log, { force: true });
  const given = [path, `${first}`, `${end}`, `${workers}`, JSON.stringify(internals)];
  return spawn(process.execPath, [...SHORT_LIVED, script, ...given], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      ...(isBlind ? { QUERN_BLIND: "1" } : {}),
      ...(log === undefined ? {} : { QUERN_STEPS: log }),
      ...(moment === undefined ? {} : { QUERN_MOMENT: JSON.stringify(moment) }),
    },
  });
}

/** Runs the writer to its end, or to the moment at which it is killed. */
export async function runWriter(options: WriterOptions): Promise<Told> {
  const child = startWriter(options);
  let out = "";
  const began = new Promise<void>((resolve) => {
    child.stdout!.on("data", (data: Buffer) => {
      out += data.toString();
      resolve();
    });
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  if (options.killAfterMs !== undefined) {
    await Promise.race([began, closed]);
    await sleep(options.killAfterMs);
    child.kill("SIGKILL");
  }
  await closed;
  return { ...told(out, options.first), isKilled: child.signalCode === "SIGKILL" };
}

export function told(out: string, first: number): Omit<Told, "isKilled"> {
  const last = (word: string) =>
    Math.max(first, ...[...out.matchAll(new RegExp(`^${word} (\\d+)$`, "gm"))].map(after));
  const failed = /^failed \d+ (.*)$/m.exec(out)?.[1];
  return { done: last("done"), began: last("begin"), failed };
}

const after = ([, number]: RegExpMatchArray): number => Number(number) + 1;

export const stepsIn = (log: string): Step[] =>
  existsSync(log) ? (readFileSync(log, "utf8").split("\n").slice(0, -1) as Step[]) : [];
