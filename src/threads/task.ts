/**
 * Defines the tasks that a pool of threads runs. A task is a function of its input and its context. The pool knows
 * nothing else about a task.
 *
 * There are three lanes. "search" is for short tasks that somebody waits for. "ingest" is for long tasks, which yield
 * to searches. "list" is for tasks that list the files to index. A thread runs at most one task of each lane at a time,
 * so tasks of one lane may share a memo(). Tasks of different lanes may not, because they take turns whenever a task of
 * "ingest" or "list" awaits something.
 *
 * Values sent between threads are copied, unless they are transferred. An inline pool passes them by reference.
 * REQUIRES: nobody changes a value after sending it, so that both kinds of pool behave the same.
 */

export const LANES = ["search", "ingest", "list"] as const;
export type Lane = (typeof LANES)[number];

/** A task. It runs in a worker, or on the caller's thread if there are no workers. */
export type Task<I, O> = (input: I, context: TaskContext) => Promise<O> | O;

/** All tasks, by name. REQUIRES: the caller of run() passes an input that fits the task. */
export type TaskTable = Readonly<Record<string, Task<never, unknown>>>;

export interface TaskContext {
  /**
   * Returns a promise to await if the task should yield, and undefined otherwise. A task yields every 4 ms, except that
   * tasks of the lane "search" do not yield in a worker. The promise rejects with ENGINE_CLOSED if the pool was closed.
   * A call reads the clock, so a task should make one about every 50 µs.
   */
  pause(): Promise<void> | undefined;
  /** Sends a message to the onMessage callback of run(). Messages arrive in order, before run() resolves. */
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Returns the value that this thread keeps under a key. The value is made on first use and is kept between tasks. */
  memo<T>(key: string, make: () => T): T;
  /** Forgets the value under a key, without disposing of it. The next call of memo() for this key makes a new value. */
  forget(key: string): void;
  /** Whether the task runs on the caller's thread. */
  readonly isInline: boolean;
  /** The index of the worker, starting at 0. It is 0 in an inline pool. */
  readonly worker: number;
  /** The `environment` with which the pool was created. */
  readonly environment: unknown;
  /** Marks buffers of the result, which are then transferred instead of copied. */
  transfer(...buffers: ArrayBuffer[]): void;
}
