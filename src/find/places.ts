/**
 * Cuts a file into places. A place is what an answer points to: a definition with the comment above it, or lines
 * outside all definitions. Each line belongs to one place, the innermost one around it.
 */

import { DefinitionBody } from "../base/definition-body.ts";
import { firstIndex } from "../base/binary-search.ts";
import { SYMBOL_KINDS } from "../store/symbols/symbol-kinds.ts";
import { SYMBOL_ROW, type SymbolList } from "../store/symbols/symbol-run.ts";

export interface Definition {
  readonly name: string;
  readonly kind: string;
  /** The index of the enclosing definition, or -1. */
  readonly parent: number;
  /** The line of the name, and the last line of the body. */
  readonly line: number;
  readonly lastLine: number;
}

/** Lines are numbered from 0 here. */
export interface Place {
  /** The index of the definition, or -1. */
  readonly definition: number;
  readonly firstLine: number;
  readonly lastLine: number;
}

export interface FilePlaces {
  readonly definitions: readonly Definition[];
  readonly places: readonly Place[];
  /** The place of each line. */
  readonly owner: Int32Array;
  /** The byte at which each line begins, and the end of the text. */
  readonly lineStarts: Uint32Array;
}

const SMALL_KINDS = new Set([
  "field",
  "property",
  "variable",
  "constant",
  "enumMember",
  "key",
  "selector",
  "table",
  "other",
]);
/** A small definition within another is a place of its own if it has at least this many lines. */
const MIN_SMALL_LINES = 4;
const MAX_COMMENT_LINES = 60;
/** Lines outside all definitions are cut into places of at most this many lines. */
const MAX_GAP_LINES = 40;
/** The bytes of a body that are read to find its end, and those of all bodies of a file. */
const MAX_BODY_BYTES = 200_000;
const MAX_BODIES_BYTES = 4_000_000;

/** Matches the beginning of a line that only comments, attributes and decorators begin with. */
const LEAD = /^\s*(?:\/\/|\/?\*|#|--|;|%|"""|'''|@|\[<?[A-Z]|\{-)/;
const LEAD_BYTES = 60;

export function placesOf(
  text: Buffer,
  symbols: Pick<SymbolList, "count" | "total" | "rows">,
): FilePlaces {
  const lineStarts = lineStartsOf(text);
  const count = lineStarts.length - 1;
  const definitions = definitionsOf(text, symbols, lineStarts);
  const owner = new Int32Array(count).fill(-1);
  const places: Place[] = [];
  const isLead = (line: number): boolean => {
    const end = Math.min(lineStarts[line + 1]!, lineStarts[line]! + LEAD_BYTES);
    return LEAD.test(text.toString("latin1", lineStarts[line], end));
  };
  let before = -1; // the line of the name before
  for (const [i, { kind, parent, line, lastLine }] of definitions.entries()) {
    if (line < 0) continue;
    const isSmall = SMALL_KINDS.has(kind) && lastLine - line + 1 < MIN_SMALL_LINES;
    let firstLine = line;
    if (!(isSmall && parent >= 0)) {
      while (
        firstLine - 1 > before &&
        line - firstLine < MAX_COMMENT_LINES &&
        isLead(firstLine - 1)
      )
        firstLine--;
      owner.fill(places.length, firstLine, lastLine + 1);
      places.push({ definition: i, firstLine, lastLine });
    }
    before = line;
  }
  for (let line = 0; line < count;) {
    const firstLine = line;
    while (line < count && owner[line] === -1 && line - firstLine < MAX_GAP_LINES)
      owner[line++] = places.length;
    if (line === firstLine) line++;
    else places.push({ definition: -1, firstLine, lastLine: line - 1 });
  }
  return { definitions, places, owner, lineStarts };
}

function lineStartsOf(text: Buffer): Uint32Array {
  const starts = [0];
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) starts.push(at + 1);
  if (starts.at(-1) !== text.length) starts.push(text.length);
  return Uint32Array.from(starts);
}

/** Returns the line that contains a byte. */
export const lineOf = (lineStarts: Uint32Array, byte: number): number =>
  firstIndex(0, lineStarts.length - 1, (line) => lineStarts[line]! > byte) - 1;

/** Returns the definitions, and after them the names that are only parents, whose line is -1. */
function definitionsOf(
  text: Buffer,
  { count, total, rows }: Pick<SymbolList, "count" | "total" | "rows">,
  lineStarts: Uint32Array,
): Definition[] {
  let left = MAX_BODIES_BYTES;
  return Array.from({ length: total }, (_, row): Definition => {
    const at = row * SYMBOL_ROW;
    const [start, end] = [rows[at]!, rows[at + 1]!];
    const isDefinition = row < count;
    const line = isDefinition ? lineOf(lineStarts, start) : -1;
    let lastLine = line;
    if (isDefinition && left > 0) {
      const body = new DefinitionBody(text, lineStarts[line]!);
      body.readOn(MAX_BODY_BYTES);
      left -= body.bytesRead;
      lastLine = Math.max(line, lineOf(lineStarts, body.last));
    }
    return {
      name: text.toString("utf8", start, end),
      kind: SYMBOL_KINDS[rows[at + 2]!]!,
      parent: rows[at + 3]!,
      line,
      lastLine,
    };
  });
}
