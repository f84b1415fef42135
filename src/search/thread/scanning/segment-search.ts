/**
 * One query in one segment. Planning decides from metadata, paths and grams which files may match;
 * then each window is evaluated by itself: literals first, expressions where they still matter, and
 * every file that matches is handed to `onHit`. Blobs are scanned once, however many files share one.
 */

import {
  countBits,
  emptyBitset,
  forEachBit,
  hasBit,
  intersect,
  isEmpty,
  nextBit,
  setBit,
  unite,
  type Bitset,
} from "../../../base/bitset.ts";
import { NO_BLOB } from "../../../store/format/format.ts";
import type { Snapshot } from "../../../store/lmdb/environment.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import { boundsOf, type Known } from "../planning/bounds.ts";
import { DefinitionRater } from "../ranking/definitions.ts";
import { decide, type Facts, type Verdict } from "./evaluate.ts";
import { filesWithPath } from "../planning/path-scan.ts";
import { counterInScope } from "../planning/pages.ts";
import { gramsOf, type PreparedQuery } from "../planning/prepare.ts";
import type { Found } from "./scan.ts";
import { knownOf, planAtoms, type AtomPlan } from "../planning/segment-plan.ts";
import type { ThreadTools } from "../thread-tools.ts";
import type { SegmentSymbols } from "./segment-symbols.ts";
import { scanOrder, VisitedBlobs } from "./visited-blobs.ts";
import { Window } from "./window.ts";

/** About a millisecond's work. */
const BLOBS_AT_ONCE = 1024;

/** What a search asks of one segment. */
export interface SegmentQuery {
  readonly query: PreparedQuery;
  /** Files of the searched revisions that the viewer may see. */
  readonly scope: Bitset;
  /** By the numbers of the plan's sets. */
  readonly sets: readonly Bitset[];
  /** undefined: none are known. */
  readonly symbols: SegmentSymbols | undefined;
  /** Whether files are ranked, so that it matters which match names a definition. */
  readonly isRanked: boolean;
}

/** Counters of one segment's plan. */
export interface PlanStats {
  shardFilesConsidered: number;
  ngramLookups: number;
  ngramMatches: number;
  indexBytesLoaded: number;
}

/** What a window's evaluation found out about one matching file. Borrowed: the next hit is the same object. */
export interface Hit extends Facts {
  readonly file: number;
  /** Position among the visited blobs; -1: its content was not looked at. */
  readonly index: number;
  readonly found: readonly (Found | undefined)[];
}

export interface WindowStats {
  filesConsidered: number;
  filesLoaded: number;
  contentBytesLoaded: number;
  regexpsConsidered: number;
}

export class SegmentSearch {
  readonly reader: SegmentReader;
  readonly planStats: PlanStats;
  /** Files whose query tree must be evaluated. */
  readonly candidates: Bitset;
  readonly windows: Uint32Array;
  /** Time ran out while paths were tried: what else this says is of no use. */
  readonly isCut: boolean;
  readonly #snapshot: Snapshot;
  readonly #tools: ThreadTools;
  readonly #asked: SegmentQuery;
  readonly #atoms: readonly AtomPlan[];
  readonly #order: readonly number[];
  /** Blobs of candidate files in which some content atom may hold. */
  readonly #visit: Bitset;
  /** Blobs of candidate files. */
  readonly #work: Bitset;
  /** Candidate files that have no place in the text, taken with the first window. */
  readonly #homeless: readonly number[];

  constructor(reader: SegmentReader, snapshot: Snapshot, tools: ThreadTools, asked: SegmentQuery) {
    this.reader = reader;
    this.#snapshot = snapshot;
    this.#tools = tools;
    this.#asked = asked;
    const { kernel, arena } = tools;
    const countInScope = counterInScope(asked.scope, reader);
    const lookup = { reader, snapshot, kernel, arena, countInScope };
    this.#atoms = planAtoms(asked.query, lookup, asked.symbols);
    this.isCut = !this.#planPaths();
    const { maybe } = boundsOf(asked.query.root, this.#known(), reader.header.files);
    this.candidates = intersect(maybe.slice(), asked.scope);
    this.#visit = this.#blobsToVisit();
    this.#order = scanOrder(asked.query, this.#atoms, this.#visit);
    const windows = tools.windows(reader);
    this.windows = isEmpty(this.#visit) ? coarser(windows) : windows;
    this.#work = asked.query.isContentOnly ? this.#visit : this.#blobsOfCandidates();
    this.#homeless = this.#filesWithoutBlob();
    this.planStats = this.#planStats();
  }

  /** Paths are tried only where metadata leaves a choice. False: stopped. */
  #planPaths(): boolean {
    const paths = this.#atoms.filter((plan) => plan.atom.kind === "path");
    if (paths.length === 0) return true;
    const { maybe } = boundsOf(this.#asked.query.root, this.#known(), this.reader.header.files);
    const files = intersect(maybe.slice(), this.#asked.scope);
    const table = this.reader.paths(this.#snapshot);
    for (const plan of paths)
      if (plan.atom.kind === "path")
        plan.exact = filesWithPath(plan.atom, table, files, this.#tools);
    return paths.every((plan) => plan.exact);
  }

  #known(): Known {
    return knownOf(this.#atoms, this.#asked.sets, this.reader);
  }

  #blobsToVisit(): Bitset {
    const any = emptyBitset(this.reader.header.blobs);
    for (const { blobs } of this.#content) {
      if (!blobs) return this.#blobsOfCandidates();
      unite(any, blobs);
    }
    return isEmpty(any) ? any : intersect(any, this.#blobsOfCandidates());
  }

  #blobsOfCandidates(): Bitset {
    const { header, files } = this.reader;
    const blobs = emptyBitset(header.blobs);
    forEachBit(this.candidates, (file) => {
      const blob = files.blobs[file]!;
      if (blob !== NO_BLOB) setBit(blobs, blob);
    });
    return blobs;
  }

  #filesWithoutBlob(): number[] {
    const homeless: number[] = [];
    if (this.#asked.query.isContentOnly) return homeless;
    forEachBit(this.candidates, (file) => {
      if (this.reader.files.blobs[file] === NO_BLOB) homeless.push(file);
    });
    return homeless;
  }

  #planStats(): PlanStats {
    const { scope } = this.#asked;
    const { header } = this.reader;
    const inScope = countBits(scope);
    const plans = this.#content;
    return {
      shardFilesConsidered: inScope,
      ngramLookups: plans.reduce((sum, { atom }) => sum + gramsOf(atom), 0),
      ngramMatches: plans.reduce((sum, plan) => sum + this.#pagesToScan(plan), 0),
      // of a segment with files that are out of scope it would tell something of those
      indexBytesLoaded:
        inScope === header.files ? plans.reduce((sum, { listBytes }) => sum + listBytes, 0) : 0,
    };
  }

  #pagesToScan({ pages, blobs }: AtomPlan): number {
    const { firstPages, pageBlobs } = this.reader;
    let count = 0;
    if (pages)
      forEachBit(pages, (page) => {
        if (hasBit(this.#visit, pageBlobs[page]!)) count++;
      });
    else
      forEachBit(this.#visit, (blob) => {
        if (!blobs || hasBit(blobs, blob)) count += firstPages[blob + 1]! - firstPages[blob]!;
      });
    return count;
  }

  get #content(): AtomPlan[] {
    return this.#asked.query.contentAtoms.map((atom) => this.#atoms[atom]!);
  }

  get symbols(): SegmentSymbols | undefined {
    return this.#asked.symbols;
  }

  isInSet(set: number, file: number): boolean {
    return hasBit(this.#asked.sets[set]!, file);
  }

  /** Windows that hold a file that must be evaluated. */
  steps(): number[] {
    const steps = this.#homeless.length > 0 ? [0] : [];
    let window = 0;
    let blob = nextBit(this.#work, this.windows[steps.length]!);
    while (blob >= 0) {
      while (this.windows[window + 1]! <= blob) window++;
      steps.push(window);
      blob = nextBit(this.#work, this.windows[window + 1]!);
    }
    return steps;
  }

  /** Evaluates the candidate files of one window; adds to `stats` before each hit, so that they fit the hits even where damage ends it. */
  window(number: number, stats: WindowStats, onHit: (hit: Hit) => void): void {
    const [first, end] = [this.windows[number]!, this.windows[number + 1]!];
    const blobs: number[] = [];
    for (
      let blob = nextBit(this.#visit, first);
      blob >= 0 && blob < end;
      blob = nextBit(this.#visit, blob + 1)
    )
      blobs.push(blob);
    const { query, symbols, isRanked } = this.#asked;
    const symbolBytes = symbols?.bytesLoaded ?? 0;
    const ratesDefinitions = symbols !== undefined && isRanked;
    const visited: VisitedBlobs = new VisitedBlobs(blobs, {
      query,
      atoms: this.#atoms,
      order: this.#order,
      mayMatch: (index) => this.#mayMatch(index, visited),
      wantsPairs: ratesDefinitions || query.contentAtoms.length > 1,
      symbols,
    });
    let rater: DefinitionRater | undefined;
    if (blobs.length > 0) {
      const window = new Window(this.reader, this.#snapshot, this.#tools.window, first, end);
      visited.scan(window, this.#tools);
      if (ratesDefinitions) rater = this.#definitionRater(visited, window, symbols);
      stats.contentBytesLoaded += window.bytesLoaded;
    }
    const settling = { visited, stats, onHit, rater, facts: this.#factsOf(visited) };
    for (let index = 0; index < blobs.length; index++) this.#settleBlob(index, settling);
    this.#settleUnread(number, { ...settling, first, end });
    stats.contentBytesLoaded += (symbols?.bytesLoaded ?? 0) - symbolBytes;
  }

  #definitionRater(
    visited: VisitedBlobs,
    window: Window,
    symbols: SegmentSymbols,
  ): DefinitionRater {
    const found = [...this.#asked.query.shown].flatMap((atom) => visited.found[atom] ?? []);
    return new DefinitionRater({ found, blobs: visited.blobs, window, symbols }, this.#tools);
  }

  #factsOf(visited: VisitedBlobs): FileFacts {
    return new FileFacts(this.#atoms, this.#asked.sets, visited);
  }

  #settleBlob(index: number, at: Settling): void {
    const { visited, stats } = at;
    const { blobFileStarts, blobFiles } = this.reader;
    const blob = visited.blobs[index]!;
    const cannotMatch =
      this.#single !== undefined && visited.found[this.#single]!.counts[index] === 0;
    for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++) {
      const file = blobFiles[i]!;
      if (!hasBit(this.candidates, file)) continue;
      stats.filesConsidered++;
      if (visited.loaded[index]) stats.filesLoaded++;
      stats.regexpsConsidered += visited.expressions[index]!;
      if (!cannotMatch) this.#settle(file, index, at);
    }
  }

  /** Candidates in whose content nothing can be found: the grams or the filters have decided. */
  #settleUnread(number: number, at: Settling & { first: number; end: number }): void {
    if (this.#asked.query.isContentOnly) return;
    const { blobFileStarts, blobFiles } = this.reader;
    const settle = (file: number) => {
      at.stats.filesConsidered++;
      this.#settle(file, -1, at);
    };
    for (
      let blob = nextBit(this.#work, at.first);
      blob >= 0 && blob < at.end;
      blob = nextBit(this.#work, blob + 1)
    ) {
      if (hasBit(this.#visit, blob)) continue;
      for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++)
        if (hasBit(this.candidates, blobFiles[i]!)) settle(blobFiles[i]!);
    }
    if (number === 0) for (const file of this.#homeless) settle(file);
  }

  #settle(file: number, index: number, { facts, onHit, rater }: Settling): void {
    facts.file = file;
    facts.index = index;
    const isDecided = index >= 0 && this.#single !== undefined;
    if (!isDecided && decide(this.#asked.query.root, facts) !== true) return;
    if (index >= 0) rater?.rate(index);
    onHit(facts);
  }

  get #single(): number | undefined {
    return this.#asked.query.single;
  }

  /** Whether a file of a visited blob may still match. */
  #mayMatch(index: number, visited: VisitedBlobs): boolean {
    const { blobFileStarts, blobFiles } = this.reader;
    const facts = this.#factsOf(visited);
    const blob = visited.blobs[index]!;
    for (let i = blobFileStarts[blob]!; i < blobFileStarts[blob + 1]!; i++) {
      facts.file = blobFiles[i]!;
      facts.index = index;
      if (!hasBit(this.candidates, facts.file)) continue;
      if (decide(this.#asked.query.root, facts) !== false) return true;
    }
    return false;
  }
}

/** What is known of one file after another: one object for all, because a frequent word matches every file there is. */
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
  readonly onHit: (hit: Hit) => void;
  readonly facts: FileFacts;
  readonly rater: DefinitionRater | undefined;
}

/** Where no content is read a window is as dear as its files: several are taken as one. */
function coarser(windows: Uint32Array): Uint32Array {
  let begun = -BLOBS_AT_ONCE;
  return windows.filter((blob, i) => {
    if (blob - begun < BLOBS_AT_ONCE && i + 1 < windows.length) return false;
    begun = blob;
    return true;
  });
}
