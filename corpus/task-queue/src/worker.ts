import type { Task, TaskStore } from "./task.ts";

/** How long a worker sleeps when nothing is due and nobody wakes it. */
const IDLE_MS = 500;

export class Worker {
  readonly #store: TaskStore;
  readonly #run: (task: Task) => Promise<void>;
  #wakeUp: () => void = () => {};
  stopped: Promise<void> = Promise.resolve();

  constructor(store: TaskStore, run: (task: Task) => Promise<void>) {
    this.#store = store;
    this.#run = run;
  }

  start(signal: AbortSignal): void {
    this.stopped = this.#loop(signal);
  }

  wake(): void {
    this.#wakeUp();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const task = await this.#store.take(Date.now());
      if (task === undefined) await this.#idle();
      else await this.#process(task);
    }
  }

  async #process(task: Task): Promise<void> {
    try {
      await this.#run(task);
      await this.#store.finish(task.id);
    } catch (error) {
      // the task stays in the store: an operator decides, see FileStore.failed
      console.error(`task ${task.id} (${task.kind}) failed`, error);
    }
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, IDLE_MS);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
