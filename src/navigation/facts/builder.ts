/** Collects the facts of one file while a language reads its tree. */

import {
  isImport,
  topOf,
  type Binding,
  type Definition,
  type DefinitionKind,
  type Export,
  type Facts,
  type Import,
  type Scope,
  type ValueSource,
} from "./facts.ts";
import type { Syntax } from "./syntax.ts";

/** The properties of a definition beside its name and place. */
export type Details = Partial<Omit<Definition, "file" | "name" | "kind" | "node" | "scope">>;

export class FactsBuilder {
  readonly facts: Facts;
  readonly syntax: Syntax;

  constructor(path: string, syntax: Syntax) {
    this.syntax = syntax;
    this.facts = {
      path,
      syntax,
      scopes: [],
      definitions: [],
      imports: [],
      exports: new Map(),
      stars: [],
      definitionAt: new Map(),
      importAt: new Map(),
      againAt: new Map(),
      typeAt: new Map(),
      functionAt: new Map(),
      byReceiver: new Map(),
      packageName: "",
    };
    const whole = { start: -1, end: syntax.text.length + 1, parent: undefined };
    this.facts.scopes.push({ ...whole, kind: "file", names: new Map() });
  }

  get top(): Scope {
    return topOf(this.facts);
  }

  /** Opens the scope that a node covers. */
  open(node: number, parent: Scope, kind: Scope["kind"], owner = parent.owner): Scope {
    const [start, end] = [this.syntax.start(node), this.syntax.end(node)];
    const scope: Scope = { start, end, parent, kind, names: new Map(), ...(owner && { owner }) };
    this.facts.scopes.push(scope);
    return scope;
  }

  /** Opens the scope of a function, which a definition may name. */
  openFunction(node: number, parent: Scope, definition?: Definition): Scope {
    const scope = this.open(node, parent, "function", definition ?? parent.owner);
    scope.taken = [];
    this.facts.functionAt.set(node, scope);
    if (definition) definition.inner = scope;
    return scope;
  }

  /** Makes a definition and binds its name in its scope. */
  define(
    name: string,
    kind: DefinitionKind,
    node: number,
    scope: Scope,
    details: Details = {},
  ): Definition {
    const definition = this.member(name, kind, node, scope, details);
    this.bind(scope, name, definition);
    return definition;
  }

  /** Makes a definition that no name in scope means, such as a member of a type. */
  member(
    name: string,
    kind: DefinitionKind,
    node: number,
    scope: Scope,
    details: Details = {},
  ): Definition {
    const definition: Definition = { file: this.facts, name, kind, node, scope, ...details };
    if (details.values) definition.values = [...details.values]; // later assignments are added to it
    this.facts.definitions.push(definition);
    this.facts.definitionAt.set(node, definition);
    if (definition.owner) this.addMember(definition.owner, definition);
    return definition;
  }

  /** Makes a type that has no name of its own, such as that of a literal. */
  unnamedType(node: number, scope: Scope): Definition {
    return { file: this.facts, name: "", kind: "type", node, scope };
  }

  addMember(owner: Definition, member: Definition): void {
    append((owner.members ??= new Map<string, Definition[]>()), member.name, member);
  }

  bind(scope: Scope, name: string, binding: Binding): void {
    append(scope.names, name, binding);
  }

  /** Returns the definition to which a name is bound in a scope itself. */
  bound(scope: Scope, name: string): Definition | undefined {
    return scope.names.get(name)?.find((one): one is Definition => !isImport(one));
  }

  import(one: Omit<Import, "file">, scope: Scope): void {
    const binding: Import = { ...one, file: this.facts };
    this.facts.imports.push(binding);
    this.facts.importAt.set(one.node, binding);
    if (one.nameNode !== undefined) this.facts.importAt.set(one.nameNode, binding);
    this.bind(scope, one.local, binding);
  }

  export(name: string, what: Export): void {
    append(this.facts.exports, name, what);
  }

  /** Adds an expression that is assigned to a definition. */
  addValue(definition: Definition, value: ValueSource): void {
    (definition.values ??= []).push(value);
  }

  finish(): Facts {
    this.facts.scopes.sort((a, b) => a.start - b.start || b.end - a.end);
    return this.facts;
  }
}

function append<T>(map: Map<string, T[]>, name: string, value: T): void {
  const list = map.get(name);
  if (list) list.push(value);
  else map.set(name, [value]);
}
