/**
 * Defines the types of values, as far as members need them. `undefined` in place of a type means that the type is not
 * known, and OUTSIDE that it is declared outside of the repository, so that no member of it is declared here.
 */

import type { Definition, Facts } from "../facts/facts.ts";
import type { Module } from "../facts/modules.ts";

export type Type =
  | {
      readonly is: "instance";
      readonly of: Definition;
      readonly arguments?: readonly MaybeType[];
      readonly bound?: Bound;
    }
  /** A type itself, such as a class in an expression. */
  | { readonly is: "type"; readonly of: Definition }
  | { readonly is: "function"; readonly of: Definition; readonly bound?: Bound }
  /** A function without a definition of its own. */
  | {
      readonly is: "literal";
      readonly facts: Facts;
      readonly node: number;
      readonly result: number;
      readonly body: number;
      readonly isAsync: boolean;
      readonly bound?: Bound;
    }
  /** A type parameter that nothing has bound. */
  | { readonly is: "parameter"; readonly of: Definition }
  | { readonly is: "module"; readonly of: Module }
  | { readonly is: "list"; readonly element: MaybeType }
  | { readonly is: "tuple"; readonly of: readonly MaybeType[] }
  | { readonly is: "map"; readonly value: MaybeType }
  | { readonly is: "promise"; readonly of: MaybeType }
  /** A value of one of several types. */
  | { readonly is: "either"; readonly of: readonly MaybeType[] }
  /** A value that has the members of all of these types. */
  | { readonly is: "all"; readonly of: readonly MaybeType[] }
  | { readonly is: "outside" };

export type MaybeType = Type | undefined;

/** What type parameters stand for. */
export type Bound = ReadonlyMap<Definition, MaybeType>;

export type Instance = Extract<Type, { is: "instance" }>;

export const OUTSIDE: Type = { is: "outside" };

export const instanceOf = (of: Definition): Type => ({ is: "instance", of });

/** The maximum number of different types that a value may have. Further ones make it unknown. */
const MAX_EITHER = 24;

/** Returns the type of a value that has one of several types. */
export function eitherOf(types: readonly MaybeType[]): MaybeType {
  const inside = new Set(
    types
      .flatMap((one) => (one?.is === "either" ? one.of : [one]))
      .filter((one) => one?.is !== "outside"),
  );
  if (inside.size === 0) return OUTSIDE;
  const known = distinct([...inside].filter((one) => one !== undefined));
  if (known.length === 0 || known.length > MAX_EITHER) return undefined;
  if (inside.size > known.length && inside.has(undefined))
    return { is: "either", of: [...known, undefined] };
  return known.length === 1 ? known[0] : { is: "either", of: known };
}

/** Leaves out instances of a type that is there already. */
function distinct(types: readonly Type[]): Type[] {
  const seen = new Set<Definition>();
  return types.filter((one) => {
    if (one.is !== "instance" || one.arguments || one.bound) return true;
    if (seen.has(one.of)) return false;
    seen.add(one.of);
    return true;
  });
}

/** Returns the type of a value that has the members of several types. */
export function allOf(types: readonly MaybeType[]): MaybeType {
  const inside = types.filter((one) => one?.is !== "outside");
  if (inside.length === 0) return OUTSIDE;
  return inside.length === 1 ? inside[0] : { is: "all", of: inside };
}

/** Joins what is bound. Later values win. */
export function joinBounds(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  if (!a || a.size === 0) return b;
  return !b || b.size === 0 ? a : new Map([...a, ...b]);
}

/** Returns what the type parameters of an instance's type stand for. */
export function boundOf({ of, arguments: given, bound }: Instance): Bound | undefined {
  if (!of.parameters || !given) return bound;
  const own = of.parameters.flatMap((one, i) =>
    given[i] === undefined ? [] : [[one, given[i]] as const],
  );
  return joinBounds(bound, new Map(own));
}
