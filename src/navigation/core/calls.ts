/** Finds what the type parameters of a callee stand for in a call. */

import type { Definition, Facts } from "../facts/facts.ts";
import type { Inferring } from "./inferring.ts";
import type { Members } from "./members.ts";
import type { Signatures } from "./signatures.ts";
import { substitute } from "./substitute.ts";
import { joinBounds, type Bound, type MaybeType } from "./types.ts";

/** A call, as far as type parameters need it. */
export interface BindingCall {
  readonly facts: Facts;
  readonly types?: readonly number[] | undefined;
  readonly list?: number | undefined;
  /** The position of an argument whose type is wanted, so that it cannot bind anything. */
  readonly without?: number;
}

/** Returns what the type parameters of a callee stand for in a call: what is written, or what the arguments show. */
export function boundInCall(
  callee: MaybeType,
  { facts, types, list, without }: BindingCall,
  { infer, members, signatures }: { infer: Inferring; members: Members; signatures: Signatures },
): Bound | undefined {
  if (callee?.is !== "function" && callee?.is !== "literal") return undefined;
  const parameters = signatures.typeParameters(callee);
  if (parameters.length === 0) return callee.bound;
  const bound = new Map<Definition, MaybeType>();
  if (types)
    for (const [i, one] of parameters.entries()) {
      if (types[i] !== undefined) bound.set(one, infer.typeAt(facts, types[i]));
    }
  else if (list !== undefined) {
    const [taken = []] = signatures.of(callee);
    for (const [i, argument] of facts.syntax.children(list).entries()) {
      const parameter = taken[i];
      if (i === without || parameter?.typeNode === undefined) continue;
      const shown = substitute(infer.typeOf(parameter), callee.bound, infer.depth);
      match(shown, () => infer.valueAt(facts, argument), bound);
    }
  }
  return joinBounds(callee.bound, bound);

  /** Binds the parameters in a pattern to the parts of a value in their place. */
  function match(pattern: MaybeType, value: () => MaybeType, to: Map<Definition, MaybeType>): void {
    infer.depth.within(() => {
      if (!pattern) return;
      if (pattern.is === "either") for (const one of pattern.of) match(one, value, to);
      if (pattern.is === "parameter") {
        const type = to.has(pattern.of) ? undefined : value();
        if (type && type.is !== "parameter") to.set(pattern.of, type);
      }
      if (pattern.is === "list") {
        const type = value();
        if (type?.is === "list") match(pattern.element, () => type.element, to);
      }
      if (pattern.is === "promise") {
        const type = value();
        if (type?.is === "promise") match(pattern.of, () => type.of, to);
      }
      if (pattern.is === "literal") {
        // the result of a callback binds what the callback is declared to return
        const type = value();
        if (type) match(signatures.result(pattern), () => signatures.result(type), to);
      }
      if (pattern.is === "instance" && pattern.arguments) {
        const type = members.expand(value());
        if (type?.is !== "instance" || type.of !== pattern.of) return;
        for (const [i, one] of pattern.arguments.entries())
          match(one, () => type.arguments?.[i], to);
      }
    });
  }
}
