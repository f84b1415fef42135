/**
 * The expressions of a query that nothing narrows down, in one pass over each blob for all of them:
 * each is then run on the lines that hold a match of any.
 */

import type { Kernel } from "../../../kernel/kernel.ts";
import { mayShare, SharedPass } from "../../../regex/shared-pass.ts";
import type { ContentScanner, ScanTools } from "./expression.ts";
import { linesAround, type Stretch } from "./line-regions.ts";
import type { Window } from "./window.ts";

/** Expressions that share a pass, in one thread. */
export interface Sharing {
  /** Which of a query's atoms they are. */
  readonly atoms: ReadonlySet<number>;
  readonly pass: SharedPass;
}

/** undefined: no two of them have nothing to look for and stay within lines. */
export function sharingOf(
  scanners: ReadonlyMap<number, ContentScanner>,
  kernel: Kernel,
): Sharing | undefined {
  const sharing = [...scanners].filter(
    ([, { readsAll, expression }]) => readsAll && mayShare(expression),
  );
  const pass = SharedPass.of(
    kernel,
    sharing.map(([, { expression }]) => expression),
  );
  return pass && { atoms: new Set(sharing.map(([atom]) => atom)), pass };
}

/** Of the blobs of one window, found when the first of the expressions comes to a blob. */
export class SharedLines {
  readonly #pass: SharedPass;
  readonly #window: Window;
  readonly #tools: ScanTools;
  readonly #known = new Map<number, readonly Stretch[] | undefined>();

  constructor(pass: SharedPass, window: Window, tools: ScanTools) {
    this.#pass = pass;
    this.#window = window;
    this.#tools = tools;
  }

  /** Whole lines that hold every match of every expression; undefined: it is not worth it, run all. */
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
