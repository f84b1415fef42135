/** Finds the members of a value: those of its type, of its supertypes, and of what its aliases stand for. */

import type { Definition } from "../facts/facts.ts";
import { add, isEmpty, nothing, only, type Found } from "./found.ts";
import type { Inferring } from "./inferring.ts";
import { substitute } from "./substitute.ts";
import {
  allOf,
  boundOf,
  eitherOf,
  instanceOf,
  joinBounds,
  type Instance,
  type MaybeType,
} from "./types.ts";

/** The maximum number of aliases that are replaced one after another. */
const MAX_ALIASES = 8;

export class Members {
  readonly #infer: Inferring;

  constructor(infer: Inferring) {
    this.#infer = infer;
  }

  /** Returns the members of this name that a value has. */
  of(object: MaybeType, name: string): Found {
    const type = this.expand(object);
    if (!type || type.is === "parameter") return nothing(true);
    if (object?.is === "parameter") {
      const found = this.of(type, name);
      // the parameter may stand for a subtype
      return isEmpty(found) ? nothing(true) : found;
    }
    switch (type.is) {
      case "instance":
      case "type":
        return this.inType(type.of, name);
      case "module": {
        const found = this.#infer.names.exported(type.of, name);
        return isEmpty(found) ? nothing(true) : found;
      }
      case "either":
      case "all":
        return this.#ofEach(type.of, name);
      case "function":
      case "list":
      case "literal":
      case "map":
      case "outside":
      case "promise":
      case "tuple":
        return nothing();
    }
  }

  #ofEach(types: readonly MaybeType[], name: string): Found {
    const found = nothing();
    for (const one of types) {
      if (one?.is === "outside") continue;
      add(found, this.#infer.depth.within(() => this.of(one, name)) ?? nothing(true));
    }
    if (isEmpty(found) && types.some((one) => !one || one.is === "outside")) found.isOpen = true;
    return found;
  }

  /** Returns the members of this name that a type has. `seen` ends types that inherit from themselves. */
  inType(type: Definition, name: string, seen: Set<Definition> = new Set()): Found {
    if (seen.has(type)) return nothing();
    seen.add(type);
    const own = this.#own(type, name);
    const isDeclared = own.some(({ isAssigned }) => !isAssigned);
    if (own.length > 0 && (isDeclared || !type.supers?.length)) return only(...own);
    const found = nothing();
    if (type.isAlias && type.typeNode !== undefined)
      add(found, this.#inherited(this.#infer.typeAt(type.file, type.typeNode), name, seen));
    for (const node of type.supers ?? []) {
      const there = this.#inherited(this.superType(type, node), name, seen);
      add(found, there);
      if (there.definitions.length > 0) break;
    }
    return own.length > 0 && isEmpty(found) ? only(...own) : found;
  }

  #inherited(above: MaybeType, name: string, seen: Set<Definition>): Found {
    if (above?.is === "instance" || above?.is === "type")
      return this.#infer.depth.within(() => this.inType(above.of, name, seen)) ?? nothing(true);
    if (above?.is === "either" || above?.is === "all" || above?.is === "module")
      return this.of(above, name);
    return nothing(above === undefined || above.is === "outside");
  }

  /** Returns the members that a type declares itself, even outside of its body. */
  #own(type: Definition, name: string): readonly Definition[] {
    const inside = type.members?.get(name) ?? [];
    if (type.scope.kind !== "file") return inside;
    const { names } = this.#infer;
    const outside = names
      .packageFiles(type.file)
      .flatMap((file) => file.byReceiver.get(type.name) ?? [])
      .filter((one) => one.name === name);
    return outside.length > 0 ? [...inside, ...outside] : inside;
  }

  /** Returns the type that a node names as a supertype of a type. */
  superType({ file }: Definition, node: number): MaybeType {
    const type = this.#infer.typeAt(file, node);
    if (type?.is === "instance" || type?.is === "all") return type;
    const value = this.#infer.valueAt(file, node) ?? type;
    return value?.is === "type" ? instanceOf(value.of) : value;
  }

  superTypes(of: Definition): MaybeType[] {
    return (of.supers ?? []).map((node) => this.superType(of, node));
  }

  /** Replaces an alias by what it stands for, and a type parameter by its limit. */
  expand(type: MaybeType): MaybeType {
    const { depth, names } = this.#infer;
    let at = type;
    for (let i = 0; i < MAX_ALIASES; i++) {
      if (at?.is === "parameter") {
        const { typeNode, file } = at.of;
        at = typeNode === undefined ? undefined : this.#infer.typeAt(file, typeNode);
        continue;
      }
      if (at?.is !== "instance") return at;
      const { of } = at;
      if (!of.isAlias || of.typeNode === undefined || of.members) return at;
      const hasMethods =
        of.scope.kind === "file" &&
        names.packageFiles(of.file).some((file) => file.byReceiver.has(of.name));
      if (hasMethods) return at;
      at = substitute(this.#infer.typeAt(of.file, of.typeNode), boundOf(at), depth);
    }
    return at;
  }

  /** Returns the type of the members of this name, with what the value's type parameters stand for. */
  typeOf(object: MaybeType, name: string): MaybeType {
    const type = this.expand(object);
    if (type?.is === "either" || type?.is === "all") {
      const each = type.of.map((one) =>
        one?.is === "outside" ? one : this.#infer.depth.within(() => this.typeOf(one, name)),
      );
      // a member of all types is a member of the one type that has it
      const known = each.filter((one) => one !== undefined && one.is !== "outside");
      return type.is === "all" ? (known.length > 0 ? allOf(known) : undefined) : eitherOf(each);
    }
    if (type?.is === "instance") {
      const found = this.#typeInInstance(type, name, new Set());
      if (found) return found;
    }
    const { definitions, modules } = this.of(type, name);
    if (definitions[0]) return this.#infer.typeOf(definitions[0]);
    return modules[0] && { is: "module", of: modules[0] };
  }

  #typeInInstance(type: Instance, name: string, seen: Set<Definition>): MaybeType {
    const { depth } = this.#infer;
    if (seen.has(type.of)) return undefined;
    seen.add(type.of);
    const bound = boundOf(type);
    const [own] = this.#own(type.of, name);
    if (own) {
      const isInherited = own.isAssigned && (type.of.supers?.length ?? 0) > 0;
      const above = isInherited ? this.#typeAbove(type, name, seen) : undefined;
      if (above) return above;
      // a method outside of its type names the type's parameters anew
      const renamed = own.receiver === undefined ? undefined : own.inner?.parameters;
      const again =
        renamed && type.arguments && new Map(renamed.map((one, i) => [one, type.arguments![i]]));
      return substitute(this.#infer.typeOf(own), joinBounds(bound, again), depth);
    }
    return this.#typeAbove(type, name, seen);
  }

  #typeAbove(type: Instance, name: string, seen: Set<Definition>): MaybeType {
    const { depth } = this.#infer;
    for (const node of type.of.supers ?? []) {
      const above = substitute(this.superType(type.of, node), boundOf(type), depth);
      if (above?.is !== "instance") continue;
      const found = depth.within(() => this.#typeInInstance(above, name, seen));
      if (found) return found;
    }
    return undefined;
  }
}
