/**
 * What one file of `queries/` says: which languages it serves, with which grammar, and the query
 * that finds their definitions.
 *
 * The query is an ordinary tree-sitter query without predicates. Its capture names are roles:
 *
 *     @function, @class, …   the name of a definition; any kind of symbol-kinds.ts
 *     @scope                 the whole definition: what lies in it has it as parent
 *     @in.struct, …          beside a name: its parent, where nesting does not show it (a Go receiver).
 *                            Beside @scope alone: the parent of all that lies in it (an `impl`)
 *     @local                 a block that is no definition and whose variables are local
 *     @declared              a declaration that defines its variables but not its functions, except in a type
 *     @anonymous             a class without a name: hidden within functions; its members elsewhere have
 *                            the definition around it as parent, such as the field that it initializes
 *     @hidden                a part in which nothing is a definition, but of macros
 *     @keyword               a word that decides: `keywords` must give the kind of the name
 *                            beside it, or gives it where that is @other
 *
 * Patterns in ERROR keep what a syntax error has torn from its declaration: `class` and a name.
 *
 * Where two patterns name the same place the earlier pattern wins, so special cases come first.
 * Variables and constants inside functions are dropped, fields there belong to the type around the
 * function, and a function directly inside a type is a method.
 */

import type { SymbolKind } from "../../../../store/symbols/symbol-kinds.ts";
import type { Cuts } from "./cuts.ts";
import type { NewerSyntax } from "./rewording.ts";

export interface LanguageQuery extends NewerSyntax {
  /** Linguist's names. */
  readonly names: readonly string[];
  /** Package and path, such as `tree-sitter-wasms/out/tree-sitter-c.wasm`. */
  readonly grammar: string;
  /** Raised with every change after which equal content may give other symbols. */
  readonly revision: number;
  readonly query: string;
  /** Kinds that change directly inside a type, from and to. Default: function to method. */
  readonly members?: readonly (readonly [SymbolKind, SymbolKind])[];
  /** Names that decide their kind inside a type: `__init__` is a constructor. */
  readonly reserved?: KindsByText;
  /** Whether a method with the name of its type is a constructor. */
  readonly hasNamedConstructors?: boolean;
  /** Characters at either end of a captured name that do not belong to it, such as quotes. */
  readonly trim?: string;
  /** What a captured @keyword makes of the match's name. */
  readonly keywords?: KindsByText;
  /** Of a kind, only the names of this form. */
  readonly accept?: readonly (readonly [SymbolKind, RegExp])[];
  /** Kinds of which only the first of a name counts in one scope: a function may be written in several equations. */
  readonly once?: readonly SymbolKind[];
  /** Larger files have no symbols; for data, which may be huge and is not looked up by its keys then. */
  readonly maxBytes?: number;
  /** Parts of the text that are not worth parsing. */
  readonly cuts?: (bytes: Uint8Array) => Cuts;
}

export type KindsByText = Readonly<Record<string, SymbolKind>>;
