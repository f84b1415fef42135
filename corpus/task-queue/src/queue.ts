import { randomUUID } from "node:crypto";
import { parseDuration } from "./duration.ts";
import { retryWithBackoff } from "./retry.ts";
import { MemoryStore } from "./store/memory.ts";
import type { Handler, Task, TaskStore } from "./task.ts";
import { Worker } from "./worker.ts";

export interface QueueOptions {
  store?: TaskStore;
  /** How many tasks run at once. */
  concurrency?: number;
  /** First delay between two attempts of one task, as a duration. */
  retryDelay?: string;
  /** Attempts after which a task is given up. */
  attempts?: number;
}

/**
 * A queue of tasks of several kinds. Tasks of one kind start in the order in which they were
 * enqueued, but nothing is said about the order in which they end.
 */
export class TaskQueue {
  readonly #store: TaskStore;
  readonly #handlers = new Map<string, Handler>();
  readonly #workers: Worker[] = [];
  readonly #options: Required<Omit<QueueOptions, "store">>;
  readonly #abort = new AbortController();

  constructor(options: QueueOptions = {}) {
    this.#store = options.store ?? new MemoryStore();
    this.#options = {
      concurrency: options.concurrency ?? 1,
      retryDelay: options.retryDelay ?? "1s",
      attempts: options.attempts ?? 3,
    };
  }

  handle(kind: string, handler: Handler): this {
    if (this.#handlers.has(kind)) throw new Error(`two handlers for ${kind}`);
    this.#handlers.set(kind, handler);
    return this;
  }

  /** Resolves when the store has the task, not when it has run. */
  async enqueue<P>(kind: string, payload: P, delay = "0s"): Promise<string> {
    const id = randomUUID();
    const dueAt = Date.now() + parseDuration(delay);
    await this.#store.put({ id, kind, payload, dueAt, attempt: 0 });
    this.#wake();
    return id;
  }

  start(): void {
    while (this.#workers.length < this.#options.concurrency) {
      const worker = new Worker(this.#store, (task) => this.#run(task));
      this.#workers.push(worker);
      worker.start(this.#abort.signal);
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await Promise.all(this.#workers.map((worker) => worker.stopped));
  }

  size(): Promise<number> {
    return this.#store.size();
  }

  #wake(): void {
    for (const worker of this.#workers) worker.wake();
  }

  async #run(task: Task): Promise<void> {
    const handler = this.#handlers.get(task.kind);
    if (handler === undefined) throw new Error(`no handler for ${task.kind}`);
    const { attempts, retryDelay } = this.#options;
    await retryWithBackoff(() => handler(task, this.#abort.signal), {
      attempts,
      baseMs: parseDuration(retryDelay),
      signal: this.#abort.signal,
    });
  }
}
