/** Replaces type parameters by what they stand for. */

import { joinBounds, type Bound, type MaybeType, type Type } from "./types.ts";
import type { Depth } from "./depth.ts";

/** Returns a type with its parameters replaced. */
export function substitute(type: MaybeType, bound: Bound | undefined, depth: Depth): MaybeType {
  if (!type || !bound || bound.size === 0) return type;
  return depth.within(() => replaced(type, bound, depth)) ?? type;
}

function replaced(type: Type, bound: Bound, depth: Depth): MaybeType {
  const each = (one: MaybeType): MaybeType => substitute(one, bound, depth);
  switch (type.is) {
    case "parameter":
      return bound.get(type.of) ?? type;
    case "instance":
      if (type.arguments) return { ...type, arguments: type.arguments.map(each) };
      // the type of a literal has no parameters of its own, but those of what is around it
      return type.of.name === "" ? { ...type, bound: joinBounds(type.bound, bound)! } : type;
    case "function":
    case "literal":
      return { ...type, bound: joinBounds(type.bound, bound)! };
    case "list":
      return { is: "list", element: each(type.element) };
    case "map":
      return { is: "map", value: each(type.value) };
    case "promise":
      return { is: "promise", of: each(type.of) };
    case "tuple":
    case "either":
    case "all":
      return { is: type.is, of: type.of.map(each) };
    case "type":
    case "module":
    case "outside":
      return type;
  }
}
