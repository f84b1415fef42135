/** Runs requests on a thread and sends the replies to the pool. Workers and inline pools both use this code. */

import { closedError, QuernError } from "../base/errors.ts";
import { Slice } from "../base/yield.ts";
import { packError, type Reply, type Request } from "./protocol.ts";
import type { Lane, Task, TaskContext, TaskTable } from "./task.ts";
import type { Pulse } from "./watch.ts";

/**
 * The time slice that all inline tasks share, so that together they block the host no longer than one task may, which
 * is 5 ms. A slice of 4 ms is short enough, because tasks check it about every 50 µs.
 */
export const inlineSlice = new Slice({ ms: 4 });

export type Send = (reply: Reply, transfer: readonly ArrayBuffer[]) => void;

export interface Thread {
  readonly tasks: TaskTable;
  readonly isInline: boolean;
  readonly worker: number;
  readonly environment: unknown;
  /** A counter that every call of pause() increments. */
  readonly pulse: Pulse;
  /** The lanes whose tasks yield in pause(). */
  readonly pausing: ReadonlySet<Lane>;
  readonly memo: Map<string, unknown>;
  readonly send: Send;
  /** Whether tasks have to end at their next pause(). */
  closed: boolean;
}

/**
 * Runs a task and sends its result. Never rejects. If the task throws or its result cannot be sent, sends the error as
 * the reply.
 */
export async function runRequest(thread: Thread, request: Request): Promise<void> {
  const context = new Context(thread, request);
  try {
    // only the callers of run() know both types, so they have to check that the input fits the task
    const task = thread.tasks[request.task] as Task<unknown, unknown> | undefined;
    if (!task) throw new QuernError("INTERNAL", `there is no task ${request.task}`);
    const output = task(request.input, context);
    const value = output instanceof Promise ? await output : output;
    thread.send({ kind: "result", id: request.id, value }, context.owned);
  } catch (thrown) {
    thread.send({ kind: "error", id: request.id, error: packError(thrown) }, []);
  }
}

class Context implements TaskContext {
  readonly isInline: boolean;
  readonly worker: number;
  readonly environment: unknown;
  owned: ArrayBuffer[] = [];
  readonly #thread: Thread;
  readonly #id: number;
  readonly #pauses: boolean;

  constructor(thread: Thread, { id, lane }: Request) {
    this.isInline = thread.isInline;
    this.worker = thread.worker;
    this.environment = thread.environment;
    this.#thread = thread;
    this.#id = id;
    this.#pauses = thread.pausing.has(lane);
  }

  pause(): Promise<void> | undefined {
    this.#thread.pulse[0]!++;
    if (!this.#pauses || !inlineSlice.isOver) return undefined;
    return this.#thread.closed ? Promise.reject(closedError()) : this.#rest();
  }

  async #rest(): Promise<void> {
    await inlineSlice.rest();
    if (this.#thread.closed) throw closedError();
  }

  post(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#thread.send({ kind: "message", id: this.#id, value: message }, transfer);
  }

  memo<T>(key: string, make: () => T): T {
    const { memo } = this.#thread;
    if (!memo.has(key)) memo.set(key, make());
    return memo.get(key) as T; // all uses of a key have the same type
  }

  forget(key: string): void {
    this.#thread.memo.delete(key);
  }

  transfer(...buffers: ArrayBuffer[]): void {
    this.owned.push(...buffers);
  }
}
