import type { Task, TaskStore } from "../task.ts";

/** Keeps tasks in two maps; whatever is not done at exit is lost. */
export class MemoryStore implements TaskStore {
  readonly #waiting = new Map<string, Task>();
  readonly #taken = new Map<string, Task>();

  async put(task: Task): Promise<void> {
    this.#waiting.set(task.id, task);
  }

  async take(now: number): Promise<Task | undefined> {
    // insertion order is arrival order, which is all the fairness we promise
    for (const task of this.#waiting.values()) {
      if (task.dueAt > now) continue;
      this.#waiting.delete(task.id);
      this.#taken.set(task.id, task);
      return task;
    }
    return undefined;
  }

  async finish(id: string): Promise<void> {
    this.#taken.delete(id);
  }

  async release(id: string, dueAt: number): Promise<void> {
    const task = this.#taken.get(id);
    if (task === undefined) return;
    this.#taken.delete(id);
    this.#waiting.set(id, { ...task, dueAt, attempt: task.attempt + 1 });
  }

  async size(): Promise<number> {
    return this.#waiting.size + this.#taken.size;
  }
}
