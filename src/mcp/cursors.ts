/**
 * Keeps the cursors of tools: short handles, because a model pays for each character of them. Each stands
 * for something in memory; the oldest are forgotten. That holds places and questions, never results, so
 * whoever continues with a handle sees only what they may see then.
 */

import { randomInt } from "node:crypto";
import { QuernError } from "../base/errors.ts";

const MOST_KEPT = 10_000;
/** Characters of everything kept, as JSON. One question may have 10 000, and anybody may ask many. */
const MOST_CHARACTERS = 16 * 2 ** 20;

interface Kept {
  readonly tool: string;
  readonly state: object;
  readonly characters: number;
}

export class Cursors {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;

  keep(tool: string, state: object): string {
    const cursor = this.#newCursor();
    const characters = JSON.stringify(state).length;
    this.#kept.set(cursor, { tool, state, characters });
    this.#characters += characters;
    for (const [oldest, forgotten] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT && this.#characters <= MOST_CHARACTERS) break;
      this.#kept.delete(oldest);
      this.#characters -= forgotten.characters;
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
