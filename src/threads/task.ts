/**
 * What a pool of threads runs. A task is a function of its input and of what its thread keeps; the
 * pool knows nothing else of it.
 *
 * Three lanes: "search" is short work somebody waits for, "ingest" is long work that gives way, "list"
 * finds what that is to work on. A thread runs at most one task of each lane at a time, and they
 * interleave where those of "ingest" and "list" await pause() or something else: so whatever tasks keep
 * in memo() may be shared within a lane, not between lanes.
 *
 * Between threads everything is copied, but for what is transferred. An inline pool hands over the
 * thing itself. REQUIRES, so that both are the same: nobody changes what he has handed over.
 */

export const LANES = ["search", "ingest", "list"] as const;
export type Lane = (typeof LANES)[number];

/** Runs in a worker, or on the caller's thread where there are no workers. */
export type Task<I, O> = (input: I, context: TaskContext) => Promise<O> | O;

/** Tasks of all kinds by name: each is called with the input that run() was given. */
export type TaskTable = Readonly<Record<string, Task<never, unknown>>>;

export interface TaskContext {
  /**
   * undefined while the task may go on; a promise to await when it is somebody else's turn: after
   * 4 ms, in the lanes "ingest" and "list" of a worker and in all lanes of an inline pool. In the lane
   * "search" of a worker always undefined. Rejects with ENGINE_CLOSED when the pool was closed.
   * Costs a performance.now(): call it every 50 µs or so.
   */
  pause(): Promise<void> | undefined;
  /** Arrives at run()'s onMessage in order, before run() resolves. */
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Kept per thread between tasks, made at first use: opened stores, kernels, sessions. */
  memo<T>(key: string, make: () => T): T;
  /** The next memo() of this key makes it anew; disposing of the old one is the task's business. */
  forget(key: string): void;
  /** Whether the task runs on the caller's thread. */
  readonly isInline: boolean;
  /** 0-based index of the worker; 0 in an inline pool. */
  readonly worker: number;
  /** What the pool was created with. */
  readonly environment: unknown;
  /** Marks what the result owns, so that it is transferred, not copied. */
  transfer(...buffers: ArrayBuffer[]): void;
}
