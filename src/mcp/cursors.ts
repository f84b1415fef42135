/**
 * Keeps the cursors of tools. A cursor is a short number, because a model pays for each character. The number refers
 * to an object in memory. If there are too many objects, the oldest are dropped. An object contains a request and a
 * position, but never results. So a cursor never shows a caller anything that this caller may not see.
 */

import { randomInt } from "node:crypto";
import { QuernError } from "../base/errors.ts";

const MOST_KEPT = 10_000;
/**
 * The maximum number of characters of all objects together, as JSON. This limit is needed because a request may have
 * 10 000 characters, and a client may send many requests.
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

  /** Returns an unused cursor. It has twelve digits, which take four tokens and cannot be guessed. */
  #newCursor(): string {
    for (;;) {
      const cursor = String(randomInt(10 ** 11, 10 ** 12));
      if (!this.#kept.has(cursor)) return cursor;
    }
  }

  /** Returns the object that was kept under a cursor. REQUIRES: `T` is the type that this tool keeps. */
  find<T extends object>(tool: string, cursor: string): T {
    const kept = this.#kept.get(cursor);
    if (kept?.tool === tool) return kept.state as T;
    throw new QuernError(
      "CURSOR_EXPIRED",
      kept
        ? `cursor ${cursor} belongs to the tool ${kept.tool}`
        : `cursor ${cursor.slice(0, 40)} has expired: ask again without it`,
    );
  }
}
