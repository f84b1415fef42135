/**
 * A syntax tree as columns of numbers, which is made once and then read without the parser. Only named nodes are kept,
 * in document order, so the descendants of node n are the numbers from n + 1 to last[n] - 1. Node 0 is the root, and
 * NONE stands for a node that does not exist.
 *
 * Nodes that are nested more than MAX_DEPTH levels deep are left out. So every recursion over a tree is bounded, however
 * hostile the file is.
 */

import type { TreeCursor } from "../../ingest/symbols/runtime.ts";

/** The node that does not exist. All methods of Syntax accept it, unless they say otherwise. */
export const NONE = -1;

const MAX_DEPTH = 400;

/** The names of a grammar's types and fields. */
export interface Vocabulary {
  readonly types: readonly string[];
  readonly fields: readonly string[];
}

interface Columns {
  readonly type: Uint16Array;
  readonly field: Uint8Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
  readonly parent: Int32Array;
  readonly last: Int32Array;
}

const newColumns = (capacity: number): Columns => ({
  type: new Uint16Array(capacity),
  field: new Uint8Array(capacity),
  start: new Int32Array(capacity),
  end: new Int32Array(capacity),
  parent: new Int32Array(capacity),
  last: new Int32Array(capacity),
});

/** The columns that are filled. They are reused for the next tree, which gets a copy of its own. */
let filled = newColumns(1 << 14);

/** Reads a whole tree. REQUIRES: the cursor is at the root. */
export function readSyntax(text: string, cursor: TreeCursor, vocabulary: Vocabulary): Syntax {
  let count = 0;
  let parent = NONE;
  let depth = 0;
  const isKept: boolean[] = [];
  for (;;) {
    const isNode = cursor.isNamed;
    isKept.push(isNode);
    if (isNode) {
      if (count === filled.type.length) filled = grown(filled);
      filled.type[count] = cursor.type;
      filled.field[count] = cursor.field;
      filled.start[count] = cursor.start;
      filled.end[count] = cursor.end;
      filled.parent[count] = parent;
      parent = count++;
      depth++;
    }
    if (depth < MAX_DEPTH && cursor.toFirstChild()) continue;
    do {
      if (isKept.pop()) {
        filled.last[parent] = count;
        parent = filled.parent[parent]!;
        depth--;
      }
      if (cursor.toNextSibling()) break;
    } while (cursor.toParent());
    if (isKept.length === 0) break;
  }
  return new Syntax(text, vocabulary, {
    type: filled.type.slice(0, count),
    field: filled.field.slice(0, count),
    start: filled.start.slice(0, count),
    end: filled.end.slice(0, count),
    parent: filled.parent.slice(0, count),
    last: filled.last.slice(0, count),
  });
}

function grown(columns: Columns): Columns {
  const larger = newColumns(columns.type.length * 2);
  for (const key of Object.keys(larger) as (keyof Columns)[]) larger[key].set(columns[key]);
  return larger;
}

export class Syntax {
  readonly text: string;
  /** The number of nodes. */
  readonly count: number;
  readonly #vocabulary: Vocabulary;
  readonly #columns: Columns;

  constructor(text: string, vocabulary: Vocabulary, columns: Columns) {
    this.text = text;
    this.count = columns.type.length;
    this.#vocabulary = vocabulary;
    this.#columns = columns;
  }

  /** An estimate of the memory that the tree takes, in bytes. */
  get bytes(): number {
    return this.count * 19 + this.text.length;
  }

  /** Returns the name of a node's type, or "" for NONE. */
  type(node: number): string {
    return node < 0 ? "" : this.#vocabulary.types[this.#columns.type[node]!]!;
  }

  /** Returns the name of the field in which the parent has a node, or "" if there is none. */
  field(node: number): string {
    return node < 0 ? "" : (this.#vocabulary.fields[this.#columns.field[node]!] ?? "");
  }

  start(node: number): number {
    return this.#columns.start[node] ?? 0;
  }

  end(node: number): number {
    return this.#columns.end[node] ?? 0;
  }

  /** Returns the number after the last descendant of a node. */
  last(node: number): number {
    return this.#columns.last[node] ?? 0;
  }

  parent(node: number): number {
    return node < 0 ? NONE : this.#columns.parent[node]!;
  }

  textOf(node: number): string {
    return node < 0 ? "" : this.text.slice(this.start(node), this.end(node));
  }

  /** Returns the text between the end of one node and the start of another. */
  between(node: number, next: number): string {
    return node < 0 || next < 0 ? "" : this.text.slice(this.end(node), this.start(next));
  }

  /** Returns the first named child. */
  first(node: number): number {
    return node >= 0 && node + 1 < this.last(node) ? node + 1 : NONE;
  }

  /** Returns the next named sibling. */
  next(node: number): number {
    if (node < 0) return NONE;
    const [next, parent] = [this.last(node), this.parent(node)];
    return parent >= 0 && next < this.last(parent) ? next : NONE;
  }

  children(node: number): number[] {
    const all: number[] = [];
    for (let at = this.first(node); at >= 0; at = this.next(at)) all.push(at);
    return all;
  }

  /** Returns the first child in a field. */
  child(node: number, field: string): number {
    for (let at = this.first(node); at >= 0; at = this.next(at))
      if (this.field(at) === field) return at;
    return NONE;
  }

  /** Returns all children in a field. */
  inField(node: number, field: string): number[] {
    return this.children(node).filter((at) => this.field(at) === field);
  }

  /** Returns the first child that has one of the types. */
  ofType(node: number, ...types: readonly string[]): number {
    for (let at = this.first(node); at >= 0; at = this.next(at))
      if (types.includes(this.type(at))) return at;
    return NONE;
  }

  isLeaf(node: number): boolean {
    return this.last(node) === node + 1;
  }

  /** Returns the position of a node among the named children of its parent. */
  index(node: number): number {
    return this.children(this.parent(node)).indexOf(node);
  }

  /** Returns the innermost node at a position in the text. */
  at(position: number): number {
    let node = 0;
    for (let next = 1; next < this.last(node);)
      if (this.end(next) <= position) next = this.last(next);
      else if (this.start(next) <= position) next = (node = next) + 1;
      else break;
    return node;
  }

  /** Returns the nearest ancestor that has one of the types. */
  above(node: number, types: ReadonlySet<string>): number {
    let at = this.parent(node);
    while (at >= 0 && !types.has(this.type(at))) at = this.parent(at);
    return at;
  }
}
