/**
 * Builds the table of symbols from the matches of a query. This code finds the parent of each definition, leaves out
 * local definitions, and adapts kinds that depend on the parent, such as function and method.
 *
 * One sweep visits the matches in the order of their starts. A match that encloses others is visited before them. The
 * matches that enclose the current position are on a stack. The sweep takes linear time. The matches must be sorted
 * before it, unless the query returns them in order.
 */

import type { SymbolKind } from "../../store/symbols/symbol-kinds.ts";
import { ROW, SYMBOL_ROW, type SymbolTable } from "../../store/symbols/symbol-run.ts";
import {
  ANONYMOUS,
  DECLARED,
  HIDDEN,
  kindId,
  LOCAL,
  meaningOf,
  NO_KIND,
  TORN,
} from "./captures.ts";
import type { KindsByText, LanguageQuery } from "./queries/shared/language.ts";
import { MATCH_STRIDE, PATTERN, ROLES, type Matches } from "./runtime.ts";
import { NO_SYMBOLS } from "./table.ts";

const ids = (...kinds: SymbolKind[]): ReadonlySet<number> => new Set(kinds.map(kindId));

const OTHER = kindId("other");
const MACRO = kindId("macro");
const CLASS = kindId("class");
const CONSTRUCTOR = kindId("constructor");
const CALLABLES = ids("function", "method", "constructor", "operator", "macro");
const TYPES = ids(
  ...(["class", "interface", "struct", "union", "enum", "trait"] as const),
  ...(["protocol", "object", "record", "type", "enumMember"] as const),
);
const PARENTS = new Set([...TYPES, ...ids("namespace", "module")]);
const VARIABLES = ids("variable", "constant");
const FIELDS = ids("field", "property");

/** The number of matches that are processed between two checks of the time limit. */
const CHECK_EVERY = 256;

/**
 * A match may refer to its parent only by name, as a method in Go does with its receiver. In the parent column of a
 * row, NAMED - i stands for entry i in the list of such parents.
 */
const NAMED = -2;

/**
 * The kinds of symbols, as numbers, that the captures and keywords of a language stand for. Computed once per query.
 */
export interface Kinds {
  readonly captures: Int32Array;
  readonly members: ReadonlyMap<number, number>;
  readonly reserved: ReadonlyMap<string, number>;
  readonly keywords: ReadonlyMap<string, number>;
  readonly accept: ReadonlyMap<number, RegExp>;
  readonly once: ReadonlySet<number>;
  readonly hasNamedConstructors: boolean;
  readonly trim: string;
}

export function kindsOf(language: LanguageQuery, captures: readonly string[]): Kinds {
  const members = language.members ?? [["function", "method"]];
  return {
    captures: Int32Array.from(captures, meaningOf),
    members: new Map(members.map(([from, to]) => [kindId(from), kindId(to)])),
    reserved: byText(language.reserved ?? {}),
    keywords: byText(language.keywords ?? {}),
    hasNamedConstructors: language.hasNamedConstructors ?? false,
    trim: language.trim ?? "",
    once: ids(...(language.once ?? [])),
    accept: new Map((language.accept ?? []).map(([kind, form]) => [kindId(kind), form])),
  };
}

const byText = (kinds: KindsByText): Map<string, number> =>
  new Map(Object.entries(kinds).map(([text, kind]) => [text, kindId(kind)]));

/** Translates positions in UTF-16 units to offsets in bytes and to names. */
export interface Place {
  byteOf(unit: number): number;
  /** Returns the text between two units, for comparisons of names. */
  nameOf(start: number, end: number): string;
}

/**
 * A match that encloses the current position of the sweep. `row` is the symbol that the match defines or is part of,
 * or -1. `kind` is a kind of symbols, or LOCAL, HIDDEN or DECLARED.
 */
interface Frame {
  readonly start: number;
  readonly end: number;
  readonly kind: number;
  readonly row: number;
  readonly nameStart: number;
}

export interface Nested {
  readonly table: SymbolTable;
  /** True if the tree contains an ERROR node, or a node that the parser has inserted. */
  readonly hasError: boolean;
  /** The length of the longest ERROR node, in UTF-16 units. */
  readonly tornUnits: number;
}

/**
 * Returns the matches whose names are within [from, to). Overwrites the array of `matches`. A text may be parsed
 * inside a frame, which is additional code before and after it. In this case, [from, to) is the range of the text
 * itself. The frame has no definitions, but a syntax error can turn one of its words into a name.
 */
export function matchesWithin(matches: Matches, from: number, to: number): Matches {
  const { values } = matches;
  const isOutside = (base: number, role: number): boolean =>
    values[base + role]! >= 0 && (values[base + role + 1]! < from || values[base + role + 2]! > to);
  const names = [ROLES.name, ROLES.parent, ROLES.keyword];
  let count = 0;
  for (let index = 0; index < matches.count; index++) {
    const base = index * MATCH_STRIDE;
    if (names.some((role) => isOutside(base, role))) continue;
    values.copyWithin(count++ * MATCH_STRIDE, base, base + MATCH_STRIDE);
  }
  return { ...matches, count };
}

/**
 * Builds the table of symbols. Returns undefined if the time limit is reached. A time limit is needed, because a name
 * that is as long as the file, or very deeply nested functions, could take quadratic time.
 */
export function nest(
  matches: Matches,
  kinds: Kinds,
  place: Place,
  isOver: () => boolean,
): Nested | undefined {
  if (matches.count === 0) return { table: NO_SYMBOLS, tornUnits: 0, hasError: matches.hasError };
  const sweep = new Sweep(matches.values, kinds, place);
  for (const [index, base] of inOrder(matches).entries()) {
    if (index % CHECK_EVERY === CHECK_EVERY - 1 && isOver()) return undefined;
    sweep.visit(base);
  }
  const { tornUnits } = sweep;
  return { table: sweep.finish(), tornUnits, hasError: matches.hasError };
}

/**
 * Returns whether a definition of this kind is local, and so is left out. `around` is the kind of the match that
 * encloses it.
 */
function isLocal(kind: number, around: number): boolean {
  if (VARIABLES.has(kind)) return around === LOCAL || CALLABLES.has(around);
  return CALLABLES.has(kind) && around === DECLARED;
}

/**
 * startOf() and endOf() return the start and the end of a match. A match extends over its scope. If it has no scope,
 * it extends over its name.
 */
const startOf = (values: Int32Array, base: number) =>
  values[base + ROLES.scope + 1]! < 0
    ? values[base + ROLES.name + 1]!
    : values[base + ROLES.scope + 1]!;
const endOf = (values: Int32Array, base: number) =>
  values[base + ROLES.scope + 1]! < 0
    ? values[base + ROLES.name + 2]!
    : values[base + ROLES.scope + 2]!;

/**
 * Returns the offsets of the matches in `values`. The matches are sorted by start. Of matches with the same start,
 * longer ones come first. Matches with the same range are sorted by pattern.
 */
function inOrder({ count, values }: Matches): Uint32Array {
  const compare = (a: number, b: number) =>
    startOf(values, a) - startOf(values, b) ||
    endOf(values, b) - endOf(values, a) ||
    values[a + PATTERN]! - values[b + PATTERN]!;
  const order = Uint32Array.from({ length: count }, (_, index) => index * MATCH_STRIDE);
  for (let index = 1; index < count; index++)
    if (compare(order[index - 1]!, order[index]!) > 0) return order.sort(compare);
  return order;
}

class Sweep {
  tornUnits = 0;
  readonly #values: Int32Array;
  readonly #kinds: Kinds;
  readonly #place: Place;
  readonly #opened: Frame[] = [];
  /**
   * The rows in the order in which they were found. Each row has four numbers: the start and the end of the name in
   * units, the kind, and the parent.
   */
  readonly #rows: number[] = [];
  /**
   * The parents that are known only by name. Each has three numbers: the start and the end of its name in units, and
   * its kind.
   */
  readonly #named: number[] = [];
  /**
   * The row of the first definition of each name, by parent, kind and name. Contains only kinds of which a parent can
   * have one definition per name. Later definitions of the same name continue the first one.
   */
  readonly #first = new Map<string, number>();

  constructor(values: Int32Array, kinds: Kinds, place: Place) {
    this.#values = values;
    this.#kinds = kinds;
    this.#place = place;
  }

  visit(base: number): void {
    const start = startOf(this.#values, base);
    while (this.#opened.length > 0 && this.#opened.at(-1)!.end <= start) this.#opened.pop();
    if (this.#kinds.trim !== "" && this.#values[base + ROLES.name]! >= 0) this.#trim(base);
    const end = endOf(this.#values, base);
    const nameStart = this.#values[base + ROLES.name + 1]!;
    const isHidden = this.#opened.at(-1)?.kind === HIDDEN;
    if (nameStart < 0) {
      if (!isHidden) this.#enter(base, start, end);
      return;
    }
    // an empty name is not in the text; the parser has inserted it
    if (nameStart === this.#values[base + ROLES.name + 2]) return;
    if (this.#isOpen(nameStart)) return;
    this.#closeSibling(start, end);
    const kind = this.#kindOf(base);
    if (kind === undefined || (isHidden && kind !== MACRO)) return;
    const row = this.#rowOf(base, kind);
    if (end > this.#values[base + ROLES.name + 2]! || start < nameStart)
      this.#opened.push({ start, end, kind, row, nameStart });
  }

  /**
   * Returns whether an earlier pattern has already matched the definition with this name. If so, that match is among
   * the four innermost open matches.
   */
  #isOpen(nameStart: number): boolean {
    const last = this.#opened.length - 1;
    for (let depth = last; depth >= 0 && depth > last - 4; depth--)
      if (this.#opened[depth]!.nameStart === nameStart) return true;
    return false;
  }

  /**
   * Closes the match of the previous name in a declaration such as `left, right int`. The matches of both names have
   * the same range, but neither definition encloses the other.
   */
  #closeSibling(start: number, end: number): void {
    const last = this.#opened.at(-1);
    if (last !== undefined && last.nameStart >= 0 && last.start === start && last.end === end)
      this.#opened.pop();
  }

  /**
   * Opens a match without a name. The match is a block, an anonymous class, or a parent that is known only by name.
   */
  #enter(base: number, start: number, end: number): void {
    const named = this.#values[base + ROLES.parent]!;
    if (named >= 0) {
      const kind = this.#kinds.captures[named]!;
      this.#opened.push({
        start,
        end,
        kind,
        row: NAMED - this.#addNamed(base, kind),
        nameStart: -1,
      });
      return;
    }
    const around = this.#opened.at(-1)?.row ?? -1;
    const kind = this.#kinds.captures[this.#values[base + ROLES.scope]!]!;
    if (kind === TORN) this.tornUnits = Math.max(this.tornUnits, end - start);
    if (kind === TORN || kind === NO_KIND) return;
    if (kind === DECLARED && TYPES.has(this.#opened.at(-1)?.kind ?? NO_KIND)) return;
    const isClass = kind === ANONYMOUS && !this.#isInFunction();
    const frameKind = isClass ? CLASS : kind === ANONYMOUS ? HIDDEN : kind;
    this.#opened.push({ start, end, kind: frameKind, row: around, nameStart: -1 });
  }

  #isInFunction(): boolean {
    return this.#opened.some(({ kind }) => kind === LOCAL || CALLABLES.has(kind));
  }

  /**
   * Returns the kind of the symbol that a match defines. Returns undefined if it defines none, for example because it
   * is a local variable or has an unknown keyword.
   */
  #kindOf(base: number): number | undefined {
    const { captures, keywords, accept } = this.#kinds;
    const around = this.#opened.at(-1)?.kind ?? NO_KIND;
    let kind = captures[this.#values[base + ROLES.name]!];
    if (this.#values[base + ROLES.keyword]! >= 0) {
      const decided = keywords.get(this.#text(base, "keyword"));
      if (kind !== OTHER && kind !== decided) return undefined;
      kind = decided;
    }
    if (kind === undefined || isLocal(kind, around)) return undefined;
    if (accept.get(kind)?.test(this.#text(base, "name")) === false) return undefined;
    const isMember = TYPES.has(around) || this.#values[base + ROLES.parent]! >= 0;
    return isMember ? this.#memberKind(base, kind) : kind;
  }

  #memberKind(base: number, kind: number): number {
    const { members, reserved, hasNamedConstructors } = this.#kinds;
    if (CALLABLES.has(kind) && (hasNamedConstructors || reserved.size > 0)) {
      const name = this.#text(base, "name");
      if (hasNamedConstructors && name === this.#typeName(base)) return CONSTRUCTOR;
      const special = reserved.get(name);
      if (special !== undefined) return special;
    }
    return members.get(kind) ?? kind;
  }

  /** Returns the name of the type to which the definition of a match belongs. */
  #typeName(base: number): string {
    if (this.#values[base + ROLES.parent]! >= 0) return this.#text(base, "parent");
    const row = this.#opened.at(-1)!.row;
    const [names, at] =
      row <= NAMED ? [this.#named, (NAMED - row) * 3] : [this.#rows, row * SYMBOL_ROW];
    return this.#place.nameOf(names[at]!, names[at + 1]!);
  }

  #text(base: number, role: "name" | "keyword" | "parent"): string {
    const at = base + ROLES[role];
    return this.#place.nameOf(this.#values[at + 1]!, this.#values[at + 2]!);
  }

  /** Removes characters from both ends of a match's name that are not part of the name, such as quotes and sigils. */
  #trim(base: number): void {
    const at = base + ROLES.name;
    const text = this.#text(base, "name");
    const isExtra = (index: number) => this.#kinds.trim.includes(text[index]!);
    let [from, to] = [0, text.length];
    while (from < to && isExtra(from)) from++;
    while (from < to && isExtra(to - 1)) to--;
    this.#values[at + 2] = this.#values[at + 1]! + to;
    this.#values[at + 1]! += from;
  }

  /**
   * Adds a row for a match, and returns it. If the match continues an earlier definition, returns the row of that
   * definition.
   */
  #rowOf(base: number, kind: number): number {
    if (!this.#kinds.once.has(kind)) return this.#add(base, kind);
    const key = `${this.#opened.at(-1)?.row ?? -1} ${kind} ${this.#text(base, "name")}`;
    const row = this.#first.get(key) ?? this.#add(base, kind);
    this.#first.set(key, row);
    return row;
  }

  #add(base: number, kind: number): number {
    const row = this.#rows.length / SYMBOL_ROW;
    const at = base + ROLES.name;
    const named = this.#values[base + ROLES.parent]!;
    const parent =
      named < 0 ? this.#parentOf(kind) : NAMED - this.#addNamed(base, this.#kinds.captures[named]!);
    this.#rows.push(this.#values[at + 1]!, this.#values[at + 2]!, kind, parent);
    return row;
  }

  /**
   * Returns the row of the parent for a definition of this kind, or -1 if there is none. The parent is the innermost
   * enclosing definition. For a field, functions are not counted as enclosing definitions.
   */
  #parentOf(kind: number): number {
    let depth = this.#opened.length - 1;
    if (FIELDS.has(kind)) while (depth > 0 && CALLABLES.has(this.#opened[depth]!.kind)) depth--;
    return this.#opened[depth]?.row ?? -1;
  }

  #addNamed(base: number, kind: number): number {
    const at = base + ROLES.parent;
    return this.#named.push(this.#values[at + 1]!, this.#values[at + 2]!, kind) / 3 - 1;
  }

  finish(): SymbolTable {
    const { positions, kept } = this.#number();
    const { targets, parentsOnly } = this.#resolve(positions, kept.length);
    const rows = new Int32Array((kept.length + parentsOnly.length) * SYMBOL_ROW);
    let at = 0;
    const write = (values: readonly number[], from: number, parent: number) => {
      const row = at / SYMBOL_ROW;
      rows[at + ROW.start] = this.#place.byteOf(values[from]!);
      rows[at + ROW.end] = this.#place.byteOf(values[from + 1]!);
      rows[at + ROW.kind] = values[from + 2]!;
      // a row must not be its own parent, as it would be in `impl T { struct T; }`, or if one name is found twice
      rows[at + ROW.parent] = parent === row ? -1 : parent;
      at += SYMBOL_ROW;
    };
    for (const row of kept) {
      const parent = this.#rows[row * SYMBOL_ROW + ROW.parent]!;
      if (parent <= NAMED) write(this.#rows, row * SYMBOL_ROW, targets[NAMED - parent]!);
      else write(this.#rows, row * SYMBOL_ROW, parent < 0 ? -1 : positions[parent]!);
    }
    for (const index of parentsOnly) write(this.#named, index * 3, -1);
    return { count: kept.length, rows };
  }

  /**
   * Sorts the rows by the start of their names, and keeps the first row for each start. `positions` has the new index
   * of every row, and `kept` lists the kept rows in their new order.
   */
  #number(): { positions: Int32Array; kept: number[] } {
    const count = this.#rows.length / SYMBOL_ROW;
    const startAt = (row: number) => this.#rows[row * SYMBOL_ROW]!;
    const order = Uint32Array.from({ length: count }, (_, row) => row);
    order.sort((a, b) => startAt(a) - startAt(b) || a - b);
    const positions = new Int32Array(count);
    const kept: number[] = [];
    for (const row of order) {
      if (kept.length === 0 || startAt(kept.at(-1)!) !== startAt(row)) kept.push(row);
      positions[row] = kept.length - 1;
    }
    return { positions, kept };
  }

  /**
   * Finds the row of each parent that is known only by name. This is the row of a definition with that name, or else
   * a new row after all definitions.
   */
  #resolve(positions: Int32Array, count: number): { targets: number[]; parentsOnly: number[] } {
    const byName = new Map<string, number>();
    const parentsOnly: number[] = [];
    const targets: number[] = [];
    if (this.#named.length === 0) return { targets, parentsOnly };
    for (const kinds of [VARIABLES, PARENTS])
      for (let at = this.#rows.length - SYMBOL_ROW; at >= 0; at -= SYMBOL_ROW)
        if (kinds.has(this.#rows[at + 2]!))
          byName.set(
            this.#place.nameOf(this.#rows[at]!, this.#rows[at + 1]!),
            positions[at / SYMBOL_ROW]!,
          );
    for (let index = 0; index < this.#named.length / 3; index++) {
      const name = this.#place.nameOf(this.#named[index * 3]!, this.#named[index * 3 + 1]!);
      if (!byName.has(name)) byName.set(name, count + parentsOnly.push(index) - 1);
      targets.push(byName.get(name)!);
    }
    return { targets, parentsOnly };
  }
}
