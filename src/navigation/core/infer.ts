/** Infers the types of values from the shapes of their nodes. Each result is kept for the lifetime of the object. */

import {
  ELEMENT,
  scopeAt,
  type Definition,
  type Facts,
  type Scope,
  type Step,
} from "../facts/facts.ts";
import type { Shape } from "../facts/rules.ts";
import { boundInCall, type BindingCall } from "./calls.ts";
import { Depth } from "./depth.ts";
import { isEmpty, type Found } from "./found.ts";
import type { Inferring } from "./inferring.ts";
import { Members } from "./members.ts";
import type { Names } from "./names.ts";
import { Signatures } from "./signatures.ts";
import { substitute } from "./substitute.ts";
import { allOf, eitherOf, instanceOf, OUTSIDE, type MaybeType, type Type } from "./types.ts";

/** Methods of lists and maps that return an element, and those that return a list of the same elements. */
const TAKES_ELEMENT = new Set(
  "find pop shift at findLast get setdefault popleft __getitem__ next".split(" "),
);
const KEEPS_LIST = new Set(
  "filter slice sort reverse concat toSorted toReversed toSpliced copy splice values".split(" "),
);
const MAPS_LIST = new Set(["map", "flatMap"]);

type Memo = Map<Facts, Map<number, MaybeType>>;

export class Inference implements Inferring {
  readonly names: Names;
  readonly depth = new Depth();
  readonly members: Members;
  readonly signatures: Signatures;
  readonly #values: Memo = new Map();
  readonly #types: Memo = new Map();
  readonly #ofDefinitions = new Map<Definition, MaybeType>();

  constructor(names: Names) {
    this.names = names;
    this.members = new Members(this);
    this.signatures = new Signatures(this, this.members);
  }

  valueAt(facts: Facts, node: number): MaybeType {
    return this.#kept(this.#values, facts, node, () => this.#value(facts, node));
  }

  typeAt(facts: Facts, node: number): MaybeType {
    return this.#kept(this.#types, facts, node, () => this.#type(facts, node));
  }

  typeOf(definition: Definition): MaybeType {
    return this.depth.memo(this.#ofDefinitions, definition, () => this.#defined(definition));
  }

  #kept(memo: Memo, facts: Facts, node: number, make: () => MaybeType): MaybeType {
    if (node < 0) return undefined;
    let known = memo.get(facts);
    if (!known) memo.set(facts, (known = new Map<number, MaybeType>()));
    return this.depth.memo(known, node, make);
  }

  #shape(facts: Facts, node: number): Shape {
    return this.names.rules(facts).shape(facts, node);
  }

  // ── values ──

  #value(facts: Facts, node: number): MaybeType {
    const shape = this.#shape(facts, node);
    const each = (nodes: readonly number[]): MaybeType[] =>
      nodes.map((one) => this.valueAt(facts, one));
    switch (shape.is) {
      case "name": {
        const start = facts.syntax.start(shape.node);
        const found = this.names.lookup(facts, shape.name, start, false);
        return found ? this.#ofFound(found) : OUTSIDE;
      }
      case "self":
        return this.selfAt(facts, node);
      case "super": {
        const self = this.selfAt(facts, node);
        if (self?.is !== "instance" && self?.is !== "type") return undefined;
        return eitherOf(this.members.superTypes(self.of));
      }
      case "member":
        return this.#memberValue(facts, shape.object, shape.name);
      case "call":
        return this.#call(facts, shape);
      case "new":
        return this.#new(facts, shape);
      case "typed":
        return this.typeAt(facts, shape.type);
      case "same":
        return this.valueAt(facts, shape.of);
      case "part":
        return this.part(facts, this.valueAt(facts, shape.of), shape.step);
      case "await": {
        const type = this.members.expand(this.valueAt(facts, shape.of));
        return type?.is === "promise" ? type.of : type;
      }
      case "either":
        return eitherOf(each(shape.of));
      case "all":
        return allOf(each(shape.of));
      case "list":
        return { is: "list", element: this.valueAt(facts, shape.element) };
      case "tuple":
        return { is: "tuple", of: each(shape.of) };
      case "map":
        return { is: "map", value: this.valueAt(facts, shape.value) };
      case "generic": {
        const base = this.valueAt(facts, shape.base);
        const isType = base?.is === "type" || base?.is === "outside" || base?.is === "function";
        return isType ? base : this.part(facts, base, ELEMENT);
      }
      case "record": {
        const { definition, isType } = shape;
        if (isType) return { is: "type", of: definition };
        return definition.members || definition.supers ? instanceOf(definition) : OUTSIDE;
      }
      case "function":
        return { ...shape, is: "literal", facts };
      case "module": {
        const module = this.names.module(facts, shape.module);
        return module ? { is: "module", of: module } : OUTSIDE;
      }
      case "builtin":
        return OUTSIDE;
      case "type of":
      case "unknown":
        return undefined;
    }
  }

  #ofFound({ definitions, modules, isOpen }: Found): MaybeType {
    const value = definitions.find(({ isTypeOnly }) => !isTypeOnly) ?? definitions[0];
    if (value) return this.typeOf(value);
    if (modules[0]) return { is: "module", of: modules[0] };
    return isOpen ? OUTSIDE : undefined;
  }

  #memberValue(facts: Facts, object: number, name: string): MaybeType {
    const type = this.valueAt(facts, object);
    if (type?.is === "outside") return OUTSIDE;
    const member = this.members.typeOf(type, name);
    if (member) return member;
    const found = this.members.of(type, name);
    const isKnownToLack = type && isEmpty(found) && !found.isOpen && type.is !== "either";
    return isKnownToLack ? OUTSIDE : undefined;
  }

  #new(facts: Facts, shape: Extract<Shape, { is: "new" }>): MaybeType {
    const type = this.valueAt(facts, shape.type);
    if (type?.is === "outside") return OUTSIDE;
    if (type?.is !== "type") return undefined;
    const given = shape.types?.map((one) => this.typeAt(facts, one));
    return { is: "instance", of: type.of, ...(given && { arguments: given }) };
  }

  #call(facts: Facts, shape: Extract<Shape, { is: "call" }>): MaybeType {
    const callee = this.#shape(facts, shape.callee);
    if (callee.is === "member") {
      const object = this.members.expand(this.valueAt(facts, callee.object));
      const made = this.#ofLibraryMethod(facts, object, callee.name, shape.list);
      if (made !== "other") return made;
    }
    const called = this.valueAt(facts, shape.callee);
    // what comes out of code outside may be of any type, unless types are always written down
    if (called?.is === "outside") return this.names.rules(facts).isTyped ? OUTSIDE : undefined;
    const bound = this.boundIn(called, { facts, types: shape.types, list: shape.list });
    return substitute(this.signatures.result(called), bound, this.depth);
  }

  /** Returns what a method of the library's lists, maps and promises returns. */
  #ofLibraryMethod(facts: Facts, object: MaybeType, name: string, list = -1): MaybeType | "other" {
    if (object?.is === "promise" && (name === "catch" || name === "finally")) return object;
    if (object?.is === "promise" && name === "then") {
      const result = this.signatures.result(this.valueAt(facts, facts.syntax.first(list)));
      return { is: "promise", of: result?.is === "promise" ? result.of : result };
    }
    if (object?.is === "list") {
      if (TAKES_ELEMENT.has(name)) return object.element;
      if (KEEPS_LIST.has(name)) return object;
      if (!MAPS_LIST.has(name)) return OUTSIDE;
      const result = this.signatures.result(this.valueAt(facts, facts.syntax.first(list)));
      const isFlat = name === "flatMap" && result?.is === "list";
      return isFlat ? result : { is: "list", element: result };
    }
    if (object?.is === "map") {
      if (TAKES_ELEMENT.has(name)) return object.value;
      if (name === "values") return { is: "list", element: object.value };
      if (name === "items" || name === "entries")
        return { is: "list", element: { is: "tuple", of: [OUTSIDE, object.value] } };
      return OUTSIDE;
    }
    return "other";
  }

  boundIn(callee: MaybeType, call: BindingCall) {
    const { members, signatures } = this;
    return boundInCall(callee, call, { infer: this, members, signatures });
  }

  /** Returns the type of the receiver in the method around a node. */
  selfAt(facts: Facts, node: number): MaybeType {
    const start = facts.syntax.start(node);
    for (let scope: Scope | undefined = scopeAt(facts, start); scope; scope = scope.parent) {
      const { owner, kind } = scope;
      if (owner?.owner && kind === "function") {
        const isType = owner.isStatic && owner.kind === "method";
        return { is: isType ? "type" : "instance", of: owner.owner };
      }
      if (owner && kind === "type") return instanceOf(owner);
    }
    return undefined;
  }

  // ── named types ──

  #type(facts: Facts, node: number): MaybeType {
    const shape = this.#shape(facts, node);
    const each = (nodes: readonly number[]): MaybeType[] =>
      nodes.map((one) => this.typeAt(facts, one));
    switch (shape.is) {
      case "name": {
        const start = facts.syntax.start(shape.node);
        const found = this.names.lookup(facts, shape.name, start, true);
        return found ? this.#instance(found) : this.#libraryType(facts, shape.name, []);
      }
      case "self":
        return this.selfAt(facts, node);
      case "member": {
        const object = this.valueAt(facts, shape.object);
        if (object?.is === "outside") return this.#libraryType(facts, shape.name, []);
        if (!object) return undefined;
        const found = this.members.of(object, shape.name);
        return isEmpty(found) ? OUTSIDE : this.#instance(found);
      }
      case "generic":
        return this.#genericType(facts, shape);
      case "same":
        return this.typeAt(facts, shape.of);
      case "typed":
        return this.typeAt(facts, shape.type);
      case "either":
        return eitherOf(each(shape.of));
      case "all":
        return allOf(each(shape.of));
      case "list":
        return { is: "list", element: this.typeAt(facts, shape.element) };
      case "tuple":
        return { is: "tuple", of: each(shape.of) };
      case "map":
        return { is: "map", value: this.typeAt(facts, shape.value) };
      case "record":
        return instanceOf(shape.definition);
      case "function":
        return { ...shape, is: "literal", facts };
      case "type of":
        return this.valueAt(facts, shape.of);
      case "part":
        return this.part(facts, this.typeAt(facts, shape.of), shape.step);
      case "builtin":
        return OUTSIDE;
      case "super":
      case "call":
      case "new":
      case "await":
      case "module":
      case "unknown":
        return undefined;
    }
  }

  #genericType(facts: Facts, shape: Extract<Shape, { is: "generic" }>): MaybeType {
    const base = this.typeAt(facts, shape.base);
    const name = facts.syntax.textOf(shape.base).split(".").at(-1)!;
    if (base?.is === "instance")
      return { ...base, arguments: shape.of.map((one) => this.typeAt(facts, one)) };
    const isKnown = base?.is === "parameter" || base?.is === "module" || base?.is === "type";
    return isKnown ? base : this.#libraryType(facts, name, shape.of);
  }

  /** Returns how a type of the language's library is read. */
  #libraryType(facts: Facts, name: string, given: readonly number[]): MaybeType {
    const container = this.names.rules(facts).containers.get(name);
    const at = (i: number): MaybeType => {
      const node = given.at(i);
      return node === undefined ? undefined : this.typeAt(facts, node);
    };
    switch (container) {
      case "list":
        return { is: "list", element: at(0) };
      case "map":
        return { is: "map", value: at(-1) };
      case "promise":
        return { is: "promise", of: at(0) };
      case "tuple": {
        const isList = given.length === 2 && facts.syntax.textOf(given[1]!) === "...";
        if (isList) return { is: "list", element: at(0) };
        return { is: "tuple", of: given.map((one) => this.typeAt(facts, one)) };
      }
      case "either":
        return eitherOf(given.map((one) => this.typeAt(facts, one)));
      case "same":
        return given.length > 0 ? at(0) : OUTSIDE;
      case "builtin":
      case undefined:
        return OUTSIDE;
    }
  }

  #instance({ definitions, modules, isOpen }: Found): MaybeType {
    const type = definitions.find(({ kind }) => kind === "type" || kind === "type parameter");
    if (type) return type.kind === "type" ? instanceOf(type) : { is: "parameter", of: type };
    if (modules[0]) return { is: "module", of: modules[0] };
    if (!definitions[0]) return isOpen ? OUTSIDE : undefined;
    const value = this.typeOf(definitions[0]);
    if (value?.is === "type") return instanceOf(value.of);
    return value?.is === "outside" ? OUTSIDE : undefined;
  }

  // ── definitions ──

  #defined(one: Definition): MaybeType {
    const { file } = one;
    switch (one.kind) {
      case "type":
      case "module":
        return { is: "type", of: one };
      case "type parameter":
        return { is: "parameter", of: one };
      case "function":
      case "method": {
        if (one.isGetter) return this.signatures.ofDefinition(one);
        const annotated = one.typeNode === undefined ? undefined : this.typeAt(file, one.typeNode);
        return annotated ?? { is: "function", of: one };
      }
      case "variable":
      case "field":
      case "parameter":
        return this.#definedValue(one);
    }
  }

  #definedValue(one: Definition): MaybeType {
    const { file } = one;
    if (one.isGetter) return this.signatures.ofDefinition(one);
    if (one.selfOf) return { is: one.isSelfType ? "type" : "instance", of: one.selfOf };
    if (one.typeNode !== undefined) {
      const type = this.typeAt(file, one.typeNode);
      if (one.isVariadic) return { is: "list", element: type };
      return this.#parts(file, type, one.steps ?? []);
    }
    if (one.caught !== undefined) {
      const value = this.valueAt(file, one.caught);
      const all = value?.is === "tuple" ? value.of : [value];
      return eitherOf(all.map((type) => (type?.is === "type" ? instanceOf(type.of) : type)));
    }
    if (one.kind === "parameter" && !one.values) return this.#ofCallback(one);
    if (!one.values) return undefined;
    return eitherOf(
      one.values.map(({ node, steps }) => this.#parts(file, this.valueAt(file, node), steps)),
    );
  }

  #parts(facts: Facts, whole: MaybeType, steps: readonly Step[]): MaybeType {
    let type = whole;
    for (const step of steps) type = this.part(facts, type, step);
    return type;
  }

  /** The type of a callback's parameter is known from what takes the callback. */
  #ofCallback(one: Definition): MaybeType {
    const { file } = one;
    const rules = this.names.rules(file);
    const place = rules.literalOf?.(file, one);
    if (!place) return undefined;
    const { literal, index } = place;
    const type =
      this.#ofListCallback(file, literal, index) ??
      this.#parameterOf(this.expected(file, literal), index);
    return this.#parts(file, type, one.steps ?? []);
  }

  /** Returns the type of a parameter of a callback that a method of a list, map or promise takes. */
  #ofListCallback(facts: Facts, literal: number, index: number): MaybeType {
    const expectation = this.names.rules(facts).expectation?.(facts, literal);
    if (expectation?.is !== "argument") return undefined;
    const callee = this.#shape(facts, expectation.callee);
    if (callee.is !== "member") return undefined;
    const object = this.members.expand(this.valueAt(facts, callee.object));
    if (object?.is === "promise") return callee.name === "then" ? object.of : undefined;
    if (object?.is !== "list" && object?.is !== "map") return undefined;
    const element = object.is === "list" ? object.element : object.value;
    const isReduced = ["reduce", "reduceRight"].includes(callee.name);
    const isPair = ["sort", "toSorted"].includes(callee.name);
    if (isReduced) return index === 1 ? element : undefined;
    return index === 0 || (isPair && index === 1) ? element : OUTSIDE;
  }

  #parameterOf(callback: MaybeType, index: number): MaybeType {
    const expanded = this.members.expand(callback);
    const bound =
      expanded?.is === "literal" || expanded?.is === "function" || expanded?.is === "instance"
        ? expanded.bound
        : undefined;
    for (const parameters of this.signatures.of(expanded)) {
      const parameter = parameters[index];
      if (parameter?.typeNode === undefined) continue;
      const type = substitute(this.typeOf(parameter), bound, this.depth);
      if (type && type.is !== "parameter") return type;
    }
    return undefined;
  }

  /** Returns the type that the place of a node expects of its value. */
  expected(facts: Facts, node: number): MaybeType {
    const expectation = this.names.rules(facts).expectation?.(facts, node);
    if (!expectation) return undefined;
    return this.depth.within(() => {
      switch (expectation.is) {
        case "type":
          return this.typeAt(facts, expectation.node);
        case "like":
          return this.valueAt(facts, expectation.node);
        case "same":
          return this.expected(facts, expectation.node);
        case "promised": {
          const type = this.typeAt(facts, expectation.node);
          return type?.is === "promise" ? type.of : type;
        }
        case "result": {
          const type = this.signatures.result(this.expected(facts, expectation.literal));
          return type?.is === "promise" ? type.of : type;
        }
        case "part":
          return this.part(facts, this.expected(facts, expectation.holder), expectation.step);
        case "argument": {
          const { callee: at, index, isNew, list, types } = expectation;
          const callee = this.valueAt(facts, at);
          const bound = this.boundIn(callee, { facts, types, list, without: index });
          return substitute(this.signatures.argument(callee, index, isNew), bound, this.depth);
        }
      }
    });
  }

  // ── parts ──

  part(facts: Facts, whole: MaybeType, step: Step): MaybeType {
    return this.depth.within(() => this.#part(facts, this.members.expand(whole), step));
  }

  #part(facts: Facts, type: MaybeType, step: Step): MaybeType {
    if (!type || type.is === "outside") return type;
    if (type.is === "either") return eitherOf(type.of.map((one) => this.part(facts, one, step)));
    if ("key" in step) return this.#keyOf(type, step.key);
    if ("element" in step) return elementOf(type);
    if (type.is === "tuple") return type.of[step.at];
    if (type.is === "list") return type.element;
    // a value with a second result, such as whether a map has a key
    if (!this.names.rules(facts).isTyped) return undefined;
    return step.at === 0 ? type : OUTSIDE;
  }

  #keyOf(type: Type, key: string): MaybeType {
    if (key === "") return OUTSIDE;
    if (type.is === "map") return type.value;
    const member = this.members.typeOf(type, key);
    if (member) return member;
    const found = this.members.of(type, key);
    return isEmpty(found) && !found.isOpen ? OUTSIDE : undefined;
  }
}

function elementOf(type: Type): MaybeType {
  if (type.is === "list") return type.element;
  if (type.is === "map") return type.value;
  if (type.is === "tuple") return eitherOf(type.of);
  return type.is === "function" || type.is === "type" ? type : undefined;
}
