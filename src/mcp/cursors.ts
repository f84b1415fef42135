/**
 * Keeps the cursors of tools. They are short handles, because a model pays for each character. Each one refers to an
 * object in memory; the oldest ones are dropped. Such an object contains positions and questions, never results, so
 * whoever continues with a handle sees only what they may see at that time.
 */

import { randomInt } from "node:crypto";
import { QuernError } from "../base/errors.ts";

const MOST_KEPT = 10_000;
/**
 * The limit of characters of all objects together, as JSON. One question may have 10 000 characters, and anybody may
 * ask many.
 */
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

  /** Returns twelve digits, which take four tokens and cannot be guessed. */
  #newCursor(): string {
    for (;;) {
      const cursor = String(randomInt(10 ** 11, 10 ** 12));
      if (!this.#kept.has(cursor)) return cursor;
    }
  }

  /** Returns the object of a cursor. REQUIRES: `T` is the type that this tool stores. */
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
