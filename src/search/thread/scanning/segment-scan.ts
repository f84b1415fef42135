/**
 * Evaluates the windows of a planned segment. Literals are searched first. An expression runs only on blobs with a file
 * that may still match. Every matching file is passed to `onHit`. A blob is scanned once, however many files share it.
 */

import { countBitsBetween, hasBit, nextBit, type Bitset } from "../../../base/bitset.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { WindowStats } from "../../messages/totals.ts";
import type { AtomPlan } from "../planning/atom-plan.ts";
import { decide, type Facts, type Verdict } from "../planning/evaluate.ts";
import type { SegmentPlan } from "../planning/segment-plan.ts";
import type { Found } from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import { Window } from "../reading/window.ts";
import { DefinitionRater, type RatedAtom } from "./definitions.ts";
import { VisitedBlobs } from "./visited-blobs.ts";

/**
 * A matching file, with the matches of the query's atoms. The object is valid only until the next hit, because it is
 * reused.
 */
export interface Hit extends Facts {
  readonly file: number;
  /** The index of the file's blob among the visited blobs; -1 if the content was not read. */
  readonly index: number;
  readonly found: readonly (Found | undefined)[];
}

/** Called for each hit. If it returns a promise, the scan waits for it, and the hit stays valid until then. */
export type OnHit = (hit: Hit) => Promise<void> | void;

export interface ScanOptions {
  readonly snapshot: Snapshot;
  readonly tools: SearchTools;
}

export class SegmentScan {
  readonly plan: SegmentPlan;
  readonly #options: ScanOptions;

  constructor(plan: SegmentPlan, options: ScanOptions) {
    this.plan = plan;
    this.#options = options;
  }

  /**
   * Evaluates the candidate files of a window. Updates `stats` before each hit, so that the counters match the hits
   * even if damage ends the scan.
   */
  async window(number: number, stats: WindowStats, onHit: OnHit): Promise<void> {
    const { reader, asked, atoms, order, visit, windows } = this.plan;
    const { snapshot, tools } = this.#options;
    const { query, symbols } = asked;
    const [first, end] = [windows[number]!, windows[number + 1]!];
    const blobs = bitsBetween(visit, first, end);
    const symbolBytes = symbols?.bytesLoaded ?? 0;
    const rated = asked.isRanked && symbols ? this.#mayBeNamed(blobs) : [];
    const visited: VisitedBlobs = new VisitedBlobs(blobs, {
      query,
      atoms,
      order,
      mayMatch: (index, atom, nth) => this.#mayMatch(index, atom, nth, visited),
      wantsPairs: rated.length > 0 || query.contentAtoms.length > 1,
      symbols,
    });
    let rater: DefinitionRater | undefined;
    if (blobs.length > 0) {
      const expectedBytes = this.#expectedBytes(blobs);
      const how = { ...tools, snapshot, expectedBytes };
      const place = { firstBlob: first, endBlob: end, visited: blobs };
      const window = new Window(reader, place, how);
      await visited.scan(window, tools);
      if (symbols && rated.length > 0) {
        const found = rated.flatMap((atom) => this.#rated(atom, visited));
        rater = new DefinitionRater({ found, blobs, window, symbols }, tools);
      }
      stats.contentBytesLoaded += window.bytesLoaded;
    }
    const settling = { visited, stats, onHit, rater, facts: this.#factsOf(visited) };
    if (await this.#settleBlobs(settling)) await this.#settleUnread(number, settling);
    stats.contentBytesLoaded += (symbols?.bytesLoaded ?? 0) - symbolBytes;
  }

  /** Estimates how many bytes of the visited blobs must be read for the first atom. */
  #expectedBytes(blobs: readonly number[]): number {
    const { reader, atoms, order } = this.plan;
    const { blobStarts, firstPages, pageBytes } = reader;
    const pages = atoms[order[0] ?? -1]?.pages;
    return blobs.reduce((sum, blob) => {
      const bytes = blobStarts[blob + 1]! - blobStarts[blob]!;
      if (!pages) return sum + bytes;
      const count = countBitsBetween(pages, firstPages[blob]!, firstPages[blob + 1]!);
      return sum + Math.min(bytes, pageBytes * count); // the last page is shorter
    }, 0);
  }

  /** Returns the shown atoms whose matches may be within a definition's name in one of the blobs. */
  #mayBeNamed(blobs: readonly number[]): number[] {
    const { asked, atoms } = this.plan;
    return [...asked.query.shown].filter((atom) => {
      const { named } = atoms[atom]!;
      return !named || blobs.some((blob) => hasBit(named, blob));
    });
  }

  #rated(atom: number, visited: VisitedBlobs): RatedAtom[] {
    const found = visited.found[atom];
    return found ? [{ found, named: this.plan.atoms[atom]!.named }] : [];
  }

  #factsOf(visited: VisitedBlobs): FileFacts {
    return new FileFacts(this.plan.atoms, this.plan.asked.sets, visited);
  }

  /**
   * Decides for each candidate file of the visited blobs whether the file matches. Resolves to false if the search was
   * stopped.
   */
  async #settleBlobs(at: Settling): Promise<boolean> {
    const { visited, stats } = at;
    const { reader, candidates, asked } = this.plan;
    const { blobFileStarts, blobFiles } = reader;
    const { single, filesAtOnce } = asked.query;
    const { isStopped, pause } = this.#options.tools;
    let evaluated = 0; // counts files, because a million files may share a blob
    for (let index = 0; index < visited.blobs.length; index++) {
      const blob = visited.blobs[index]!;
      const cannotMatch = single !== undefined && visited.found[single]?.counts[index] === 0;
      for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++) {
        const file = blobFiles[i]!;
        if (!hasBit(candidates, file)) continue;
        stats.filesConsidered++;
        if (visited.loaded[index]) stats.filesLoaded++;
        stats.regexpsConsidered += visited.expressions[index]!;
        const rating = cannotMatch ? undefined : this.#settle(file, index, at);
        if (rating) await rating;
        if (++evaluated % filesAtOnce > 0) continue;
        if (isStopped()) return false;
        await pause();
      }
    }
    return true;
  }

  /**
   * Decides for each remaining candidate file of a window whether it matches. The content of such a file need not be
   * scanned, because the plan has already shown that no content atom is true for it.
   */
  async #settleUnread(number: number, at: Settling): Promise<void> {
    const { reader, asked, candidates, visit, work, windows, withoutContent } = this.plan;
    if (asked.query.isContentOnly) return;
    const { blobFileStarts, blobFiles } = reader;
    const { isStopped, pause } = this.#options.tools;
    const files: number[] = [];
    for (const blob of bitsBetween(work, windows[number]!, windows[number + 1]!)) {
      if (hasBit(visit, blob)) continue;
      for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++)
        if (hasBit(candidates, blobFiles[i]!)) files.push(blobFiles[i]!);
    }
    if (number === 0) for (const file of withoutContent) files.push(file);
    for (const [i, file] of files.entries()) {
      if ((i + 1) % asked.query.filesAtOnce === 0) {
        if (isStopped()) return;
        await pause();
      }
      at.stats.filesConsidered++;
      const rating = this.#settle(file, -1, at);
      if (rating) await rating;
    }
  }

  #settle(file: number, index: number, { facts, onHit, rater }: Settling): Promise<void> | void {
    const { root, single } = this.plan.asked.query;
    facts.file = file;
    facts.index = index;
    const isDecided = index >= 0 && single !== undefined;
    if (!isDecided && decide(root, facts) !== true) return;
    if (index >= 0) rater?.rate(index);
    return onHit(facts);
  }

  /** Implements Visit.mayMatch(). */
  #mayMatch(index: number, atom: number, nth: number, visited: VisitedBlobs): boolean | undefined {
    const { reader, candidates, asked } = this.plan;
    const { blobFileStarts, blobFiles } = reader;
    const blob = visited.blobs[index]!;
    const at = blobFileStarts[blob]! + nth;
    if (at === blobFileStarts[blob + 1]!) return false;
    const facts = this.#factsOf(visited);
    facts.file = blobFiles[at]!;
    facts.index = index;
    if (!hasBit(candidates, facts.file)) return undefined;
    const operands = asked.query.operands[atom]!;
    return operands.every((operand) => decide(operand, facts) !== false) || undefined;
  }
}

/**
 * Says which atoms and sets are true for the current file. One object is reused for all files, because a frequent word
 * may match every file.
 */
class FileFacts implements Hit {
  file = 0;
  index = -1;
  readonly #atoms: readonly AtomPlan[];
  readonly #sets: readonly Bitset[];
  readonly #visited: VisitedBlobs;

  constructor(atoms: readonly AtomPlan[], sets: readonly Bitset[], visited: VisitedBlobs) {
    this.#atoms = atoms;
    this.#sets = sets;
    this.#visited = visited;
  }

  get found(): readonly (Found | undefined)[] {
    return this.#visited.found;
  }

  set(set: number): boolean {
    return hasBit(this.#sets[set]!, this.file);
  }

  atom(atom: number): Verdict {
    const { exact } = this.#atoms[atom]!;
    return exact ? hasBit(exact, this.file) : this.#visited.verdict(atom, this.index);
  }
}

interface Settling {
  readonly visited: VisitedBlobs;
  readonly stats: WindowStats;
  readonly onHit: OnHit;
  readonly facts: FileFacts;
  readonly rater: DefinitionRater | undefined;
}

/** Returns the members of a set in [first, end), in ascending order. */
function bitsBetween(set: Bitset, first: number, end: number): number[] {
  const bits: number[] = [];
  for (let bit = nextBit(set, first); bit >= 0 && bit < end; bit = nextBit(set, bit + 1))
    bits.push(bit);
  return bits;
}
