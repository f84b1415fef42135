/**
 * Finds the changes or commits of one segment that match a query. Each atom yields the set of units for which it is true,
 * and the query's tree combines these sets. For a term of type:diff, the matching lines are found first, and then the
 * changes that add or remove them.
 */

import {
  countBits,
  emptyBitset,
  forEachBit,
  fullBitset,
  hasBit,
  intersect,
  setBit,
  subtract,
  unite,
  type Bitset,
} from "../base/bitset.ts";
import { GrowableWords } from "../base/growable.ts";
import { QuernError } from "../base/errors.ts";
import { compileExpression } from "../regex/expression.ts";
import { createMatcher } from "../regex/matcher.ts";
import { Control } from "../search/messages/control.ts";
import { STATUSES } from "../store/history/history-builder.ts";
import type { HistoryReader } from "../store/history/history-reader.ts";
import { isCorrupt } from "../store/format/sealed.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import { threadEnvironment } from "../store/lmdb/thread-environment.ts";
import type { Task } from "../threads/task.ts";
import type { ChangesInput, ChangesOutput, Failure, SegmentScope } from "./messages.ts";
import { SIDE, type ChangeAtom, type ChangeNode, type ChangePlan } from "./plan.ts";
import { rangesOfUnit } from "./unit-ranges.ts";
import {
  TextFinder,
  type FinderTools,
  type ScanCounters,
  type Scanning,
  type UnitHits,
} from "./text-finder.ts";
import { changesThread } from "./thread.ts";

export const searchChangesTask: Task<ChangesInput, ChangesOutput | Failure> = async (
  { plan, scope, most, shared },
  context,
) => {
  const control = new Control(shared);
  const { tools, open } = threadOf(context);
  const snapshot = threadEnvironment(context).snapshot();
  const mark = tools.arena.mark();
  try {
    if (control.stopped !== 0) return "stopped";
    const reader = open(snapshot, scope.segment);
    if (!reader) return "gone";
    const scanning: Scanning = {
      reader: reader.text,
      snapshot,
      isStopped: () => control.stopped !== 0,
      pause: () => context.pause(),
    };
    const search = new SegmentSearch({ plan, scope, reader, tools, scanning });
    return (await search.run(most)) ?? "stopped";
  } catch (error) {
    if (isCorrupt(error)) return "damaged";
    throw error;
  } finally {
    tools.arena.release(mark);
    snapshot.close();
  }
};

function threadOf(context: Parameters<Task<never, never>>[1]) {
  const thread = changesThread(context);
  const open = (snapshot: Snapshot, segment: number) => thread.open(snapshot, segment);
  return { tools: thread.tools, open };
}

/** The ranges of a text atom. With type:diff, a unit of `hits` is a line, with type:commit, it is a commit. */
interface TextResult {
  readonly finder: TextFinder;
  readonly hits: UnitHits;
  /** The number of ranges in each unit of the query. */
  readonly counts: Uint32Array;
}

interface SearchParts {
  readonly plan: ChangePlan;
  readonly scope: SegmentScope;
  readonly reader: HistoryReader;
  readonly tools: FinderTools;
  readonly scanning: Scanning;
}

class SegmentSearch {
  readonly #parts: SearchParts;
  readonly #isDiff: boolean;
  /** The number of changes, or of commits. */
  readonly #units: number;
  readonly #counters: ScanCounters = { contentBytes: 0, grams: 0, pages: 0 };
  /** The result of each text atom. */
  readonly #texts = new Map<number, TextResult>();

  constructor(parts: SearchParts) {
    this.#parts = parts;
    const { header } = parts.reader;
    this.#isDiff = parts.plan.type === "diff";
    this.#units = this.#isDiff ? header.changes : header.commits;
  }

  /** Resolves to undefined if the search was stopped. */
  async run(most: number): Promise<ChangesOutput | undefined> {
    const { plan, scope } = this.#parts;
    const inScope = this.#ofCommits((commit) => hasBit(scope.commits, commit));
    const sets: Bitset[] = [];
    for (const [i, atom] of plan.atoms.entries()) {
      const set = await this.#setOf(atom, i);
      if (!set) return undefined;
      sets.push(set);
    }
    const matching = intersect(this.#evaluate(plan.root, sets), inScope);
    const shownTexts = this.#shownTexts(sets);
    const counts = await this.#countRanges(matching, shownTexts);
    if (!counts) return undefined;
    const found = this.#best(matching, counts, most);
    let ranges = 0;
    forEachBit(matching, (unit) => {
      ranges += Math.max(1, counts[unit]!);
    });
    return {
      units: countBits(matching),
      ranges,
      found: { ...found, texts: Array.from(found.units, shownTexts) },
      stats: { considered: countBits(inScope), ...this.#counters },
    };
  }

  /** Returns the units whose commits satisfy a condition. */
  #ofCommits(isWanted: (commit: number) => boolean): Bitset {
    const { commits } = this.#parts.reader;
    const set = emptyBitset(this.#units);
    for (let commit = 0; commit < commits.flags.length; commit++) {
      if (!isWanted(commit)) continue;
      if (!this.#isDiff) setBit(set, commit);
      else {
        const end = commits.changeStarts[commit + 1]!;
        for (let change = commits.changeStarts[commit]!; change < end; change++)
          setBit(set, change);
      }
    }
    return set;
  }

  async #setOf(atom: ChangeAtom, number: number): Promise<Bitset | undefined> {
    const { reader, scope, scanning } = this.#parts;
    const { commits } = reader;
    switch (atom.kind) {
      case "host":
        return this.#ofCommits((commit) => hasBit(scope.hosts[atom.host]!, commit));
      case "date":
        return this.#ofCommits((commit) => {
          const date = commits.committed[commit]!;
          return date >= atom.from && date <= atom.to;
        });
      case "author":
      case "committer": {
        const people = reader.people(scanning.snapshot).map((name) => Buffer.from(name));
        const matches = await this.#matching(atom, people);
        const of = atom.kind === "author" ? commits.authors : commits.committers;
        return this.#ofCommits((commit) => hasBit(matches, of[commit]!));
      }
      case "path":
        return this.#withPath(atom);
      case "message": {
        const found = await this.#scan(atom, false);
        if (!found) return undefined;
        const matches = emptyBitset(reader.header.commits);
        for (const commit of found.hits.units) setBit(matches, commit);
        return this.#ofCommits((commit) => hasBit(matches, commit));
      }
      case "text": {
        const found = await this.#scan(atom, this.#isDiff);
        if (!found) return undefined;
        const counts = this.#isDiff
          ? this.#countChanges(found.hits, atom.sides)
          : spread(found.hits, this.#units);
        this.#texts.set(number, { ...found, counts });
        return bitsOf(counts);
      }
    }
  }

  async #scan(
    pattern: ChangeAtom & { readonly kind: "text" | "message" },
    isLines: boolean,
  ): Promise<{ finder: TextFinder; hits: UnitHits } | undefined> {
    const { reader, tools, scanning } = this.#parts;
    const finder = new TextFinder(pattern, isLines, tools);
    const starts = isLines ? reader.lineStarts : reader.commits.messageStarts;
    const hits = await finder.scan({ starts, isLines }, scanning, this.#counters);
    return hits && { finder, hits };
  }

  /** Returns how many ranges each change has on the given sides. */
  #countChanges({ units, counts }: UnitHits, sides: number): Uint32Array {
    const { reader, scanning } = this.#parts;
    const total = new Uint32Array(this.#units);
    const [plus, minus] = [sides & SIDE.ADDED ? 1 : 0, sides & SIDE.REMOVED ? 1 : 0];
    reader.forEachEvent(scanning.snapshot, units, (place, change, added, removed) => {
      total[change]! += counts[place]! * (plus * added + minus * removed);
    });
    return total;
  }

  /** Returns which of the texts an expression matches. */
  async #matching(
    { pattern, caseSensitive }: { readonly pattern: string; readonly caseSensitive: boolean },
    texts: readonly Uint8Array[],
  ): Promise<Bitset> {
    const { kernel, arena } = this.#parts.tools;
    const matcher = createMatcher(kernel, compileExpression(pattern, { caseSensitive }));
    const set = emptyBitset(texts.length);
    for (const [i, text] of texts.entries()) {
      const mark = arena.mark();
      const at = arena.put(text);
      if (matcher.count(at, at + text.length) > 0) setBit(set, i);
      arena.release(mark);
      const wait = this.#parts.scanning.pause();
      if (wait) await wait;
    }
    return set;
  }

  /** Tests the new path of each change. For a deletion, this is the old path. For a rename, either path may match. */
  async #withPath(atom: {
    readonly pattern: string;
    readonly caseSensitive: boolean;
  }): Promise<Bitset> {
    const { reader, scanning } = this.#parts;
    const { changes } = reader;
    const paths = reader.paths(scanning.snapshot).map((path) => Buffer.from(path, "latin1"));
    const matches = await this.#matching(atom, paths);
    const set = emptyBitset(this.#units);
    for (let change = 0; change < changes.paths.length; change++) {
      const isRename = changes.statuses[change] === STATUSES.indexOf("R");
      const isMatch =
        hasBit(matches, changes.paths[change]!) ||
        (isRename && hasBit(matches, changes.oldPaths[change]!));
      if (isMatch) setBit(set, this.#isDiff ? change : changes.commits[change]!);
    }
    return set;
  }

  #evaluate(node: ChangeNode, sets: readonly Bitset[]): Bitset {
    switch (node.kind) {
      case "all":
        return fullBitset(this.#units);
      case "none":
        return emptyBitset(this.#units);
      case "and":
        return node.children.map((child) => this.#evaluate(child, sets)).reduce(intersect);
      case "or":
        return node.children.map((child) => this.#evaluate(child, sets)).reduce(unite);
      case "not":
        return subtract(fullBitset(this.#units), this.#evaluate(node.child, sets));
      case "atom":
        return sets[node.atom]!.slice();
    }
  }

  /** Returns the text atoms whose ranges are shown for a unit. */
  #shownTexts(sets: readonly Bitset[]): (unit: number) => readonly number[] {
    const { root } = this.#parts.plan;
    const isText = (atom: number): boolean => this.#texts.has(atom);
    const always = [...shownAtoms(root)].filter(isText);
    if (!hasChoice(root)) return () => always;
    return (unit) => [...trueAtoms(root, (atom) => hasBit(sets[atom]!, unit))].filter(isText);
  }

  /** Returns the number of ranges of each matching unit. Resolves to undefined if the search was stopped. */
  async #countRanges(
    matching: Bitset,
    shownTexts: (unit: number) => readonly number[],
  ): Promise<Uint32Array | undefined> {
    const { plan, scanning, reader, tools } = this.#parts;
    const shown = [...shownAtoms(plan.root)].filter((atom) => this.#texts.has(atom));
    if (shown.length === 0) return new Uint32Array(this.#units);
    if (shown.length === 1 && !hasChoice(plan.root)) return this.#texts.get(shown[0]!)!.counts;
    const counts = new Uint32Array(this.#units);
    const units: number[] = [];
    forEachBit(matching, (unit) => units.push(unit));
    for (const unit of units) {
      if (scanning.isStopped()) return undefined;
      const texts = shownTexts(unit);
      if (texts.length === 1) counts[unit] = this.#texts.get(texts[0]!)!.counts[unit]!;
      else if (texts.length > 1) {
        const finders = texts.map((atom) => ({
          finder: this.#texts.get(atom)!.finder,
          sides: sidesOf(plan.atoms[atom]!),
        }));
        const how = { reader, snapshot: scanning.snapshot, tools, finders };
        for (const { pairs } of rangesOfUnit(plan.type, unit, how))
          counts[unit]! += pairs.length / 2;
      }
      const wait = scanning.pause();
      if (wait) await wait;
    }
    return counts;
  }

  /** Returns the first results after the page's position: newest first, then in the order of the segment. */
  #best(
    matching: Bitset,
    counts: Uint32Array,
    most: number,
  ): Omit<ChangesOutput["found"], "texts"> {
    const { reader, scope } = this.#parts;
    const { committed, changeStarts } = reader.commits;
    const { after } = scope;
    const units = new GrowableWords();
    const commits = new GrowableWords();
    const places = new GrowableWords();
    const ranges = new GrowableWords();
    const isAfter = (commit: number, place: number): boolean => {
      if (!after) return true;
      const date = committed[commit]!;
      if (date !== after.date) return date < after.date;
      return commit !== after.commit ? commit > after.commit : place >= after.place;
    };
    for (const commit of datesOf(reader)) {
      const [from, to] = this.#isDiff
        ? [changeStarts[commit]!, changeStarts[commit + 1]!]
        : [commit, commit + 1];
      for (let unit = from; unit < to; unit++) {
        if (!hasBit(matching, unit) || !isAfter(commit, unit - from)) continue;
        units.push(unit);
        commits.push(commit);
        places.push(unit - from);
        ranges.push(Math.max(1, counts[unit]!));
      }
      if (units.length >= most) break;
    }
    return {
      units: units.view.slice(),
      commits: commits.view.slice(),
      places: places.view.slice(),
      dates: Float64Array.from(commits.view, (commit) => committed[commit]!),
      ranges: ranges.view.slice(),
    };
  }
}

const orders = new WeakMap<HistoryReader, Uint32Array>();

/** Returns the commits of a segment, newest first, and in the order of the segment if they have the same date. */
function datesOf(reader: HistoryReader): Uint32Array {
  const known = orders.get(reader);
  if (known) return known;
  const { committed } = reader.commits;
  const order = Uint32Array.from(committed, (_, commit) => commit);
  order.sort((a, b) => committed[b]! - committed[a]! || a - b);
  orders.set(reader, order);
  return order;
}

/** Returns a count for each unit, from the counts of those that have any. */
function spread({ units, counts }: UnitHits, size: number): Uint32Array {
  const all = new Uint32Array(size);
  for (const [i, unit] of units.entries()) all[unit] = counts[i]!;
  return all;
}

function bitsOf(counts: Uint32Array): Bitset {
  const set = emptyBitset(counts.length);
  for (let unit = 0; unit < counts.length; unit++) if (counts[unit]! > 0) setBit(set, unit);
  return set;
}

/** Returns the atoms that are under no negation. */
function shownAtoms(node: ChangeNode, into = new Set<number>()): Set<number> {
  if (node.kind === "atom") into.add(node.atom);
  if (node.kind === "and" || node.kind === "or")
    for (const child of node.children) shownAtoms(child, into);
  return into;
}

/** Returns whether the atoms whose ranges are shown may differ between units. */
const hasChoice = (node: ChangeNode): boolean =>
  node.kind === "and"
    ? node.children.some(hasChoice)
    : node.kind === "or" && shownAtoms(node).size > 0;

/** Returns the true atoms under no negation all of whose operators are true as well. */
function trueAtoms(node: ChangeNode, isTrue: (atom: number) => boolean): Set<number> {
  const shown = new Set<number>();
  /** Returns whether a node is true. If it is, its atoms are added to `into`. */
  const visit = (one: ChangeNode, into: Set<number>): boolean => {
    switch (one.kind) {
      case "all":
        return true;
      case "none":
        return false;
      case "not":
        return !visit(one.child, new Set());
      case "atom":
        if (isTrue(one.atom)) into.add(one.atom);
        return isTrue(one.atom);
      case "and":
      case "or": {
        let holds = one.kind === "and";
        const own = new Set<number>();
        for (const child of one.children) {
          const inner = new Set<number>();
          const isHere = visit(child, inner);
          if (isHere) for (const atom of inner) own.add(atom);
          holds = one.kind === "and" ? holds && isHere : holds || isHere;
        }
        if (holds) for (const atom of own) into.add(atom);
        return holds;
      }
    }
  };
  visit(node, shown);
  return shown;
}

export function sidesOf(atom: ChangeAtom): number {
  if (atom.kind === "text") return atom.sides;
  throw new QuernError("INTERNAL", `an atom of kind ${atom.kind} has no sides`);
}
