/** Resolves one occurrence of a name to the definitions that it means, and says how certain that is. */

import type { Definition, Facts } from "../facts/facts.ts";
import type { KeyRole, Role, Rules } from "../facts/rules.ts";
import type { Found } from "./found.ts";
import { Inference } from "./infer.ts";
import { Names } from "./names.ts";
import type { Project } from "./project.ts";
import type { MaybeType } from "./types.ts";

/**
 * 'resolved': the definitions are those that the name means. 'likely': they are the only ones that the file can know.
 * 'possible': they only have the name. 'outside': the name means something outside of the repository. 'unknown': nothing
 * is known.
 */
export type Certainty = "resolved" | "likely" | "possible" | "outside" | "unknown";

export interface Resolution {
  readonly certainty: Certainty;
  readonly definitions: readonly Definition[];
  /** Whether the name stands where a definition is made. */
  readonly isDefinition?: boolean;
  /** The reason, to show to people. */
  readonly why: string;
}

const told = (
  certainty: Certainty,
  why: string,
  definitions: readonly Definition[] = [],
): Resolution => ({
  certainty,
  definitions,
  why,
});

export class Resolver {
  readonly project: Project;
  readonly names: Names;
  readonly infer: Inference;
  readonly #near = new Map<Facts, ReadonlySet<Facts>>();

  constructor(project: Project) {
    this.project = project;
    this.names = new Names(project);
    this.infer = new Inference(this.names);
  }

  #rules(facts: Facts): Rules {
    return this.names.rules(facts);
  }

  /** Resolves the name at a node. */
  resolve(facts: Facts, node: number): Resolution {
    this.infer.depth.start();
    const again = facts.againAt.get(node);
    if (again)
      return this.#assigned(again, "assigned again") ?? told("resolved", "assigned again", [again]);
    const role = this.#rules(facts).role(facts, node);
    const name = facts.syntax.textOf(node);
    switch (role.is) {
      case "definition":
        return this.#definition(facts, node, role);
      case "import":
        return ofFound(this.names.follow(facts.importAt.get(node)!), "imported");
      case "exported": {
        const module = this.names.module(facts, role.module);
        if (!module) return told("outside", "exported from outside");
        return ofFound(this.names.exported(module, name), "exported");
      }
      case "name":
        return this.#name(facts, node, role);
      case "member":
        return this.#member(facts, this.infer.valueAt(facts, role.object), name);
      case "key":
        return this.#key(facts, node, role);
      case "argument": {
        const callee = this.infer.valueAt(facts, role.callee);
        const named = this.infer.signatures.named(callee).filter((one) => one.name === name);
        if (named.length > 0) return told("resolved", "a named argument of a known callee", named);
        return told(callee?.is === "outside" ? "outside" : "unknown", "named argument");
      }
      case "property": {
        const callee = this.infer.valueAt(facts, role.callee);
        const type = this.infer.members.expand(this.infer.signatures.argument(callee, 0, false));
        return this.#member(facts, type, name);
      }
      case "nothing":
        return told("unknown", "names nothing");
    }
  }

  #definition(
    facts: Facts,
    node: number,
    { definition, also }: Extract<Role, { is: "definition" }>,
  ): Resolution {
    const inherited = this.#assigned(definition, "assigned in a subtype");
    if (inherited) return inherited;
    const own = { ...told("resolved", "definition", [definition]), isDefinition: true };
    const key = also && this.#key(facts, node, also);
    if (!key || key.definitions.length === 0 || key.certainty === "possible") return own;
    return told(key.certainty, "key and definition", [...key.definitions, definition]);
  }

  /** A field that is only assigned is that of a supertype, if there is one. */
  #assigned(definition: Definition, why: string): Resolution | undefined {
    if (!definition.isAssigned || !definition.owner) return undefined;
    const { definitions } = this.infer.members.inType(definition.owner, definition.name);
    if (definitions.length === 0 || definitions.includes(definition)) return undefined;
    return told("resolved", why, definitions);
  }

  #name(facts: Facts, node: number, role: Extract<Role, { is: "name" }>): Resolution {
    const { syntax } = facts;
    const found = this.names.lookup(facts, syntax.textOf(node), syntax.start(node), role.isType);
    const own = found ? ofFound(found, "the name in scope") : told("outside", "declared outside");
    const key = role.also && this.#key(facts, node, role.also);
    if (!key || key.definitions.length === 0 || key.certainty === "possible") return own;
    return told("resolved", "shorthand of a key and a name", [
      ...own.definitions,
      ...key.definitions,
    ]);
  }

  #key(facts: Facts, node: number, role: KeyRole): Resolution {
    const { infer } = this;
    let type: MaybeType;
    if (role.by === "type") type = infer.typeAt(facts, role.container);
    else if (role.by === "value") type = infer.valueAt(facts, role.container);
    else type = infer.expected(facts, role.container);
    for (const step of role.steps ?? []) type = infer.part(facts, type, step);
    type = infer.members.expand(type);
    if (role.isNameInMap && (type?.is === "map" || type?.is === "list"))
      return this.#name(facts, node, { is: "name" });
    return this.#member(facts, type, facts.syntax.textOf(node));
  }

  #member(facts: Facts, object: MaybeType, name: string): Resolution {
    const { members } = this.infer;
    const found = members.of(object, name);
    if (found.definitions.length > 0) {
      const isOne = members.expand(object)?.is !== "either";
      const owners = new Set(found.definitions.map(ownerOf));
      if (isOne || owners.size === 1)
        return told("resolved", "a member of a known type", found.definitions);
      return told("likely", "a member of one of several types", found.definitions);
    }
    if (found.modules.length > 0) return told("outside", "a module");
    if (object?.is === "outside") return told("outside", "a member of something outside");
    if (object && object.is !== "parameter" && !found.isOpen)
      return told("outside", "the type has no such member");
    return this.#guess(
      facts,
      name,
      object ? "may be inherited from outside" : "the type is not known",
    );
  }

  /** Without a type, a member is likely the only one with this name that the file can know of. */
  #guess(facts: Facts, name: string, why: string): Resolution {
    const rules = this.#rules(facts);
    const all = this.#membersNamed(name, rules);
    if (all.length === 0) return told("unknown", why);
    if (rules.libraryMembers.has(name))
      return told("possible", `${why}, and the name is common`, all);
    if (new Set(all.map(ownerOf)).size === 1)
      return told("likely", `${why}, but only one type has the name`, all);
    const near = all.filter(({ file }) => this.#nearOf(facts).has(file));
    if (new Set(near.map(ownerOf)).size === 1)
      return told("likely", `${why}, but only one type near has the name`, near);
    return told("possible", why, near.length > 0 ? near : all);
  }

  #membersNamed(name: string, rules: Rules): readonly Definition[] {
    return this.project.memo(`members ${rules.languages[0]} ${name}`, () =>
      this.project
        .declaring(name)
        .filter((path) => this.project.rules(path) === rules)
        .flatMap((path) => this.project.facts(path)?.definitions ?? [])
        .filter((one) => one.name === name && (one.owner || one.receiver !== undefined)),
    );
  }

  /** Returns a file, the files that it imports, and those of its package. */
  #nearOf(facts: Facts): ReadonlySet<Facts> {
    let near = this.#near.get(facts);
    if (!near) {
      const modules = [...facts.imports.map(({ module }) => module), ...facts.stars];
      near = new Set([
        facts,
        ...modules.flatMap((module) => this.names.module(facts, module)?.files ?? []),
        ...this.names.packageFiles(facts),
      ]);
      this.#near.set(facts, near);
    }
    return near;
  }
}

function ofFound({ definitions, modules, isOpen }: Found, why: string): Resolution {
  if (definitions.length > 0) return told("resolved", why, definitions);
  if (modules.length > 0) return told("outside", "a module");
  return told(isOpen ? "outside" : "unknown", why);
}

/** Returns what tells the owner of a member from other owners. */
function ownerOf(one: Definition): unknown {
  if (one.owner) return one.owner;
  if (one.receiver === undefined) return one;
  return `${one.file.path.replace(/[^/]*$/, "")}\0${one.receiver}`;
}
