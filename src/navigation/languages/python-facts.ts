/** Reads what a file of Python declares: imports, classes with their members, functions, and assigned names. */

import { FactsBuilder, type Details } from "../facts/builder.ts";
import {
  ELEMENT,
  isImport,
  WHOLE,
  type Definition,
  type DefinitionKind,
  type Facts,
  type Scope,
} from "../facts/facts.ts";
import { NONE, type Syntax } from "../facts/syntax.ts";
import { wordSet } from "./word-set.ts";

const SEQUENCES = wordSet("pattern_list tuple_pattern list_pattern expression_list tuple list");
const WRAPPERS = wordSet(
  "list_splat_pattern list_splat as_pattern_target parenthesized_expression",
);
const COMPREHENSIONS = wordSet(
  "list_comprehension set_comprehension dictionary_comprehension generator_expression",
);
const GETTER = /(?:property|\.getter|\.setter)$/;
/** Methods whose first parameter is the type. */
const OF_TYPE = wordSet("__new__ __init_subclass__ __class_getitem__");

export function readPython(path: string, syntax: Syntax): Facts {
  const reader = new PythonReader(path, syntax);
  const { builder } = reader;
  reader.visitAll(0, builder.top);
  for (const [name, bindings] of builder.top.names)
    for (const one of bindings)
      builder.export(
        name,
        isImport(one) ? { name: one.name, module: one.module } : { definition: one },
      );
  return builder.finish();
}

class PythonReader {
  readonly builder: FactsBuilder;
  readonly #syntax: Syntax;

  constructor(path: string, syntax: Syntax) {
    this.builder = new FactsBuilder(path, syntax);
    this.#syntax = syntax;
  }

  visitAll(node: number, scope: Scope): void {
    for (const child of this.#syntax.children(node)) this.visit(child, scope);
  }

  visit(node: number, scope: Scope): void {
    if (node < 0) return;
    const syntax = this.#syntax;
    const type = syntax.type(node);
    if (COMPREHENSIONS.has(type)) return this.#comprehension(node, scope);
    switch (type) {
      case "import_statement":
        return this.#import(node, scope);
      case "import_from_statement":
        return this.#importFrom(node, scope);
      case "class_definition":
        return this.#class(node, scope);
      case "decorated_definition":
        return this.#decorated(node, scope);
      case "function_definition":
        return this.#function(node, scope, []);
      case "lambda": {
        const inner = this.builder.openFunction(node, scope);
        this.#parameters(syntax.child(node, "parameters"), inner, undefined);
        return this.visit(syntax.child(node, "body"), inner);
      }
      case "for_in_clause":
      case "for_statement":
        return this.#loop(node, scope);
      case "assignment":
        return this.#assignment(node, scope);
      case "named_expression":
        return this.#namedExpression(node, scope);
      case "as_pattern":
        return this.#asPattern(node, scope);
      case "global_statement":
      case "nonlocal_statement": {
        const outer = (scope.outer ??= new Map<string, "global" | "nonlocal">());
        const where = type === "global_statement" ? "global" : "nonlocal";
        for (const name of syntax.children(node)) outer.set(syntax.textOf(name), where);
        return;
      }
      case "type_alias_statement":
        return this.#typeAlias(node, scope);
      case "keyword_argument":
        return this.visit(syntax.child(node, "value"), scope);
      default:
        return this.visitAll(node, scope);
    }
  }

  // ── imports ──

  #import(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    for (const one of syntax.inField(node, "name")) {
      const isAliased = syntax.type(one) === "aliased_import";
      // without an alias, only the first part of a dotted name is bound
      const local = isAliased ? syntax.child(one, "alias") : syntax.first(one);
      const module = isAliased ? syntax.child(one, "name") : local;
      this.builder.import(
        { local: syntax.textOf(local), name: WHOLE, module: this.#dotted(module), node: local },
        scope,
      );
    }
  }

  #importFrom(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const module = this.#dotted(syntax.child(node, "module_name"));
    if (syntax.ofType(node, "wildcard_import") >= 0) {
      this.builder.facts.stars.push(module);
      return;
    }
    for (const one of syntax.inField(node, "name")) {
      const isAliased = syntax.type(one) === "aliased_import";
      const name = isAliased ? syntax.child(one, "name") : one;
      const nameNode = syntax.first(name);
      const local = isAliased ? syntax.child(one, "alias") : nameNode;
      this.builder.import(
        {
          local: syntax.textOf(local),
          name: syntax.textOf(name),
          module,
          node: local,
          ...(isAliased && { nameNode }),
        },
        scope,
      );
    }
  }

  #dotted(node: number): string {
    return this.#syntax.textOf(node).replace(/\s/g, "");
  }

  // ── classes and functions ──

  #class(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const isMember = scope.kind === "type" && scope.owner !== undefined;
    const definition = this.builder.define(syntax.textOf(name), "type", name, scope, {
      ...(isMember && { owner: scope.owner! }),
    });
    const heritage = syntax.child(node, "superclasses");
    definition.supers = syntax
      .children(heritage)
      .filter((one) => syntax.type(one) !== "keyword_argument");
    this.visit(heritage, scope);
    const inner = this.builder.open(node, scope, "type", definition);
    this.#typeParameters(node, inner);
    this.visitAll(syntax.child(node, "body"), inner);
  }

  #decorated(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const decorators: string[] = [];
    for (const one of syntax.children(node)) {
      if (syntax.type(one) !== "decorator") continue;
      decorators.push(syntax.textOf(syntax.first(one)).split("(")[0]!);
      this.visitAll(one, scope);
    }
    const definition = syntax.child(node, "definition");
    if (syntax.type(definition) === "function_definition")
      this.#function(definition, scope, decorators);
    else this.visit(definition, scope);
  }

  #function(node: number, scope: Scope, decorators: readonly string[]): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const text = syntax.textOf(name);
    const owner = scope.kind === "type" ? scope.owner : undefined;
    const [resultNode, bodyNode] = [syntax.child(node, "return_type"), syntax.child(node, "body")];
    const isGetter = decorators.some((one) => GETTER.test(one));
    const isAsync = syntax.text.startsWith("async", syntax.start(node));
    const known = isGetter ? owner?.members?.get(text)?.[0] : undefined;
    const definition = this.builder.define(text, owner ? "method" : "function", name, scope, {
      ...(resultNode >= 0 && { resultNode }),
      ...(bodyNode >= 0 && { bodyNode }),
      ...(isGetter && { isGetter }),
      ...(isAsync && { isAsync }),
      ...(owner && { owner }),
    });
    if (known) this.builder.facts.againAt.set(name, known);
    const inner = this.builder.openFunction(node, scope, definition);
    this.visit(resultNode, scope);
    this.#typeParameters(node, inner);
    const isStatic = decorators.includes("staticmethod");
    const isSelfType = decorators.includes("classmethod") || OF_TYPE.has(text);
    const self = owner && !isStatic ? { owner, isSelfType } : undefined;
    this.#parameters(syntax.child(node, "parameters"), inner, self);
    if (bodyNode >= 0) this.visitAll(bodyNode, inner);
  }

  #typeParameters(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    for (const one of syntax.children(syntax.child(node, "type_parameters"))) {
      const name = syntax.type(one) === "type" ? syntax.first(one) : one;
      if (syntax.type(name) !== "identifier") this.visitAll(one, scope);
      else {
        const made = this.builder.define(syntax.textOf(name), "type parameter", name, scope);
        (scope.parameters ??= []).push(made);
      }
    }
    if (scope.owner && scope.parameters) scope.owner.parameters ??= scope.parameters;
  }

  #parameters(
    list: number,
    scope: Scope,
    self: { readonly owner: Definition; readonly isSelfType: boolean } | undefined,
  ): void {
    const syntax = this.#syntax;
    const taken: Definition[] = [];
    let receiver = self;
    for (const one of syntax.children(list)) {
      const { name, details } = this.#parameter(one, scope);
      if (details.typeNode !== undefined) this.visit(details.typeNode, scope.parent ?? scope);
      if (syntax.type(name) !== "identifier") continue;
      const text = syntax.textOf(name);
      const selfDetails = receiver && { selfOf: receiver.owner, isSelfType: receiver.isSelfType };
      const made = this.builder.define(text, "parameter", name, scope, {
        ...details,
        ...selfDetails,
      });
      if (receiver) scope.self = { name: text, owner: receiver.owner };
      else taken.push(made);
      receiver = undefined;
    }
    scope.taken = taken;
  }

  #parameter(node: number, scope: Scope): { readonly name: number; readonly details: Details } {
    const syntax = this.#syntax;
    switch (syntax.type(node)) {
      case "identifier":
        return { name: node, details: {} };
      case "list_splat_pattern":
      case "dictionary_splat_pattern":
        return { name: syntax.first(node), details: {} };
      case "typed_parameter": {
        const name = syntax.first(node);
        const typeNode = syntax.child(node, "type");
        if (syntax.type(name) === "list_splat_pattern")
          return { name: syntax.first(name), details: { typeNode, isVariadic: true } };
        if (syntax.type(name) === "dictionary_splat_pattern") {
          this.visit(typeNode, scope.parent ?? scope);
          return { name: syntax.first(name), details: {} };
        }
        return { name, details: { typeNode } };
      }
      case "default_parameter":
      case "typed_default_parameter": {
        const [typeNode, value] = [syntax.child(node, "type"), syntax.child(node, "value")];
        this.visit(value, scope.parent ?? scope);
        const details = typeNode >= 0 ? { typeNode } : { values: [{ node: value, steps: [] }] };
        return { name: syntax.child(node, "name"), details };
      }
      default:
        return { name: NONE, details: {} };
    }
  }

  // ── assignments ──

  #comprehension(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const inner = this.builder.open(node, scope, "block");
    const isClause = (one: number): boolean => syntax.type(one) === "for_in_clause";
    const children = syntax.children(node);
    // the clauses bind the names that the body uses
    for (const one of children.filter(isClause)) this.visit(one, inner);
    for (const one of children.filter((one) => !isClause(one))) this.visit(one, inner);
  }

  #loop(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const [left, right] = [syntax.child(node, "left"), syntax.child(node, "right")];
    this.visit(right, scope);
    this.#assign(left, scope, { values: [{ node: right, steps: [ELEMENT] }] });
    for (const one of syntax.children(node))
      if (one !== left && one !== right) this.visit(one, scope);
  }

  #assignment(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const [left, typeNode, right] = [
      syntax.child(node, "left"),
      syntax.child(node, "type"),
      syntax.child(node, "right"),
    ];
    this.visit(typeNode, scope);
    this.visit(right, scope);
    this.#assign(left, scope, {
      ...(typeNode >= 0 && { typeNode }),
      ...(right >= 0 && { values: [{ node: right, steps: [] }] }),
    });
  }

  #namedExpression(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const value = syntax.child(node, "value");
    this.visit(value, scope);
    let target = scope;
    while (target.kind === "block" && target.parent) target = target.parent;
    this.#assign(syntax.child(node, "name"), target, { values: [{ node: value, steps: [] }] });
  }

  #asPattern(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const value = syntax.first(node);
    this.visit(value, scope);
    const isCaught = syntax.type(syntax.parent(node)) === "except_clause";
    const details = isCaught ? { caught: value } : { values: [{ node: value, steps: [] }] };
    const target = syntax.child(node, "alias");
    if (target >= 0) this.#assign(target, scope, details);
  }

  #typeAlias(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.first(syntax.child(node, "left"));
    const typeNode = syntax.child(node, "right");
    if (syntax.type(name) === "identifier")
      this.builder.define(syntax.textOf(name), "type", name, scope, { isAlias: true, typeNode });
    this.visit(typeNode, scope);
  }

  /** Binds what an assignment names. Later assignments in a scope belong to the first one. */
  #assign(node: number, scope: Scope, details: Details): void {
    const syntax = this.#syntax;
    const type = syntax.type(node);
    if (type === "identifier") return this.#assignName(node, scope, details);
    if (type === "attribute") return this.#assignAttribute(node, scope, details);
    if (SEQUENCES.has(type))
      for (const [at, one] of syntax.children(node).entries())
        this.#assign(one, scope, {
          ...details,
          ...(details.values && {
            values: details.values.map((value) => ({ ...value, steps: [...value.steps, { at }] })),
          }),
        });
    else if (WRAPPERS.has(type))
      for (const one of syntax.children(node)) this.#assign(one, scope, details);
    else this.visit(node, scope);
  }

  #assignName(node: number, scope: Scope, details: Details): void {
    const name = this.#syntax.textOf(node);
    const outer = scope.outer?.get(name);
    const target =
      outer === "global" ? this.builder.top : outer ? (scope.parent ?? this.builder.top) : scope;
    const known = this.builder.bound(target, name);
    if (known) {
      this.#addTo(known, details);
      this.builder.facts.againAt.set(node, known);
      return;
    }
    const owner: Definition | undefined = target.kind === "type" ? target.owner : undefined;
    const kind: DefinitionKind = owner ? "field" : "variable";
    const own = owner && { owner, isStatic: true };
    this.builder.define(name, kind, node, target, { ...details, ...own });
  }

  /** An attribute of the first parameter of a method is a field of the class. */
  #assignAttribute(node: number, scope: Scope, details: Details): void {
    const syntax = this.#syntax;
    const object = syntax.child(node, "object");
    const nameNode = syntax.child(node, "attribute");
    const name = syntax.textOf(nameNode);
    const self = selfIn(scope);
    if (self && syntax.textOf(object) === self.name) {
      const { owner } = self;
      const known = owner.members?.get(name)?.[0];
      const isAssigned = details.typeNode === undefined;
      if (!known)
        this.builder.member(name, "field", nameNode, scope, { ...details, owner, isAssigned });
      else if (known.kind === "field") this.#addTo(known, details);
    }
    this.visit(object, scope);
  }

  #addTo(known: Definition, { typeNode, values }: Details): void {
    if (typeNode !== undefined) known.typeNode ??= typeNode;
    for (const value of values ?? []) this.builder.addValue(known, value);
  }
}

function selfIn(scope: Scope): Scope["self"] {
  for (let at: Scope | undefined = scope; at; at = at.parent) if (at.self) return at.self;
  return undefined;
}
