/**
 * Defines what the core asks of a language. The core knows no grammar: a language tells it what a file declares
 * (Facts), how a node makes a value or names a type (Shape), and what a name stands for (Role).
 */

import type { Definition, Facts, Scope, Step } from "./facts.ts";
import type { Modules, Module } from "./modules.ts";
import type { Syntax } from "./syntax.ts";

/** How a node makes a value, or names a type. */
export type Shape =
  | { readonly is: "name"; readonly name: string; readonly node: number }
  | { readonly is: "self" }
  | { readonly is: "super" }
  | { readonly is: "member"; readonly object: number; readonly name: string }
  | {
      readonly is: "call";
      readonly callee: number;
      /** The node whose children are the arguments. */
      readonly list?: number;
      /** The type arguments, if they are written. */
      readonly types?: readonly number[];
    }
  | { readonly is: "new"; readonly type: number; readonly types?: readonly number[] }
  /** A value of the type that a node names, such as `x as T` or `T{}`. */
  | { readonly is: "typed"; readonly type: number }
  | { readonly is: "same"; readonly of: number }
  | { readonly is: "part"; readonly of: number; readonly step: Step }
  | { readonly is: "await"; readonly of: number }
  | { readonly is: "either"; readonly of: readonly number[] }
  /** A type whose values have the members of all of these types. */
  | { readonly is: "all"; readonly of: readonly number[] }
  | { readonly is: "list"; readonly element: number }
  | { readonly is: "tuple"; readonly of: readonly number[] }
  | { readonly is: "map"; readonly value: number }
  /** A type with type arguments, or an element of a value. */
  | { readonly is: "generic"; readonly base: number; readonly of: readonly number[] }
  /** The type that a literal makes. */
  | { readonly is: "record"; readonly definition: Definition; readonly isType: boolean }
  | {
      readonly is: "function";
      readonly node: number;
      readonly result: number;
      readonly body: number;
      readonly isAsync: boolean;
    }
  | { readonly is: "module"; readonly module: string }
  /** The type of a value, such as `typeof x`. */
  | { readonly is: "type of"; readonly of: number }
  /** A value or type that has no members in any indexed file. */
  | { readonly is: "builtin" }
  | { readonly is: "unknown" };

/** What a name at a node stands for. */
export type Role =
  | { readonly is: "definition"; readonly definition: Definition; readonly also?: KeyRole }
  | { readonly is: "name"; readonly isType?: boolean; readonly also?: KeyRole }
  | { readonly is: "member"; readonly object: number }
  | KeyRole
  /** A named argument of a call. */
  | { readonly is: "argument"; readonly callee: number }
  /** A key of the first parameter of a function, such as a property of a component. */
  | { readonly is: "property"; readonly callee: number }
  | { readonly is: "import" }
  /** A name that a module exports. */
  | { readonly is: "exported"; readonly module: string }
  | { readonly is: "nothing" };

/** A key of a literal or pattern. Its owner is the type of `container` after `steps`. */
export interface KeyRole {
  readonly is: "key";
  readonly container: number;
  /** Whether the container is a value, names a type, or is a literal whose place expects a type. */
  readonly by: "value" | "type" | "expected";
  readonly steps?: readonly Step[];
  /** Whether the key is an ordinary name if the container is a list or map. */
  readonly isNameInMap?: boolean;
}

/** What a place expects of the value of a node. */
export type Expectation =
  | { readonly is: "type"; readonly node: number }
  | { readonly is: "like"; readonly node: number }
  | { readonly is: "same"; readonly node: number }
  /** What the promise resolves to that a node names. */
  | { readonly is: "promised"; readonly node: number }
  /** What a function literal must return where it stands. */
  | { readonly is: "result"; readonly literal: number }
  | { readonly is: "part"; readonly holder: number; readonly step: Step }
  | {
      readonly is: "argument";
      readonly callee: number;
      readonly index: number;
      readonly isNew: boolean;
      readonly list: number;
      readonly types?: readonly number[];
    };

/** How a named type of the language's library is read. */
export type Container = "promise" | "list" | "tuple" | "map" | "same" | "either" | "builtin";

export interface Rules {
  /** The names of the languages in GitHub Linguist. */
  readonly languages: readonly string[];
  readonly extensions: readonly string[];
  /** Returns the grammar for a file. */
  readonly grammar: (path: string) => string;
  /** The types of nodes that may name something. */
  readonly identifiers: ReadonlySet<string>;
  readonly comments: ReadonlySet<string>;
  readonly strings: ReadonlySet<string>;
  /** Returns another text of the same length for a text that does not parse, or the same text. */
  reword?(path: string, text: string): string;
  read(path: string, syntax: Syntax): Facts;
  shape(facts: Facts, node: number): Shape;
  role(facts: Facts, node: number): Role;
  expectation?(facts: Facts, node: number): Expectation | undefined;
  /** Returns the function literal of a parameter without a type, and the parameter's position. */
  literalOf?(
    facts: Facts,
    parameter: Definition,
  ): { readonly literal: number; readonly index: number } | undefined;
  module(modules: Modules, from: Facts, specifier: string): Module | undefined;
  /** Returns the module that is a member of a module, if modules contain each other. */
  readonly submodule?: (modules: Modules, module: Module, name: string) => Module | undefined;
  /** Returns the other files that share the names of a file without an import. */
  packageFiles?(modules: Modules, from: Facts): readonly Facts[];
  /** Returns whether a name in `from` may mean a name of an outer scope. */
  sees(scope: Scope, from: Scope): boolean;
  /** Returns whether a binding may have the role of a type or of a value. */
  fits(definition: Definition, isType: boolean): boolean;
  /** Whether names of modules in `stars` are visible in the file. */
  readonly isStarVisible: boolean;
  /** Whether every declaration has a type that is written or follows from its value. */
  readonly isTyped: boolean;
  /** Names of members that the language's library has, so that one declaration of the name proves little. */
  readonly libraryMembers: ReadonlySet<string>;
  readonly containers: ReadonlyMap<string, Container>;
  /** The names of the members that make a value of their type. */
  readonly constructors: readonly string[];
  /** The types of nodes that return from a function, and of functions, which have returns of their own. */
  readonly returns: ReadonlySet<string>;
  readonly functions: ReadonlySet<string>;
  /** Whether a body is a block of statements. Otherwise, it is the expression that the function returns. */
  readonly blocks: ReadonlySet<string>;
}
