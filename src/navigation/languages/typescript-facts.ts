/**
 * Reads what a file of TypeScript or JavaScript declares: imports and exports, classes, interfaces, aliases, functions,
 * variables, and the types of object literals.
 */

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
import type { Syntax } from "../facts/syntax.ts";
import { wordSet } from "./word-set.ts";

const FUNCTION_VALUES = wordSet("arrow_function function_expression generator_function");
const BLOCKS = wordSet(
  "statement_block for_statement switch_body class_static_block conditional_type",
);
const TYPE_WRAPPERS = wordSet(
  "parenthesized_type intersection_type union_type readonly_type type_annotation",
);
const METHODS = wordSet("method_definition method_signature abstract_method_signature");
const FIELDS = wordSet("public_field_definition field_definition property_signature");
const EMPTY: Details = {};

export function readTypescript(path: string, syntax: Syntax): Facts {
  const reader = new TypescriptReader(path, syntax);
  reader.visitAll(0, reader.builder.top);
  return reader.builder.finish();
}

class TypescriptReader {
  readonly builder: FactsBuilder;
  readonly #syntax: Syntax;
  readonly #isDeclarations: boolean;
  readonly #isJavascript: boolean;

  constructor(path: string, syntax: Syntax) {
    this.builder = new FactsBuilder(path, syntax);
    this.#syntax = syntax;
    this.#isDeclarations = path.endsWith(".d.ts");
    this.#isJavascript = /\.[cm]?jsx?$/.test(path);
  }

  visitAll(node: number, scope: Scope): void {
    for (const child of this.#syntax.children(node)) this.visit(child, scope);
  }

  /** Reads a node. An object type in it belongs to `alias`, if it is the value of an alias. */
  visit(node: number, scope: Scope, alias?: Definition): void {
    if (node < 0) return;
    const syntax = this.#syntax;
    const type = syntax.type(node);
    if (BLOCKS.has(type)) return this.visitAll(node, this.builder.open(node, scope, "block"));
    if (TYPE_WRAPPERS.has(type)) {
      for (const one of syntax.children(node)) this.visit(one, scope, alias);
      return;
    }
    switch (type) {
      case "import_statement":
        return this.#import(node, scope);
      case "export_statement":
        return this.#export(node, scope);
      case "class_declaration":
      case "abstract_class_declaration":
      case "class":
        return this.#class(node, scope);
      case "interface_declaration":
        return this.#interface(node, scope);
      case "type_alias_declaration":
        return this.#alias(node, scope);
      case "enum_declaration":
        return this.#enum(node, scope);
      case "internal_module":
      case "module":
        return this.#namespace(node, scope);
      case "function_declaration":
      case "generator_function_declaration":
      case "function_signature": {
        const name = syntax.child(node, "name");
        const made =
          name >= 0
            ? this.builder.define(syntax.textOf(name), "function", name, scope, this.#parts(node))
            : undefined;
        return void this.#callable(node, scope, made);
      }
      case "function_expression":
      case "generator_function": {
        const inner = this.#callable(node, scope);
        const name = syntax.child(node, "name");
        if (name >= 0) {
          const details = { ...this.#parts(node), inner };
          this.builder.define(syntax.textOf(name), "function", name, inner, details);
        }
        return;
      }
      case "arrow_function":
      case "function_type":
      case "constructor_type":
      case "construct_signature":
      case "call_signature":
      case "method_definition":
        return void this.#callable(node, scope);
      case "variable_declarator":
        return this.#variable(node, scope);
      case "for_in_statement":
        return this.#forIn(node, scope);
      case "catch_clause": {
        const inner = this.builder.open(node, scope, "block");
        this.#pattern(syntax.child(node, "parameter"), inner, "variable", EMPTY);
        return this.visit(syntax.child(node, "body"), inner);
      }
      case "infer_type":
        return this.#typeName(node, syntax.first(node), scope);
      case "mapped_type_clause":
        return this.#typeName(node, syntax.child(node, "name"), scope);
      case "index_signature":
        return this.#indexSignature(node, scope);
      case "object":
        return this.#record(node, scope);
      case "object_type": {
        const owner = alias?.isAlias ? alias : this.builder.unnamedType(node, scope);
        this.builder.facts.typeAt.set(node, owner);
        return this.#members(node, this.builder.open(node, scope, "block"), owner);
      }
      case "assignment_expression":
        return this.#assignment(node, scope);
      default:
        return this.visitAll(node, scope);
    }
  }

  // ── imports and exports ──

  #unquoted(node: number): string {
    return this.#syntax.textOf(node).slice(1, -1);
  }

  #import(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const required = syntax.ofType(node, "import_require_clause");
    if (required >= 0) {
      const name = syntax.ofType(required, "identifier");
      return this.#importOne(name, WHOLE, syntax.child(required, "source"), scope);
    }
    const source = syntax.child(node, "source");
    if (source < 0) return;
    for (const one of syntax.children(syntax.ofType(node, "import_clause")))
      switch (syntax.type(one)) {
        case "identifier":
          this.#importOne(one, "default", source, scope);
          break;
        case "namespace_import":
          this.#importOne(syntax.first(one), WHOLE, source, scope);
          break;
        default:
          for (const specifier of syntax.children(one)) {
            const name = syntax.child(specifier, "name");
            const alias = syntax.child(specifier, "alias");
            if (name < 0) continue;
            const local = alias >= 0 ? alias : name;
            const nameNode = alias >= 0 ? name : undefined;
            this.#importOne(local, syntax.textOf(name), source, scope, nameNode);
          }
      }
  }

  #importOne(node: number, name: string, source: number, scope: Scope, nameNode?: number): void {
    const local = this.#syntax.textOf(node);
    const module = this.#unquoted(source);
    const more = nameNode === undefined ? {} : { nameNode };
    this.builder.import({ local, name, module, node, ...more }, scope);
  }

  #export(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const source = syntax.child(node, "source");
    const module = source >= 0 ? this.#unquoted(source) : undefined;
    const clause = syntax.ofType(node, "export_clause");
    const [declaration, value] = [syntax.child(node, "declaration"), syntax.child(node, "value")];
    if (clause >= 0) this.#exportClause(clause, module);
    else if (module !== undefined) {
      const space = syntax.ofType(node, "namespace_export");
      if (space < 0) this.builder.facts.stars.push(module);
      else this.builder.export(syntax.textOf(syntax.first(space)), { name: WHOLE, module });
    } else if (declaration >= 0) this.#exportDeclaration(node, declaration, scope);
    else if (value >= 0) {
      if (syntax.type(value) === "identifier")
        this.builder.export("default", { local: syntax.textOf(value) });
      else this.builder.export("default", { definition: this.#unnamedValue(value, scope) });
      this.visit(value, scope);
    } else this.visitAll(node, scope);
  }

  #exportClause(clause: number, module: string | undefined): void {
    const syntax = this.#syntax;
    for (const one of syntax.children(clause)) {
      const [name, alias] = [syntax.child(one, "name"), syntax.child(one, "alias")];
      if (name < 0) continue;
      const text = syntax.textOf(name);
      const as = alias >= 0 ? syntax.textOf(alias) : text;
      this.builder.export(as, module === undefined ? { local: text } : { name: text, module });
    }
  }

  #exportDeclaration(node: number, declaration: number, scope: Scope): void {
    const { definitions } = this.builder.facts;
    const before = definitions.length;
    this.visit(declaration, scope);
    const made = definitions
      .slice(before)
      .filter((one) => one.scope === scope && scope.names.get(one.name)?.includes(one));
    const isDefault = /\bdefault\b/.test(
      this.#syntax.text.slice(this.#syntax.start(node), this.#syntax.start(declaration)),
    );
    if (isDefault && made[0]) this.builder.export("default", { definition: made[0] });
    else
      for (const one of made)
        if (scope.kind === "file") this.builder.export(one.name, { definition: one });
        else if (scope.owner?.kind === "module") this.builder.addMember(scope.owner, one);
  }

  #unnamedValue(node: number, scope: Scope): Definition {
    const values = [{ node, steps: [] }];
    return { file: this.builder.facts, name: "default", kind: "variable", node, scope, values };
  }

  // ── functions ──

  /** Reads the parameters and the body of a function, and returns its scope. */
  #callable(node: number, scope: Scope, made?: Definition, constructorOf?: Definition): Scope {
    const syntax = this.#syntax;
    const inner = this.builder.openFunction(node, scope, made);
    const parameters = this.#typeParameters(node, inner);
    if (made && parameters) made.parameters ??= parameters;
    const list = syntax.child(node, "parameters");
    inner.taken = syntax
      .children(list)
      .flatMap((one) => this.#parameter(one, inner, constructorOf) ?? []);
    const single = syntax.child(node, "parameter");
    if (single >= 0) {
      this.#pattern(single, inner, "parameter", EMPTY);
      inner.taken = [this.builder.bound(inner, syntax.textOf(single))!];
    }
    this.visit(syntax.child(node, "return_type"), inner);
    const body = syntax.child(node, "body");
    if (syntax.type(body) === "statement_block") this.visitAll(body, inner);
    else this.visit(body, inner);
    return inner;
  }

  /** Returns the result and body of a function as details of its definition. */
  #parts(node: number): Details {
    const syntax = this.#syntax;
    const [resultNode, bodyNode] = [syntax.child(node, "return_type"), syntax.child(node, "body")];
    return {
      ...(resultNode >= 0 && { resultNode }),
      ...(bodyNode >= 0 && { bodyNode }),
      ...(isAsync(syntax, node) && { isAsync: true }),
    };
  }

  #typeParameters(node: number, scope: Scope): Definition[] | undefined {
    const syntax = this.#syntax;
    const list = syntax.ofType(node, "type_parameters");
    if (list < 0) return undefined;
    const made: Definition[] = [];
    for (const one of syntax.children(list)) {
      const name = syntax.child(one, "name");
      const limit = syntax.first(syntax.child(one, "constraint"));
      const details = limit >= 0 ? { typeNode: limit } : {};
      if (name >= 0)
        made.push(this.builder.define(syntax.textOf(name), "type parameter", name, scope, details));
      this.visitAll(one, scope);
    }
    scope.parameters = made;
    return made;
  }

  /** Declares a parameter, and returns it. A pattern is returned as one parameter without a name. */
  #parameter(node: number, scope: Scope, constructorOf?: Definition): Definition | undefined {
    const syntax = this.#syntax;
    const type = syntax.type(node);
    if (type !== "required_parameter" && type !== "optional_parameter") {
      if (type === "identifier" || type.endsWith("pattern"))
        return this.#declareParameter(node, node, scope, EMPTY);
      this.visit(node, scope);
      return undefined;
    }
    const pattern = syntax.child(node, "pattern");
    const [typeNode, value] = [syntax.child(node, "type"), syntax.child(node, "value")];
    const details: Details =
      typeNode >= 0 ? { typeNode } : value >= 0 ? { values: [{ node: value, steps: [] }] } : {};
    for (const one of syntax.children(node))
      if (syntax.type(one) === "decorator") this.visit(one, scope);
    this.visit(typeNode, scope);
    this.visit(value, scope);
    if (syntax.type(pattern) === "this") return undefined; // a type for the receiver, which no call passes
    const made = this.#declareParameter(pattern, node, scope, details);
    if (constructorOf && isParameterProperty(syntax, node, pattern))
      this.builder.addMember(constructorOf, {
        ...made,
        kind: "field",
        owner: constructorOf,
      });
    return made;
  }

  #declareParameter(pattern: number, node: number, scope: Scope, details: Details): Definition {
    const syntax = this.#syntax;
    const isRest = syntax.type(pattern) === "rest_pattern";
    const name = isRest ? syntax.first(pattern) : pattern;
    const more = isRest ? { ...details, isRest } : details;
    this.#pattern(name, scope, "parameter", more);
    const known =
      syntax.type(name) === "identifier"
        ? this.builder.bound(scope, syntax.textOf(name))
        : undefined;
    const { facts: file } = this.builder;
    return known ?? { file, name: "", kind: "parameter", node, scope, ...more };
  }

  // ── variables ──

  /** Declares the names in a pattern. */
  #pattern(node: number, scope: Scope, kind: DefinitionKind, details: Details): void {
    const syntax = this.#syntax;
    switch (syntax.type(node)) {
      case "identifier":
        this.builder.define(syntax.textOf(node), kind, node, scope, details);
        return;
      case "shorthand_property_identifier_pattern": {
        const key = syntax.textOf(node);
        this.builder.define(key, kind, node, scope, withStep(details, { key }));
        return;
      }
      case "object_pattern":
        for (const one of syntax.children(node)) this.#patternMember(one, scope, kind, details);
        return;
      case "array_pattern":
        for (const [at, one] of syntax.children(node).entries())
          this.#pattern(one, scope, kind, withStep(details, { at }));
        return;
      case "assignment_pattern":
      case "object_assignment_pattern":
        this.#pattern(syntax.child(node, "left"), scope, kind, details);
        return this.visit(syntax.child(node, "right"), scope);
      case "rest_pattern":
        for (const one of syntax.children(node)) this.#pattern(one, scope, kind, details);
        return;
      default:
        this.visit(node, scope);
    }
  }

  #patternMember(node: number, scope: Scope, kind: DefinitionKind, details: Details): void {
    const syntax = this.#syntax;
    if (syntax.type(node) !== "pair_pattern") return this.#pattern(node, scope, kind, details);
    const key = syntax.child(node, "key");
    if (syntax.type(key) === "computed_property_name") this.visit(key, scope);
    const step = { key: syntax.textOf(key).replace(/^["']|["']$/g, "") };
    this.#pattern(syntax.child(node, "value"), scope, kind, withStep(details, step));
  }

  #variable(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const [typeNode, value] = [syntax.child(node, "type"), syntax.child(node, "value")];
    let target = scope;
    if (syntax.type(syntax.parent(node)) === "variable_declaration")
      while (target.kind === "block" && target.parent) target = target.parent;
    const details: Details = {
      ...(typeNode >= 0 && { typeNode }),
      ...(value >= 0 && { values: [{ node: value, steps: [] }] }),
    };
    const isFunction = FUNCTION_VALUES.has(syntax.type(value));
    if (syntax.type(name) !== "identifier") {
      this.#pattern(name, target, "variable", details);
      this.visit(typeNode, scope);
      return this.visit(value, scope);
    }
    const made = this.builder.define(
      syntax.textOf(name),
      isFunction ? "function" : "variable",
      name,
      target,
      isFunction ? { ...details, ...this.#parts(value) } : details,
    );
    this.visit(typeNode, scope);
    if (isFunction) this.#callable(value, scope, made);
    else this.visit(value, scope);
  }

  #forIn(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const inner = this.builder.open(node, scope, "block");
    const [left, right] = [syntax.child(node, "left"), syntax.child(node, "right")];
    const isDeclared = /\b(?:const|let|var|using)\s*$/.test(
      syntax.text.slice(syntax.start(node), syntax.start(left)),
    );
    const isOf = /\bof\b/.test(syntax.between(left, right));
    const details: Details = isOf ? { values: [{ node: right, steps: [ELEMENT] }] } : {};
    if (isDeclared) this.#pattern(left, inner, "variable", details);
    else this.visit(left, inner);
    this.visit(right, scope);
    this.visit(syntax.child(node, "body"), inner);
  }

  /** In JavaScript, an assignment to a member of `this` declares a field. */
  #assignment(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const left = syntax.child(node, "left");
    const isOwn =
      this.#isJavascript &&
      syntax.type(left) === "member_expression" &&
      syntax.type(syntax.child(left, "object")) === "this";
    if (isOwn) {
      const property = syntax.child(left, "property");
      let at: Scope | undefined = scope;
      while (at && at.kind !== "type") at = at.parent;
      const name = syntax.textOf(property);
      const values = [{ node: syntax.child(node, "right"), steps: [] }];
      if (at?.owner && !at.owner.members?.has(name))
        this.builder.member(name, "field", property, scope, { owner: at.owner, values });
    }
    this.visitAll(node, scope);
  }

  // ── types ──

  #class(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const inner = this.builder.open(node, scope, "type");
    const outer = syntax.type(node) === "class" ? inner : scope;
    const definition =
      name >= 0
        ? this.builder.define(syntax.textOf(name), "type", name, outer)
        : this.builder.unnamedType(node, scope);
    this.builder.facts.typeAt.set(node, definition);
    inner.owner = definition;
    const parameters = this.#typeParameters(node, inner);
    if (parameters) definition.parameters = parameters;
    const heritage = syntax.ofType(node, "class_heritage");
    definition.supers = syntax.children(heritage).flatMap((clause) => {
      if (syntax.type(clause) === "implements_clause") return syntax.children(clause);
      if (syntax.type(clause) !== "extends_clause") return [clause]; // JavaScript
      // type arguments stand beside the value, so the clause itself is read as a generic type
      return [syntax.child(clause, "type_arguments") >= 0 ? clause : syntax.child(clause, "value")];
    });
    this.visit(heritage, inner);
    for (const one of syntax.children(node))
      if (syntax.type(one) === "decorator") this.visit(one, scope);
    this.#members(syntax.child(node, "body"), inner, definition);
  }

  #interface(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const definition = this.#declareType(node, scope, { isTypeOnly: true });
    if (!definition) return this.visitAll(node, scope);
    const inner = this.builder.open(node, scope, "type", definition);
    const parameters = this.#typeParameters(node, inner);
    if (parameters) definition.parameters = parameters;
    const clause = syntax.ofType(node, "extends_type_clause", "extends_clause");
    if (clause >= 0) {
      definition.supers = syntax.children(clause);
      this.visit(clause, inner);
    }
    this.#members(syntax.child(node, "body"), inner, definition);
    this.#mergeInterfaces(definition, scope);
  }

  /** Declarations of one name are one type, so they share their members. */
  #mergeInterfaces(definition: Definition, scope: Scope): void {
    const first = scope.names
      .get(definition.name)
      ?.find((one): one is Definition => !isImport(one) && one.kind === "type");
    if (!first || first === definition) return;
    definition.supers = [...(definition.supers ?? []), ...(first.supers ?? [])];
    const members = (first.members ??= new Map());
    for (const [name, list] of definition.members ?? [])
      members.set(name, [...(members.get(name) ?? []), ...list]);
    definition.members = members;
  }

  #declareType(node: number, scope: Scope, details: Details = {}): Definition | undefined {
    const name = this.#syntax.child(node, "name");
    if (name < 0) return undefined;
    return this.builder.define(this.#syntax.textOf(name), "type", name, scope, details);
  }

  #alias(node: number, scope: Scope): void {
    const value = this.#syntax.child(node, "value");
    const details = { isAlias: true, isTypeOnly: true, typeNode: value };
    const definition = this.#declareType(node, scope, details);
    const inner = this.builder.open(node, scope, "type", definition);
    const parameters = this.#typeParameters(node, inner);
    if (definition && parameters) definition.parameters = parameters;
    // only an alias for an object type has members of its own
    const isObject = this.#syntax.type(value) === "object_type";
    this.visit(value, inner, isObject ? definition : undefined);
  }

  #enum(node: number, scope: Scope): void {
    const definition = this.#declareType(node, scope);
    if (!definition) return;
    const inner = this.builder.open(node, scope, "type", definition);
    this.#members(this.#syntax.child(node, "body"), inner, definition);
    for (const [name, list] of definition.members ?? []) inner.names.set(name, list);
  }

  #namespace(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const isNamed = name >= 0 && syntax.type(name) !== "string";
    const definition = isNamed
      ? this.builder.define(syntax.textOf(name), "module", name, scope)
      : undefined;
    const inner = this.builder.open(node, scope, "block", definition);
    this.visitAll(syntax.child(node, "body"), inner);
    if (!definition || !this.#isDeclarations) return;
    for (const list of inner.names.values())
      for (const one of list) if (!isImport(one)) this.builder.addMember(definition, one);
  }

  /** Declares the name that a part of a type binds, and reads the rest. */
  #typeName(node: number, name: number, scope: Scope): void {
    if (name >= 0) this.builder.define(this.#syntax.textOf(name), "type parameter", name, scope);
    for (const one of this.#syntax.children(node)) if (one !== name) this.visit(one, scope);
  }

  #indexSignature(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const inner = this.builder.open(node, scope, "block");
    for (const one of syntax.children(node))
      if (syntax.field(one) === "name" && syntax.type(one) === "identifier")
        this.builder.define(syntax.textOf(one), "parameter", one, inner);
      else this.visit(one, inner);
  }

  // ── members ──

  /** Returns the name that a key writes, or undefined if it is computed. */
  #keyOf(node: number): string | undefined {
    const type = this.#syntax.type(node);
    if (type === "string") return this.#unquoted(node);
    return type === "computed_property_name" || type === "" ? undefined : this.#syntax.textOf(node);
  }

  #members(body: number, scope: Scope, owner: Definition): void {
    const syntax = this.#syntax;
    for (const one of syntax.children(body)) {
      const type = syntax.type(one);
      if (METHODS.has(type)) this.#method(one, scope, owner);
      else if (FIELDS.has(type)) this.#field(one, scope, owner);
      else if (type === "enum_assignment") {
        const name = syntax.child(one, "name");
        const key = this.#keyOf(name) ?? syntax.textOf(name);
        this.builder.member(key, "field", name, scope, { owner, isStatic: true });
        this.visit(syntax.child(one, "value"), scope);
      } else if (type === "property_identifier")
        this.builder.member(syntax.textOf(one), "field", one, scope, { owner, isStatic: true });
      else if (type === "call_signature") {
        (owner.calls ??= []).push(one);
        this.#callable(one, scope);
      } else this.visit(one, scope);
    }
  }

  #method(node: number, scope: Scope, owner: Definition): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const head = syntax.text.slice(syntax.start(node), syntax.start(name));
    const isGetter = /\bget\s+$/.test(head);
    const isField = isGetter || /\bset\s+$/.test(head);
    const key = this.#keyOf(name);
    const made =
      key === undefined
        ? undefined
        : this.builder.member(key, isField ? "field" : "method", name, scope, {
            owner,
            ...(/\bstatic\s/.test(head) && { isStatic: true }),
            ...this.#parts(node),
            ...(isGetter && { isGetter }),
          });
    if (!made) this.visit(name, scope);
    for (const one of syntax.children(node))
      if (syntax.type(one) === "decorator") this.visit(one, scope);
    this.#callable(node, scope, made ?? owner, key === "constructor" ? owner : undefined);
  }

  #field(node: number, scope: Scope, owner: Definition): void {
    const syntax = this.#syntax;
    const named = syntax.child(node, "name");
    const name = named >= 0 ? named : syntax.child(node, "property");
    const [typeNode, value] = [syntax.child(node, "type"), syntax.child(node, "value")];
    const key = this.#keyOf(name);
    if (key === undefined) return this.visitAll(node, scope);
    const isStatic = /\bstatic\s/.test(syntax.text.slice(syntax.start(node), syntax.start(name)));
    const made = this.builder.member(key, "field", name, scope, {
      owner,
      ...(isStatic && { isStatic }),
      ...(typeNode >= 0 && { typeNode }),
      ...(value >= 0 && { values: [{ node: value, steps: [] }] }),
    });
    this.visit(typeNode, scope);
    this.#memberValue(value, scope, made);
    for (const one of syntax.children(node))
      if (syntax.type(one) === "decorator") this.visit(one, scope);
  }

  /** Reads the value of a member. A function among them belongs to the member. */
  #memberValue(value: number, scope: Scope, member: Definition | undefined): void {
    if (FUNCTION_VALUES.has(this.#syntax.type(value))) this.#callable(value, scope, member);
    else this.visit(value, scope);
  }

  /** Reads an object literal, whose type has its keys as members. */
  #record(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const owner = this.builder.unnamedType(node, scope);
    this.builder.facts.typeAt.set(node, owner);
    for (const one of syntax.children(node))
      switch (syntax.type(one)) {
        case "pair":
          this.#pair(one, scope, owner);
          break;
        case "method_definition":
          this.#method(one, scope, owner);
          break;
        case "shorthand_property_identifier": {
          const name = syntax.textOf(one);
          const values = [{ node: one, steps: [] }];
          const { facts: file } = this.builder;
          const field: Definition = { file, name, kind: "field", node: one, scope, owner, values };
          this.builder.addMember(owner, field);
          break;
        }
        case "spread_element":
          (owner.supers ??= []).push(syntax.first(one));
          this.visit(one, scope);
          break;
        default:
          this.visit(one, scope);
      }
  }

  #pair(node: number, scope: Scope, owner: Definition): void {
    const syntax = this.#syntax;
    const [key, value] = [syntax.child(node, "key"), syntax.child(node, "value")];
    const name = this.#keyOf(key);
    if (name === undefined) {
      this.visit(key, scope);
      return this.visit(value, scope);
    }
    const isFunction = FUNCTION_VALUES.has(syntax.type(value));
    const made = this.builder.member(name, isFunction ? "method" : "field", key, scope, {
      owner,
      values: [{ node: value, steps: [] }],
      ...(isFunction && this.#parts(value)),
    });
    // `this` in a function of a literal is the literal, but an arrow function has none of its own
    if (syntax.type(value) === "arrow_function") {
      const inner = this.#callable(value, scope);
      made.inner = inner;
      if (inner.parameters) made.parameters = inner.parameters;
    } else this.#memberValue(value, scope, made);
  }
}

function withStep(details: Details, step: NonNullable<Definition["steps"]>[number]): Details {
  const { typeNode, values } = details;
  const steps = [...(details.steps ?? []), step];
  return {
    ...details,
    steps: typeNode === undefined && values ? [] : steps,
    ...(values && { values: values.map((one) => ({ ...one, steps: [...one.steps, step] })) }),
  };
}

/** Returns whether `async` is among the modifiers of a function. */
export function isAsync(syntax: Syntax, node: number): boolean {
  const head = syntax.text.slice(syntax.start(node), syntax.start(node) + 80);
  return /^(?:(?:export|default|static|private|public|protected|override)\s+)*async\b/.test(head);
}

/** Returns whether a parameter of a constructor is also a field. */
const isParameterProperty = (syntax: Syntax, node: number, pattern: number): boolean =>
  syntax.type(pattern) === "identifier" &&
  /\b(?:public|private|protected|readonly|override)\b/.test(
    syntax.text.slice(syntax.start(node), syntax.start(pattern)),
  );
