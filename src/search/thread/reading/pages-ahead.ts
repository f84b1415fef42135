/**
 * Keeps the pages of literals that the calling thread has found before a search. A search on this thread then need not
 * look them up again. For a rare literal with many grams, that would take a fifth of the search's time.
 */

import type { KeptPages } from "../../../store/segments/kept-lists.ts";

export class PagesAhead {
  readonly #found = new Map<readonly number[], Map<number, KeptPages>>();

  /** Adds what was found for the grams of a literal in the segment `content`. */
  add(grams: readonly number[], content: number, found: KeptPages): void {
    let ofLiteral = this.#found.get(grams);
    if (!ofLiteral) this.#found.set(grams, (ofLiteral = new Map()));
    ofLiteral.set(content, found);
  }

  /** Returns what was added for the same array of grams. */
  get(grams: readonly number[], content: number): KeptPages | undefined {
    return this.#found.get(grams)?.get(content);
  }
}
