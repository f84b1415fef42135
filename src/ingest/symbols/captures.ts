/** Translates the names of a query's captures to kinds of symbols. queries/shared/language.ts lists these names. */

import { assert } from "../../base/errors.ts";
import { SYMBOL_KINDS, type SymbolKind } from "../../store/symbols/symbol-kinds.ts";
import type { Role } from "./runtime.ts";

/**
 * Negative numbers that captures may have instead of a kind, if they do not stand for definitions. Kinds are indexes
 * into SYMBOL_KINDS, and so are not negative.
 */
export const LOCAL = -1;
export const HIDDEN = -2;
export const DECLARED = -3;
export const TORN = -4;
export const NO_KIND = -5;
export const ANONYMOUS = -6;

const BLOCKS = new Map([
  ["local", LOCAL],
  ["hidden", HIDDEN],
  ["declared", DECLARED],
  ["torn", TORN],
  ["anonymous", ANONYMOUS],
]);

const KIND_IDS = new Map<string, number>(SYMBOL_KINDS.map((kind, id) => [kind, id]));

export const kindId = (kind: SymbolKind): number => KIND_IDS.get(kind)!;

export function roleOf(capture: string): Role {
  if (KIND_IDS.has(capture)) return "name";
  if (capture === "keyword") return "keyword";
  if (capture === "scope" || BLOCKS.has(capture)) return "scope";
  assert(capture.startsWith("in.") && KIND_IDS.has(capture.slice(3)), `capture @${capture}`);
  return "parent";
}

/** Returns the kind that a capture assigns to a name or to a parent, or one of the negative numbers above. */
export function meaningOf(capture: string): number {
  return BLOCKS.get(capture) ?? KIND_IDS.get(capture.replace(/^in\./, "")) ?? NO_KIND;
}
