/**
 * Defines what a file in `queries/` contains: the names of one or more languages, their grammar, and the query that
 * finds their definitions.
 *
 * The query is an ordinary tree-sitter query without predicates. The name of each capture is a role:
 *
 *     @function, @class, …   the name of a definition; the role may be any kind in symbol-kinds.ts
 *     @scope                 the whole definition, which is the parent of all definitions in it
 *     @in.struct, …          in a pattern with a name: the name of its parent, if the definition is not inside
 *                            its parent (a method with a receiver in Go).
 *                            In a pattern with @scope alone: the name of the parent of all definitions in the
 *                            scope (an `impl` in Rust)
 *     @local                 a block that is not a definition, and whose variables are local
 *     @declared              a declaration. Its variables are definitions. Its functions are definitions only
 *                            inside a type
 *     @anonymous             a class without a name. In a function, its members are hidden. Elsewhere, the parent of
 *                            its members is the enclosing definition, such as the field that the class initializes
 *     @hidden                a part of the text that contains no definitions except macros
 *     @keyword               a word for which `keywords` has a kind. If the name is captured as @other, it gets this
 *                            kind. Any other name counts only if it is captured as this kind
 *
 * Patterns with ERROR find definitions that a syntax error has broken apart, such as a `class` that is followed by a
 * name.
 *
 * If two patterns match the same name, the earlier pattern is used, so patterns for special cases come first. Variables
 * and constants inside functions are dropped. The parent of a field inside a function is the type that encloses the
 * function. A function directly inside a type is a method.
 */

import type { SymbolKind } from "../../../../store/symbols/symbol-kinds.ts";
import type { Cuts } from "./cuts.ts";
import type { NewerSyntax } from "./rewording.ts";

export interface LanguageQuery extends NewerSyntax {
  /** The names of the languages in GitHub Linguist. */
  readonly names: readonly string[];
  /**
   * The package of the grammar, followed by the path within the package, such as
   * `tree-sitter-wasms/out/tree-sitter-c.wasm`.
   */
  readonly grammar: string;
  /**
   * The revision of this definition. Increase it with every change after which the same content may have other
   * symbols.
   */
  readonly revision: number;
  readonly query: string;
  /**
   * Kinds that definitions directly inside a type have instead of their captured kind, as pairs of the captured and
   * the new kind. By default, functions become methods.
   */
  readonly members?: readonly (readonly [SymbolKind, SymbolKind])[];
  /** The kinds of functions that have a special name inside a type. For example, `__init__` is a constructor. */
  readonly reserved?: KindsByText;
  /** True if a method with the name of its type is a constructor. */
  readonly hasNamedConstructors?: boolean;
  /** Characters at both ends of a captured name that are not part of it, such as quotes. */
  readonly trim?: string;
  /** Maps a word that may be captured as @keyword to the kind of symbol that it introduces. */
  readonly keywords?: KindsByText;
  /**
   * Regular expressions for names of some kinds. A definition of such a kind is dropped if its name does not match.
   */
  readonly accept?: readonly (readonly [SymbolKind, RegExp])[];
  /**
   * Kinds of which a scope has only one definition per name. Later matches continue the first one. For example, a
   * function may be written as several equations.
   */
  readonly once?: readonly SymbolKind[];
  /**
   * The maximum size of a file that is parsed, in bytes. Data formats have this limit, because nobody looks up the
   * keys of a huge file.
   */
  readonly maxBytes?: number;
  /** Returns the parts of a text that are cut out before parsing. */
  readonly cuts?: (bytes: Uint8Array) => Cuts;
}

export type KindsByText = Readonly<Record<string, SymbolKind>>;
