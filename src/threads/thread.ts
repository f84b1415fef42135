/** One thread's side of a pool: runs requests and replies. The same in a worker and inline. */

import { closedError, QuernError } from "../base/errors.ts";
import { Slice } from "../base/yield.ts";
import { packError, type Reply, type Request } from "./protocol.ts";
import type { Lane, Task, TaskContext, TaskTable } from "./task.ts";
import type { Pulse } from "./watch.ts";

/**
 * Of the tasks that run inline: they share one slice, so what one has used up the next one has not.
 * Milliseconds: a host may be blocked for 5, and a task looks only every 50 µs or so.
 */
export const inlineSlice = new Slice({ ms: 4 });

export type Send = (reply: Reply, transfer: readonly ArrayBuffer[]) => void;

export interface Thread {
  readonly tasks: TaskTable;
  readonly isInline: boolean;
  readonly worker: number;
  readonly environment: unknown;
  /** Beaten by every pause(). */
  readonly pulse: Pulse;
  /** Lanes whose tasks give way. */
  readonly pausing: ReadonlySet<Lane>;
  readonly memo: Map<string, unknown>;
  readonly send: Send;
  /** Tasks end at their next pause. */
  closed: boolean;
}

/** Never rejects: what goes wrong in the task, or in sending its result, is the reply. */
export async function runRequest(thread: Thread, request: Request): Promise<void> {
  const context = new Context(thread, request);
  try {
    // tasks of a table take what their callers give them: the pair is checked where both are known
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
    return this.#thread.closed ? Promise.reject(closedError()) : this.#giveWay();
  }

  async #giveWay(): Promise<void> {
    await inlineSlice.rest();
    if (this.#thread.closed) throw closedError();
  }

  post(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#thread.send({ kind: "message", id: this.#id, value: message }, transfer);
  }

  memo<T>(key: string, make: () => T): T {
    const { memo } = this.#thread;
    if (!memo.has(key)) memo.set(key, make());
    return memo.get(key) as T; // whoever uses a key uses it for one thing
  }

  forget(key: string): void {
    this.#thread.memo.delete(key);
  }

  transfer(...buffers: ArrayBuffer[]): void {
    this.owned.push(...buffers);
  }
}
