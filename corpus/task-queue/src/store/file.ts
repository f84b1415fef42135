import { appendFile, readFile, writeFile } from "node:fs/promises";
import type { Task, TaskStore } from "../task.ts";
import { MemoryStore } from "./memory.ts";

type Entry = { op: "put"; task: Task } | { op: "finish"; id: string };

/**
 * A journal of JSON lines beside a MemoryStore. Opening replays it; a task that was taken but
 * not finished is there again. A torn last line (the process died while writing) is dropped.
 */
export class FileStore implements TaskStore {
  readonly #path: string;
  readonly #memory = new MemoryStore();

  private constructor(path: string) {
    this.#path = path;
  }

  static async open(path: string): Promise<FileStore> {
    const store = new FileStore(path);
    const live = replay(await readFile(path, "utf8").catch(() => ""));
    for (const task of live.values()) await store.#memory.put(task);
    await writeFile(path, [...live.values()].map((task) => line({ op: "put", task })).join(""));
    return store;
  }

  async put(task: Task): Promise<void> {
    await appendFile(this.#path, line({ op: "put", task }));
    await this.#memory.put(task);
  }

  take(now: number): Promise<Task | undefined> {
    return this.#memory.take(now);
  }

  async finish(id: string): Promise<void> {
    await appendFile(this.#path, line({ op: "finish", id }));
    await this.#memory.finish(id);
  }

  release(id: string, dueAt: number): Promise<void> {
    return this.#memory.release(id, dueAt);
  }

  size(): Promise<number> {
    return this.#memory.size();
  }
}

const line = (entry: Entry): string => `${JSON.stringify(entry)}\n`;

function replay(journal: string): Map<string, Task> {
  const live = new Map<string, Task>();
  for (const text of journal.split("\n").slice(0, -1)) {
    const entry = JSON.parse(text) as Entry;
    if (entry.op === "put") live.set(entry.task.id, entry.task);
    else live.delete(entry.id);
  }
  return live;
}
