/**
 * Searches each blob in one shared pass for all expressions of a query that have no literal to search for first. Each
 * of these expressions then runs only on the lines that match at least one of them.
 */

import type { SharedPass } from "../../../regex/shared-pass.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import { linesAround, type Stretch } from "./line-regions.ts";
import type { Window } from "../reading/window.ts";

/**
 * The lines of a window's blobs that match at least one of the expressions. The lines of a blob are found when the
 * first expression needs them.
 */
export class SharedLines {
  readonly #pass: SharedPass;
  readonly #window: Window;
  readonly #tools: SearchTools;
  readonly #known = new Map<number, readonly Stretch[] | undefined>();

  constructor(pass: SharedPass, window: Window, tools: SearchTools) {
    this.#pass = pass;
    this.#window = window;
    this.#tools = tools;
  }

  /**
   * Returns whole lines that together contain every match of every expression. Returns undefined if the shared pass
   * is not worthwhile, so that each expression should run on the whole blob.
   */
  of(blob: number): readonly Stretch[] | undefined {
    if (this.#known.has(blob)) return this.#known.get(blob);
    const lines = this.#pass.isIdle ? undefined : this.#find(blob);
    this.#known.set(blob, lines);
    return lines;
  }

  #find(blob: number): readonly Stretch[] | undefined {
    const { firstPages } = this.#window.reader;
    this.#window.load(blob, firstPages[blob]!, firstPages[blob + 1]!, 0);
    const from = this.#window.address(blob);
    const text: Stretch = [from, from + this.#window.length(blob)];
    const places = this.#pass.places(...text, this.#tools.isStopped);
    return places && linesAround(this.#tools, text, places);
  }
}
