/**
 * Rates how well matches fit the names of the definitions in their blob, for ranking. The ratings 0 to 3 are called
 * classes and are defined in kernel/assembly/definitions.ts.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import type { Found } from "../reading/literal-scanner.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";

/** The class of a match that is exactly the name of a definition. */
export const EXACT = 3;

/**
 * The number of ranges that are rated between two checks of the clock. For each group of this many ranges, the
 * definitions are read again.
 */
const RANGES_AT_ONCE = 2 ** 18;

/**
 * An atom whose matches are rated.
 * REQUIRES: `found.pairs` contains the start and end of every match. (A scan may count matches without them.)
 */
export interface RatedAtom {
  readonly found: Found;
  /** The blobs in which a match may be within a name. Undefined means any blob. */
  readonly named: Bitset | undefined;
}

/** The atoms whose matches are rated, and the blobs of a window with these matches. */
export interface Rated {
  readonly found: readonly RatedAtom[];
  readonly blobs: readonly number[];
  /** The window of the blobs. The text of every match is loaded. */
  readonly window: Window;
  readonly symbols: SegmentSymbols;
}

type Tools = Pick<SearchTools, "kernel" | "arena" | "isStopped">;

/**
 * Rates the matches in a blob when the first hit with this blob is found. If a query has several terms, most blobs have
 * no hit, and their matches are never rated.
 */
export class DefinitionRater {
  readonly #rated: Rated;
  readonly #tools: Tools;
  #last = -1;

  constructor(rated: Rated, tools: Tools) {
    this.#rated = rated;
    this.#tools = tools;
    for (const { found } of rated.found) found.definitions = new Uint8Array(rated.blobs.length);
  }

  /** Sets the class of the best match of each atom in the visited blob with this index. */
  rate(index: number): void {
    const { found, blobs, symbols } = this.#rated;
    const blob = blobs[index]!;
    if (index === this.#last || !symbols.has(blob)) return;
    this.#last = index;
    const held = found.filter(
      (one) => one.found.counts[index]! > 0 && (!one.named || hasBit(one.named, blob)),
    );
    if (held.length === 0) return;
    const { arena, isStopped } = this.#tools;
    const mark = arena.mark();
    const run = symbols.run(blob);
    const at = arena.put(run);
    for (const one of held) {
      if (isStopped()) break;
      one.found.definitions![index] = this.#best([at, at + run.length], blob, one.found, index);
    }
    arena.release(mark);
  }

  #best(
    [run, runEnd]: readonly [number, number],
    blob: number,
    { pairs, counts, starts }: Found,
    index: number,
  ): number {
    const { kernel, arena, isStopped } = this.#tools;
    const { window } = this.#rated;
    const [from, words] = [2 * starts[index]!, 2 * counts[index]!];
    const at = arena.take(4 * Math.min(words, 2 * RANGES_AT_ONCE));
    const [origin, length] = [window.address(blob), window.length(blob)];
    let best = 0;
    for (let word = 0; word < words && best < EXACT; word += 2 * RANGES_AT_ONCE) {
      if (word > 0 && isStopped()) break;
      const some = pairs.subarray(from + word, from + Math.min(words, word + 2 * RANGES_AT_ONCE));
      kernel.words.set(some, at >>> 2);
      const stop = at + some.byteLength;
      const fit = kernel.run.bestDefinition(run, runEnd, at, stop, origin, length);
      if (fit < 0) throw corrupt("a run of symbols");
      best = Math.max(best, fit);
    }
    return best;
  }
}
