/**
 * Keeps the cursors of tools: short handles, because a model pays for each character of them. Each stands
 * for something in memory; the oldest are forgotten. That holds places and questions, never results, so
 * whoever continues with a handle sees only what they may see then.
 */

import { randomInt } from "node:crypto";
import { QuernError } from "../base/errors.ts";

const MOST_KEPT = 10_000;

export class Cursors {
  readonly #kept = new Map<string, { readonly tool: string; readonly state: object }>();

  keep(tool: string, state: object): string {
    const cursor = this.#newCursor();
    this.#kept.set(cursor, { tool, state });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break;
      this.#kept.delete(oldest);
    }
    return cursor;
  }

  /** Returns digits, which take one token for every three: four tokens that nobody guesses. */
  #newCursor(): string {
    for (;;) {
      const cursor = String(randomInt(10 ** 11, 10 ** 12));
      if (!this.#kept.has(cursor)) return cursor;
    }
  }

  /** Returns what a cursor stands for. REQUIRES: `T` is what this tool keeps. */
  find<T extends object>(tool: string, cursor: string): T {
    const kept = this.#kept.get(cursor);
    if (kept?.tool === tool) return kept.state as T;
    throw new QuernError(
      "CURSOR_EXPIRED",
      kept
        ? `cursor ${cursor} is of the tool ${kept.tool}`
        : `cursor ${cursor.slice(0, 40)} is not known any more: ask again without it`,
    );
  }
}
