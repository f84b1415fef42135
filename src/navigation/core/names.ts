/** Finds what a name means in the scopes around it, and follows imports and re-exports to other files. */

import {
  isImport,
  scopeAt,
  topOf,
  WHOLE,
  type Binding,
  type Definition,
  type Facts,
  type Import,
  type Scope,
} from "../facts/facts.ts";
import type { Module } from "../facts/modules.ts";
import type { Rules } from "../facts/rules.ts";
import { add, isEmpty, nothing, only, type Found } from "./found.ts";
import type { Project } from "./project.ts";

export class Names {
  readonly project: Project;

  constructor(project: Project) {
    this.project = project;
  }

  rules(facts: Facts): Rules {
    return this.project.rules(facts.path)!;
  }

  module(from: Facts, specifier: string): Module | undefined {
    return this.rules(from).module(this.project, from, specifier);
  }

  packageFiles(facts: Facts): readonly Facts[] {
    return this.rules(facts).packageFiles?.(this.project, facts) ?? [facts];
  }

  /**
   * Returns what a name means at a position, or undefined if nothing in the repository declares it. By default, the name
   * may stand for a type or for a value.
   */
  lookup(facts: Facts, name: string, position: number, isType?: boolean): Found | undefined {
    const rules = this.rules(facts);
    const from = scopeAt(facts, position);
    for (let scope: Scope | undefined = from; scope; scope = scope.parent) {
      const isHidden = !rules.sees(scope, from) || (scope !== from && scope.outer?.has(name));
      if (isHidden) continue;
      const bindings = (scope.names.get(name) ?? []).filter(
        (one) =>
          isImport(one) ||
          ((one.from === undefined || one.from <= position) &&
            (isType === undefined || rules.fits(one, isType))),
      );
      if (bindings.length > 0) return this.#followAll(bindings);
    }
    return this.#inPackage(facts, name) ?? this.#inStars(facts, name);
  }

  /** Looks in the other files of the package, and for imports whose package has another name than its path. */
  #inPackage(facts: Facts, name: string): Found | undefined {
    if (!this.rules(facts).packageFiles) return undefined;
    const definitions = this.packageFiles(facts).flatMap((file) =>
      (topOf(file).names.get(name) ?? []).filter((one): one is Definition => !isImport(one)),
    );
    if (definitions.length > 0) return only(...definitions);
    for (const one of facts.imports) {
      if (one.name !== WHOLE || one.local === name) continue;
      const module = this.module(facts, one.module);
      if (module?.files[0]?.packageName === name) return { ...nothing(), modules: [module] };
    }
    return undefined;
  }

  #inStars(facts: Facts, name: string): Found | undefined {
    if (!this.rules(facts).isStarVisible) return undefined;
    for (const specifier of facts.stars) {
      const module = this.module(facts, specifier);
      const found = module && this.exported(module, name);
      if (found && !isEmpty(found)) return found;
    }
    return undefined;
  }

  #followAll(bindings: readonly Binding[], seen?: Set<unknown>): Found {
    const found = nothing();
    for (const one of bindings) add(found, isImport(one) ? this.follow(one, seen) : only(one));
    return found;
  }

  /** Returns what an import means. */
  follow(one: Import, seen: Set<unknown> = new Set()): Found {
    if (seen.has(one)) return nothing();
    seen.add(one);
    const module = this.module(one.file, one.module);
    if (!module) return nothing(true);
    return this.exported(module, one.name, seen);
  }

  /** Returns what a module exports under a name. `seen` ends re-exports that lead back to themselves. */
  exported(module: Module, name: string, seen: Set<unknown> = new Set()): Found {
    const found = nothing();
    if (name === WHOLE) return { ...found, modules: [module] };
    for (const facts of module.files) {
      const key = `${facts.path}\0${name}`;
      if (seen.has(key)) continue;
      seen.add(key);
      this.#addExports(found, facts, name, seen);
    }
    if (isEmpty(found)) {
      const submodule = module.files[0]
        ? this.rules(module.files[0]).submodule
        : this.#submoduleOf(module);
      const member = submodule?.(this.project, module, name);
      if (member) found.modules.push(member);
    }
    return found;
  }

  /** A folder without files of its own has the rules of a file somewhere below it. */
  #submoduleOf({ folder }: Module): Rules["submodule"] {
    return folder === undefined ? undefined : this.project.rules(`${folder}/a.py`)?.submodule;
  }

  #addExports(found: Found, facts: Facts, name: string, seen: Set<unknown>): void {
    for (const one of facts.exports.get(name) ?? []) {
      if ("definition" in one) add(found, only(one.definition));
      else if ("local" in one) add(found, this.#ofLocal(facts, one.local, seen));
      else {
        const target = this.module(facts, one.module);
        add(found, target ? this.exported(target, one.name, seen) : nothing(true));
      }
    }
    if (!isEmpty(found) || name === "default") return;
    for (const specifier of facts.stars) {
      const target = this.module(facts, specifier);
      add(found, target ? this.exported(target, name, seen) : nothing(true));
    }
  }

  #ofLocal(facts: Facts, local: string, seen: Set<unknown>): Found {
    return this.#followAll(topOf(facts).names.get(local) ?? [], seen);
  }
}
