/** What a queue keeps: a kind, which chooses the handler, and a payload that survives JSON. */
export interface Task<P = unknown> {
  readonly id: string;
  readonly kind: string;
  readonly payload: P;
  /** Milliseconds since the epoch; a worker never takes a task before it is due. */
  readonly dueAt: number;
  readonly attempt: number;
}

export type Handler<P = unknown> = (task: Task<P>, signal: AbortSignal) => Promise<void>;

/**
 * Where tasks live. `take` hands every task to one caller only; a task that was taken and
 * neither finished nor released comes back when the store is opened again.
 */
export interface TaskStore {
  put(task: Task): Promise<void>;
  take(now: number): Promise<Task | undefined>;
  finish(id: string): Promise<void>;
  release(id: string, dueAt: number): Promise<void>;
  size(): Promise<number>;
}
