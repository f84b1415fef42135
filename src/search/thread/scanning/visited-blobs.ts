/**
 * Scans the visited blobs of a window for the content atoms of a query, and holds the matches of each atom. The atoms
 * that take the least time come first. Once no file with a certain blob can match any more, the blob is not scanned for
 * the remaining atoms.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import type { Verdict } from "../planning/evaluate.ts";
import { scanExpression, type ExpressionRun } from "./expression-scan.ts";
import type { Confirm } from "./file-ranges.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { scanExistence } from "./existence.ts";
import type { AtomPlan } from "../planning/atom-plan.ts";
import { noneFound, type Found } from "../reading/literal-scanner.ts";
import { SharedLines } from "./shared-lines.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import { scanTexts } from "./text-scan.ts";
import { scanSymbols } from "./symbol-scan.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";

export interface Visit {
  readonly query: PreparedQuery;
  readonly atoms: readonly AtomPlan[];
  /** The content atoms in the order in which they are scanned. */
  readonly order: readonly number[];
  /**
   * Returns true if the nth file with a visited blob may still match after the atom was evaluated in this blob, and
   * undefined if it cannot. Returns false if there is no nth file. Decides about one file at a time, because a million
   * files may share a blob.
   */
  readonly mayMatch: (index: number, atom: number, nth: number) => boolean | undefined;
  readonly wantsPairs: boolean;
  readonly symbols: SegmentSymbols | undefined;
  /**
   * The number of matches of an expression after which the rest of a blob need not be searched. By default, all matches
   * are found.
   */
  readonly most?: number | undefined;
  /**
   * Makes RE2 confirm ranges that will be shown. Called here only for ranges in names, because each name is a text of
   * its own.
   */
  readonly confirm?: Confirm;
}

/**
 * The maximum number of bytes that the ranges of all atoms in a window take. The ranges of all letters of the alphabet
 * in a file of 2 MiB take 16 MiB. Those of 400 terms that contain each other would take 400 MiB.
 */
const MOST_RANGE_BYTES = 128 * 2 ** 20;

export class VisitedBlobs {
  readonly blobs: readonly number[];
  /** The matches of each atom, by the number of the atom. Undefined as long as the atom was not scanned. */
  readonly found: (Found | undefined)[];
  /** For each visited blob, 1 if its content was read. */
  readonly loaded: Uint8Array;
  /** The number of expressions that were run on each blob. */
  readonly expressions: Uint8Array;
  readonly #visit: Visit;
  #rangeBytes = 0;

  constructor(blobs: readonly number[], visit: Visit) {
    this.blobs = blobs;
    this.found = visit.atoms.map(() => undefined);
    this.loaded = new Uint8Array(blobs.length);
    this.expressions = new Uint8Array(blobs.length);
    this.#visit = visit;
  }

  async scan(window: Window, tools: SearchTools): Promise<void> {
    const { order, query } = this.#visit;
    const [only] = order;
    if (order.length === 1 && query.isContentOnly) {
      // every visited blob is a candidate of the only atom
      const all = this.#all();
      this.found[only!] = await this.#scanAtom(this.#visit.atoms[only!]!, all, window, tools);
      return;
    }
    const { sharing } = query;
    const shared = sharing && new SharedLines(sharing.pass, window, tools);
    let alive: readonly number[] = this.#all();
    for (const [step, atom] of order.entries()) {
      const plan = this.#visit.atoms[atom]!;
      const targets = alive.filter(
        (index) => !plan.blobs || hasBit(plan.blobs, this.blobs[index]!),
      );
      const reach = sharing?.atoms.has(atom) ? { ...plan, shared } : plan;
      const found = await this.#scanAtom(reach, targets, window, tools);
      const isStopped = tools.isStopped() || this.#isTooMuch(found, tools);
      // after a stop, matches may be missing, and a negated atom must not count as false because of that
      if (!isStopped || !query.hasNegation || atom === query.single)
        this.found[atom] = spread(found, targets, this.blobs.length);
      if (isStopped) return;
      if (step + 1 < order.length) alive = await this.#stillAlive(alive, atom, tools);
      await tools.pause();
    }
  }

  /** Returns the indexes of all visited blobs. An iterator would create an object for each of them. */
  #all(): number[] {
    const all: number[] = [];
    for (let index = 0; index < this.blobs.length; index++) all.push(index);
    return all;
  }

  #isTooMuch(found: Found, tools: SearchTools): boolean {
    this.#rangeBytes += found.pairs.byteLength;
    if (this.#rangeBytes <= MOST_RANGE_BYTES) return false;
    tools.giveUp();
    return true;
  }

  /**
   * Returns those of the blobs in `alive` that have a file which may still match after the atom was evaluated. If the
   * search is stopped, the result may also contain other blobs of `alive`.
   */
  async #stillAlive(
    alive: readonly number[],
    atom: number,
    { isStopped, pause }: Pick<SearchTools, "isStopped" | "pause">,
  ): Promise<readonly number[]> {
    const { query, atoms, mayMatch } = this.#visit;
    const { blobs } = atoms[atom]!;
    const still: number[] = [];
    let [evaluated, isCut] = [0, false];
    for (const index of alive) {
      // in a blob outside the atom's set, the atom was already known to be false, so nothing has changed
      const isNews = !blobs || hasBit(blobs, this.blobs[index]!);
      let may = isNews && !isCut ? undefined : true;
      for (let nth = 0; may === undefined; nth++) {
        if (++evaluated % query.filesAtOnce === 0) {
          isCut = isStopped();
          await pause();
        }
        may = isCut || mayMatch(index, atom, nth);
      }
      if (may) still.push(index);
    }
    return still;
  }

  async #scanAtom(
    plan: AtomPlan & Pick<ExpressionRun, "shared">,
    targets: readonly number[],
    window: Window,
    tools: SearchTools,
  ): Promise<Found> {
    const areAll = targets.length === this.blobs.length;
    const blobs = areAll ? this.blobs : targets.map((index) => this.blobs[index]!);
    const { atom, pages } = plan;
    if (blobs.length === 0) return noneFound(0);
    for (const index of targets) this.loaded[index] = 1;
    if (atom.kind === "literal") {
      const { placed } = atom;
      if (plan.onlyDecides) return scanExistence(window, blobs, { placed, pages }, tools);
      const how = { placed, pages, wantsPairs: this.#visit.wantsPairs };
      return tools.literals.scan(window, blobs, how, tools);
    }
    if (atom.kind !== "content" && atom.kind !== "symbol") return noneFound(blobs.length);
    for (const index of targets) this.expressions[index]!++;
    const { placed } = atom;
    const { symbols, confirm } = this.#visit;
    if (atom.kind === "symbol")
      return symbols
        ? scanSymbols({ placed, reach: plan, window, blobs, symbols, tools, confirm })
        : noneFound(blobs.length);
    if (placed.texts) return scanTexts(placed.texts, window, blobs, pages, tools);
    const most = plan.onlyDecides ? 1 : this.#visit.most;
    return scanExpression(placed, window, blobs, { ...plan, most }, tools);
  }

  /**
   * Returns whether a content atom is true in a visited blob, or undefined if this is not known yet. Index -1 stands
   * for any blob that is not visited. No content atom is true in such a blob.
   */
  verdict(atom: number, index: number): Verdict {
    if (index < 0) return false;
    const found = this.found[atom];
    if (found) return found.counts[index]! > 0;
    const { blobs }: { readonly blobs: Bitset | undefined } = this.#visit.atoms[atom]!;
    return blobs && !hasBit(blobs, this.blobs[index]!) ? false : undefined;
  }
}

/**
 * Returns the results of a scan for all visited blobs. `found` has results only for the scanned blobs, whose indexes
 * are in `targets`.
 */
function spread(found: Found, targets: readonly number[], blobs: number): Found {
  if (targets.length === blobs) return found;
  const all = { ...noneFound(blobs), pairs: found.pairs };
  targets.forEach((index, i) => {
    all.counts[index] = found.counts[i]!;
    all.edges[index] = found.edges[i]!;
    all.starts[index] = found.starts[i]!;
  });
  return all;
}
