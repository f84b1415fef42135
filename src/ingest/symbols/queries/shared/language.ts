/**
 * Defines the content of a file in `queries/`: which languages it serves, with which grammar, and the query that
 * finds their definitions.
 *
 * The query is an ordinary tree-sitter query without predicates. Its capture names are roles:
 *
 *     @function, @class, …   the name of a definition, with any kind of symbol-kinds.ts
 *     @scope                 the whole definition, which is the parent of everything in it
 *     @in.struct, …          with a name: its parent, if nesting does not show it (a Go receiver).
 *                            With @scope alone: the parent of everything in it (an `impl`)
 *     @local                 a block that is not a definition and whose variables are local
 *     @declared              a declaration. Variables in it are definitions; functions in it are, only inside a type
 *     @anonymous             a class without a name. In a function its members are hidden; elsewhere their
 *                            parent is the enclosing definition, such as the field that the class initializes
 *     @hidden                a part that contains no definitions except macros
 *     @keyword               a word for which `keywords` has a kind. A name that is captured as @other gets this
 *                            kind; any other name counts only if it is captured as this kind
 *
 * Patterns in ERROR find what a syntax error has separated from its declaration, such as `class` and a name.
 *
 * If two patterns match the same name, the earlier pattern wins, so special cases come first. Variables and constants
 * inside functions are dropped. Fields inside a function belong to the type around it. A function directly inside a
 * type is a method.
 */

import type { SymbolKind } from "../../../../store/symbols/symbol-kinds.ts";
import type { Cuts } from "./cuts.ts";
import type { NewerSyntax } from "./rewording.ts";

export interface LanguageQuery extends NewerSyntax {
  /** The languages' names in GitHub Linguist. */
  readonly names: readonly string[];
  /** The package of the grammar and the path in it, such as `tree-sitter-wasms/out/tree-sitter-c.wasm`. */
  readonly grammar: string;
  /** Increase this number with every change after which equal content may have other symbols. */
  readonly revision: number;
  readonly query: string;
  /** Kinds that change directly inside a type, as pairs of the old and the new kind. Default: function to method. */
  readonly members?: readonly (readonly [SymbolKind, SymbolKind])[];
  /** Names that have a special kind inside a type, such as `__init__`, which is a constructor. */
  readonly reserved?: KindsByText;
  /** Whether a method with the name of its type is a constructor. */
  readonly hasNamedConstructors?: boolean;
  /** Characters at both ends of a captured name that are not part of it, such as quotes. */
  readonly trim?: string;
  /** Maps a word that may be captured as @keyword to the kind of symbol that it introduces. */
  readonly keywords?: KindsByText;
  /** The form that the names of some kinds must have. */
  readonly accept?: readonly (readonly [SymbolKind, RegExp])[];
  /**
   * Kinds for which only the first definition of a name in a scope counts. For example, a function may be written as
   * several equations.
   */
  readonly once?: readonly SymbolKind[];
  /**
   * The maximum number of bytes of a file that gets symbols. Given for data formats, because nobody looks up the keys
   * of a huge file.
   */
  readonly maxBytes?: number;
  /** Parts of the text that need not be parsed. */
  readonly cuts?: (bytes: Uint8Array) => Cuts;
}

export type KindsByText = Readonly<Record<string, SymbolKind>>;
