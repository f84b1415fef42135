/**
 * Defines the facts of a file: what it says about names, without any other file. The facts are made from one syntax
 * tree, never change after that, and can be kept as long as the file's content.
 */

import type { Syntax } from "./syntax.ts";

export type DefinitionKind =
  | "function"
  | "type"
  | "method"
  | "variable"
  | "field"
  | "parameter"
  | "module"
  | "type parameter";

/** A part of a value: the member under a key, an element, or the member at a position of a tuple. */
export type Step = { readonly key: string } | { readonly element: true } | { readonly at: number };

export const ELEMENT: Step = { element: true };

/** An expression whose part, after some steps, is the value of a variable. */
export interface ValueSource {
  readonly node: number;
  readonly steps: readonly Step[];
}

export interface Definition {
  readonly file: Facts;
  readonly name: string;
  readonly kind: DefinitionKind;
  /** The node of the name. Of a type without a name, the node of the type. */
  readonly node: number;
  /** The scope in which the name is written. */
  readonly scope: Scope;
  /** The type whose member this is. */
  owner?: Definition;
  isStatic?: boolean;
  /** The name of the type whose member this is, if the language declares members outside of their type. */
  receiver?: string;
  /** The annotated type. Of an alias, the type that it stands for. */
  typeNode?: number;
  /** The parts that are taken of the annotated type or of the value. */
  steps?: readonly Step[];
  /** The expressions that are assigned, in their order. */
  values?: ValueSource[];
  /** Of a function: the annotated result, the body, and whether a call returns a promise. */
  /** The scope of a function's parameters and body. */
  inner?: Scope;
  resultNode?: number;
  bodyNode?: number;
  isAsync?: boolean;
  /** Whether a member is read like a field, although it is a function. Its type is its result. */
  isGetter?: boolean;
  /** Of a type: its direct supertypes, and its own members by name. */
  supers?: number[];
  members?: Map<string, Definition[]>;
  /** Of a type: signatures by which its values are called. */
  calls?: number[];
  isAlias?: boolean;
  /** Whether a type exists only for the type checker, so that no value has the name. */
  isTypeOnly?: boolean;
  /** Type parameters in their order. */
  parameters?: Definition[];
  /** Whether a parameter takes all further arguments. Its annotation is the type of the list, unless `isVariadic`. */
  isRest?: boolean;
  /** Whether the annotation is the type of one of many values, so that the parameter is a list of it. */
  isVariadic?: boolean;
  /** Whether a field has no declaration of its own: a member of a supertype with this name is the same. */
  isAssigned?: boolean;
  /** Of the first parameter of a method: the type of the receiver, and whether it is the type itself. */
  selfOf?: Definition;
  isSelfType?: boolean;
  /** Of a caught error: the expression of the type or types. */
  caught?: number;
  /** The position from which the name may be used, if the scope is not bound from its beginning on. */
  from?: number;
}

export interface Import {
  readonly file: Facts;
  /** The name in this file. */
  readonly local: string;
  /** The name in the module, or WHOLE. */
  readonly name: string;
  /** The specifier of the module. */
  readonly module: string;
  /** The node of the local name. */
  readonly node: number;
  /** The node of the name in the module, if it is written separately. */
  readonly nameNode?: number;
}

/** Stands for a whole module in place of a name. */
export const WHOLE = "*";

export type Binding = Definition | Import;

export const isImport = (binding: Binding): binding is Import => "module" in binding;

export interface Scope {
  readonly start: number;
  readonly end: number;
  readonly parent: Scope | undefined;
  readonly kind: "file" | "function" | "type" | "block";
  readonly names: Map<string, Binding[]>;
  /** The type or function to which the scope belongs. */
  owner?: Definition;
  /** The parameters of the function, in their order, and its type parameters. */
  taken?: Definition[];
  parameters?: Definition[];
  /** Names that are declared to belong to an outer scope. */
  outer?: Map<string, "global" | "nonlocal">;
  /** The first parameter of a method, with the type whose member the method is. */
  self?: { readonly name: string; readonly owner: Definition };
}

export type Export =
  | { readonly definition: Definition }
  | { readonly local: string }
  | { readonly name: string; readonly module: string };

export interface Facts {
  readonly path: string;
  readonly syntax: Syntax;
  /** All scopes, by their start. An outer scope comes before the scopes in it. */
  readonly scopes: Scope[];
  readonly definitions: Definition[];
  readonly imports: Import[];
  readonly exports: Map<string, Export[]>;
  /** Modules whose exports are all exported from here. In some languages, they are also visible here. */
  readonly stars: string[];
  /** Definitions and imports by the node of their name. */
  readonly definitionAt: Map<number, Definition>;
  readonly importAt: Map<number, Import>;
  /** Further nodes that name a definition of this file, such as a second assignment. */
  readonly againAt: Map<number, Definition>;
  /** The types of literals, by their nodes. */
  readonly typeAt: Map<number, Definition>;
  /** Scopes of functions, by the node of the function. */
  readonly functionAt: Map<number, Scope>;
  /** Methods by the name of their receiver's type. */
  readonly byReceiver: Map<string, Definition[]>;
  /** The name of the package, or "". */
  packageName: string;
}

export const topOf = ({ scopes }: Facts): Scope => scopes[0]!;

/** Returns the innermost scope around a position. */
export function scopeAt(facts: Facts, position: number): Scope {
  const { scopes } = facts;
  let [low, high] = [0, scopes.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (scopes[middle]!.start <= position) low = middle;
    else high = middle;
  }
  let scope: Scope | undefined = scopes[low];
  while (scope && scope.end <= position) scope = scope.parent;
  return scope ?? topOf(facts);
}
