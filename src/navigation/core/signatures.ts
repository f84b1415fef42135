/** Finds the parameters and results of what is called. */

import type { Definition, Facts } from "../facts/facts.ts";
import type { Inferring } from "./inferring.ts";
import type { Members } from "./members.ts";
import { substitute } from "./substitute.ts";
import { eitherOf, instanceOf, OUTSIDE, type MaybeType, type Type } from "./types.ts";

/** The maximum number of returns of a function whose types are looked at. */
const MAX_RETURNS = 6;

export class Signatures {
  readonly #infer: Inferring;
  readonly #members: Members;

  constructor(infer: Inferring, members: Members) {
    this.#infer = infer;
    this.#members = members;
  }

  /** Returns the parameters of each signature of a callee. */
  of(callee: MaybeType, isNew = false): (readonly Definition[])[] {
    const type = this.#members.expand(callee);
    switch (type?.is) {
      case "function":
        return [type.of.inner?.taken ?? []];
      case "literal":
        return [type.facts.functionAt.get(type.node)?.taken ?? []];
      case "type":
        return this.constructorsOf(type.of).map((one) => one.inner?.taken ?? []);
      case "instance":
        return (type.of.calls ?? []).map((node) => type.of.file.functionAt.get(node)?.taken ?? []);
      case "either":
        return type.of.flatMap((one) => this.#infer.depth.within(() => this.of(one, isNew)) ?? []);
      case "all":
      case "list":
      case "map":
      case "module":
      case "outside":
      case "parameter":
      case "promise":
      case "tuple":
      case undefined:
        return [];
    }
  }

  constructorsOf(type: Definition): Definition[] {
    const { constructors } = this.#infer.names.rules(type.file);
    return constructors.flatMap((name) => this.#members.inType(type, name).definitions);
  }

  /** Returns the type parameters of a function. */
  typeParameters(callee: Extract<Type, { is: "function" | "literal" }>): readonly Definition[] {
    if (callee.is === "function") return callee.of.parameters ?? [];
    return callee.facts.functionAt.get(callee.node)?.parameters ?? [];
  }

  /** Returns the parameters that a call may name. */
  named(callee: MaybeType): readonly Definition[] {
    if (callee?.is !== "type") return this.of(callee).flat();
    const parameters = this.constructorsOf(callee.of).flatMap((one) => one.inner?.taken ?? []);
    if (parameters.length > 0) return parameters;
    // without a constructor, the fields are its parameters
    const all = [...(callee.of.members?.values() ?? [])].flat();
    return all.filter(({ kind }) => kind === "field");
  }

  /** Returns the type that a callee has for an argument. */
  argument(callee: MaybeType, index: number, isNew: boolean): MaybeType {
    for (const parameters of this.of(callee, isNew)) {
      const last = parameters.at(-1);
      const rest = last?.isRest || last?.isVariadic ? parameters.length - 1 : Infinity;
      const parameter = index >= rest ? last : parameters[index];
      if (!parameter || (parameter.typeNode === undefined && !parameter.values)) continue;
      let type = this.#infer.typeOf(parameter);
      if (index >= rest) {
        const step = type?.is === "tuple" ? { at: index - rest } : { element: true as const };
        type = this.#infer.part(parameter.file, type, step);
      }
      if (type && type.is !== "outside") return type;
    }
    return undefined;
  }

  /** Returns the type of what a call returns. */
  result(callee: MaybeType): MaybeType {
    const type = this.#members.expand(callee);
    switch (type?.is) {
      case "type":
        return instanceOf(type.of);
      case "function":
        return substitute(this.ofDefinition(type.of), type.bound, this.#infer.depth);
      case "literal": {
        const { facts, result, body, isAsync } = type;
        return substitute(
          this.#declared(facts, { result, body, isAsync }),
          type.bound,
          this.#infer.depth,
        );
      }
      case "either":
        return eitherOf(type.of.map((one) => this.#infer.depth.within(() => this.result(one))));
      case "all":
        return this.result(type.of.find((one) => this.of(one).length > 0));
      case "instance": {
        const { calls, file } = type.of;
        const [node] = calls ?? [];
        const result = node === undefined ? -1 : file.syntax.child(node, "return_type");
        if (result >= 0)
          return substitute(this.#infer.typeAt(file, result), type.bound, this.#infer.depth);
        return undefined;
      }
      case "outside":
        return OUTSIDE;
      case "list":
      case "map":
      case "module":
      case "parameter":
      case "promise":
      case "tuple":
      case undefined:
        return undefined;
    }
  }

  /** Returns the type of what a function returns. */
  ofDefinition({ file, resultNode = -1, bodyNode = -1, isAsync = false }: Definition): MaybeType {
    return this.#declared(file, { result: resultNode, body: bodyNode, isAsync });
  }

  #declared(
    facts: Facts,
    {
      result,
      body,
      isAsync,
    }: { readonly result: number; readonly body: number; readonly isAsync: boolean },
  ): MaybeType {
    const rules = this.#infer.names.rules(facts);
    if (result >= 0) {
      const type = this.#infer.typeAt(facts, result);
      return isAsync && type?.is !== "promise" ? { is: "promise", of: type } : type;
    }
    if (body < 0) return rules.isTyped ? OUTSIDE : undefined;
    const returned = this.#returned(facts, body);
    return isAsync ? { is: "promise", of: returned } : returned;
  }

  #returned(facts: Facts, body: number): MaybeType {
    const { syntax } = facts;
    const { blocks, returns, functions } = this.#infer.names.rules(facts);
    if (!blocks.has(syntax.type(body))) return this.#infer.valueAt(facts, body);
    const types: MaybeType[] = [];
    for (let at = body + 1; at < syntax.last(body) && types.length < MAX_RETURNS; at++) {
      if (functions.has(syntax.type(at))) at = syntax.last(at) - 1;
      else if (returns.has(syntax.type(at)) && syntax.first(at) >= 0)
        types.push(this.#infer.valueAt(facts, syntax.first(at)));
    }
    return types.length > 0 ? eitherOf(types) : OUTSIDE;
  }
}
