/** Converts between the nodes of facts and the places of an answer. */

import type { Position, Range, ResultSymbol } from "../search/messages/response.ts";
import { scopeAt, type Definition, type Facts, type Scope } from "./facts/facts.ts";
import { Decoder } from "../ingest/symbols/source-text.ts";

const decoder = new Decoder();

/** Converts positions of one text. REQUIRES: the positions that are asked for ascend. */
export class Positions {
  readonly #text: string;
  readonly #byteOf: (unit: number) => number;
  #line = 1;
  #lineStart = 0;

  constructor(text: string, bytes: Uint8Array) {
    this.#text = text;
    const source = decoder.decode(bytes);
    this.#byteOf = (unit) => source.byteOf(unit);
  }

  range(start: number, end: number): Range {
    return { start: this.#at(start), end: this.#at(end) };
  }

  #at(unit: number): Position {
    for (let next = this.#text.indexOf("\n", this.#lineStart); next >= 0 && next < unit;) {
      this.#line++;
      this.#lineStart = next + 1;
      next = this.#text.indexOf("\n", this.#lineStart);
    }
    const before = this.#text.slice(this.#lineStart, unit);
    const column = 1 + before.length - (before.match(/[\uDC00-\uDFFF]/g)?.length ?? 0);
    return { byteOffset: this.#byteOf(unit), lineNumber: this.#line, column };
  }
}

/** Returns the unit at a line and column, or undefined if the text has no such place. */
export function unitAt(text: string, line: number, column: number): number | undefined {
  let start = 0;
  for (let i = 1; i < line; i++) {
    start = text.indexOf("\n", start) + 1;
    if (start === 0) return undefined;
  }
  const end = text.indexOf("\n", start);
  const content = Array.from(text.slice(start, end < 0 ? text.length : end));
  if (column > content.length + 1) return undefined;
  return start + content.slice(0, column - 1).join("").length;
}

/** Returns the innermost definition with a body around a position. */
export function definitionAround(facts: Facts, position: number): Definition | undefined {
  for (let scope: Scope | undefined = scopeAt(facts, position); scope; scope = scope.parent) {
    const { owner } = scope;
    if (owner && owner.name !== "" && owner.node >= 0) {
      const isName = facts.syntax.start(owner.node) === position;
      if (!isName) return owner;
    }
  }
  return undefined;
}

const TYPE_KINDS: readonly (readonly [part: string, kind: ResultSymbol["kind"]])[] = [
  ["interface", "interface"],
  ["enum", "enum"],
  ["class", "class"],
];

/** Returns how an answer names a definition. */
export function symbolOf(definition: Definition): ResultSymbol {
  const { owner, receiver, name } = definition;
  const parent: ResultSymbol["parent"] =
    owner && owner.name !== ""
      ? { symbol: owner.name, kind: kindOf(owner) }
      : receiver
        ? { symbol: receiver, kind: "type" }
        : undefined;
  return { symbol: name, kind: kindOf(definition), ...(parent && { parent }) };
}

function kindOf({ kind, file: { syntax }, node }: Definition): ResultSymbol["kind"] {
  switch (kind) {
    case "function":
    case "method":
    case "field":
    case "module":
      return kind;
    case "type": {
      const type = syntax.type(syntax.parent(node));
      const value = syntax.type(syntax.child(syntax.parent(node), "type"));
      if (value === "struct_type") return "struct";
      if (value === "interface_type") return "interface";
      return TYPE_KINDS.find(([part]) => type.includes(part))?.[1] ?? "type";
    }
    case "variable":
    case "parameter":
    case "type parameter":
      return "variable";
  }
}
