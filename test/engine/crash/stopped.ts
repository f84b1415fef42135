/**
 * Stops a writer between two of its write transactions, lets another take over, lets the first go on, and compares what
 * is stored. The writer has no threads, so that its transactions come in one order.
 */

import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { pack, unpack } from "msgpackr";
import { checkEnvironment } from "../../../src/store/upkeep/check.ts";
import { openEnvironment, type Environment } from "../../../src/store/lmdb/environment.ts";
import { editionKey, nextEdition } from "../../../src/store/symbols/edition-key.ts";
import { engineKey, PART } from "../../../src/store/format/format.ts";
import { acquireLease, type Lease } from "../../../src/store/lmdb/lease.ts";
import { readManifest } from "../../../src/store/catalog/manifest.ts";
import { digestOf } from "./digest.ts";
import { operation } from "./operations.ts";
import { stateOfProcess } from "./process-state.ts";
import type { Step } from "./steps.ts";
import { IN_VALUES, runWriter, startWriter, stepsIn, told, type WriterOptions } from "./writer.ts";

export interface Stop {
  /** The number of the operation in operations.ts. */
  readonly operation: number;
  /**
   * The step after which the writer is stopped: when the n-th transaction of that step is on the disk, counted from 1.
   */
  readonly after: Step;
  readonly nth: number;
  /** The step that the writer would take next. */
  readonly refused: Step;
  /** The step within which an earlier attempt at the operation was killed. */
  readonly killed?: Step;
}

const row = (operation: number, after: Step, refused: Step, nth = 1): Stop => ({
  operation,
  after,
  nth,
  refused,
});

/** All pairs of steps that follow each other in a round of operations. */
export const STOPS: readonly Stop[] = [
  row(0, "lease taken", "segment complete"),
  row(0, "segment complete", "published"),
  row(0, "published", "published"),
  row(0, "published", "symbols written", 2),
  row(0, "symbols written", "symbols named"),
  row(0, "symbols named", "lease released"),
  // leftovers of an interrupted search for symbols
  { ...row(0, "published", "deleted", 2), killed: "symbols named" },
  { ...row(0, "deleted", "symbols named"), killed: "symbols named" },
  // files of segments that were never named
  { ...row(4, "lease taken", "deleted"), killed: "merged" },
  row(4, "lease taken", "removed"),
  // files of a merge
  row(4, "removed", "segment complete"),
  row(4, "segment complete", "symbols written"),
  row(4, "symbols written", "symbols written"),
  row(4, "symbols written", "merged", 2),
  // files of segments that were merged away
  row(5, "lease taken", "forgotten"),
  row(5, "forgotten", "segment complete"),
  // files of a compaction, which deletes what it has merged away
  row(7, "merged", "forgotten"),
  row(7, "forgotten", "lease released", 2),
];

/** The same steps in a compaction. */
export const MORE_STOPS: readonly Stop[] = [
  row(7, "lease taken", "segment complete"),
  row(7, "segment complete", "symbols written"),
  row(7, "symbols written", "merged", 2),
  row(7, "forgotten", "deleted"),
  row(7, "deleted", "forgotten"),
];

export const nameStop = ({ operation: number, after, nth, refused, killed }: Stop): string =>
  [
    `${operation(number).kind}${killed ? `, interrupted at '${killed}' before` : ""}:`,
    `after '${after}' ${nth}, before '${refused}'`,
  ].join(" ");

/** Keeps directories as they are before the operations that are stopped. Each test gets a copy. */
export class Fixtures {
  readonly #writer: Pick<WriterOptions, "script" | "workers" | "fileBlocks">;
  readonly #folder: string;
  readonly #made = new Map<string, Promise<string>>();

  constructor(script: string, folder: string) {
    this.#writer = { script, workers: 0, fileBlocks: IN_VALUES };
    this.#folder = folder;
  }

  async copy({ operation, killed }: Pick<Stop, "operation" | "killed">): Promise<string> {
    const path = mkdtempSync(join(this.#folder, "copy-"));
    cpSync(await this.#fixture(operation, killed), path, { recursive: true });
    return path;
  }

  #fixture(operation: number, killed?: Step): Promise<string> {
    const name = `${operation} ${killed ?? ""}`;
    const made = this.#made.get(name) ?? this.#make(operation, killed);
    this.#made.set(name, made);
    return made;
  }

  async #make(end: number, killed: Step | undefined): Promise<string> {
    const path = mkdtempSync(join(this.#folder, "fixture-"));
    const log = join(path, "steps");
    if (killed) {
      cpSync(await this.#fixture(end), path, { recursive: true });
      const moment = { how: "kill within", step: killed, nth: 1 } as const;
      await runWriter({ ...this.#writer, path, first: end, end: end + 1, log, moment });
      if (killed === "symbols named") await putNames(join(path, "index"));
    } else if (end > 0) {
      const first = Math.max(
        0,
        ...STOPS.map(({ operation }) => operation).filter((at) => at < end),
      );
      cpSync(await this.#fixture(first), path, { recursive: true });
      await runWriter({ ...this.#writer, path, first, end });
    }
    mkdirSync(join(path, "index"), { recursive: true });
    return path;
  }
}

/** Puts some blocks of lists of names, as if these lists were long and partly written. */
async function putNames(path: string): Promise<void> {
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) => {
    const { segments } = readManifest(writer);
    for (const { segment, symbols } of segments)
      writer.put(editionKey(segment, PART.NAMES, nextEdition(symbols), 1), Buffer.from("a block"));
  });
  await environment.close();
}

export interface WentOn {
  /** The code and message of the failure. */
  readonly failed: string | undefined;
  /** The first transaction that the writer committed after another took over. */
  readonly step: Step | undefined;
  /** Whether any stored byte has changed. */
  readonly isChanged: boolean;
  readonly problems: readonly string[];
}

/**
 * Stops the writer and lets it continue. With `isBlind`, the writer does not check who holds the lease, and the test
 * must notice that it writes.
 */
export async function stopAndGoOn(
  { script, path }: Pick<WriterOptions, "script" | "path">,
  { operation: first, after, nth }: Stop,
  isBlind = false,
): Promise<WentOn> {
  const log = join(path, "steps");
  const moment = { how: "stop committed", step: after, nth } as const;
  const how = { first, end: first + 1, workers: 0, fileBlocks: IN_VALUES, isBlind };
  const child = startWriter({ script, path, ...how, log, moment });
  const closed = once(child, "close");
  try {
    const words = text(child.stdout as Readable);
    await untilStopped(child.pid!);
    const environment = openEnvironment(join(path, "index"), { readOnly: false });
    const lease = await takeOver(environment);
    const [before, steps] = [stored(environment), stepsIn(log).length];
    child.kill("SIGCONT");
    await closed;
    const after = stored(environment);
    const { problems } = isBlind ? { problems: [] } : await checkEnvironment(environment);
    await lease.release();
    await environment.close();
    return {
      failed: told(await words, 0).failed,
      step: stepsIn(log)[steps],
      isChanged: after !== before,
      problems: problems.map(({ message }) => message),
    };
  } finally {
    child.kill("SIGKILL");
  }
}

export async function untilStopped(pid: number): Promise<void> {
  for (let i = 0; stateOfProcess(pid) !== "T"; i++) {
    if (i > 10_000) throw new Error("the writer has not stopped");
    await sleep(10);
  }
}

/** Takes over the lease as if the stopped writer had been silent for a long time. */
async function takeOver(environment: Environment): Promise<Lease> {
  await environment.write((writer) => {
    const lease = writer.get(engineKey("lease"), "the lease");
    if (lease) writer.put(engineKey("lease"), pack({ ...(unpack(lease) as object), at: 0 }));
  });
  return acquireLease(environment, { timeoutMs: 0 });
}

/**
 * Returns everything that is stored, byte for byte. The lease, which its owner renews, is represented only by its
 * owner.
 */
function stored(environment: Environment): string {
  const snapshot = environment.snapshot();
  const keys = [...snapshot.keys([Buffer.from([0]), Buffer.from([255])])];
  const lines = keys.map((borrowed) => {
    const key = Buffer.from(borrowed);
    const value = Buffer.from(snapshot.getSealed(key)!);
    const isLease = key.equals(engineKey("lease"));
    const shown = isLease ? (unpack(value.subarray(0, -4)) as { owner: string }).owner : undefined;
    return [key.toString("hex"), "", shown ?? value.toString("latin1")] as const;
  });
  snapshot.close();
  return digestOf(lines);
}
