/** Reads what a file of Go declares: its package, imports, types with their fields and methods, functions, variables. */

import { FactsBuilder, type Details } from "../facts/builder.ts";
import {
  ELEMENT,
  isImport,
  WHOLE,
  type Definition,
  type Facts,
  type Scope,
} from "../facts/facts.ts";
import { NONE, type Syntax } from "../facts/syntax.ts";
import { wordSet } from "./word-set.ts";

const BLOCKS = wordSet(
  "block if_statement for_statement expression_switch_statement select_statement expression_case default_case communication_case",
);
/** The key of a range over a map or list, whose type has no members. */
const RANGE_KEY = { key: "" };

export function readGo(path: string, syntax: Syntax): Facts {
  const reader = new GoReader(path, syntax);
  reader.visitAll(0, reader.builder.top);
  const { facts, top } = reader.builder;
  for (const [name, bindings] of top.names)
    for (const one of bindings)
      if (!isImport(one)) reader.builder.export(name, { definition: one });
  reader.builder.finish();
  return facts;
}

class GoReader {
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
    if (BLOCKS.has(type)) return this.visitAll(node, this.builder.open(node, scope, "block"));
    switch (type) {
      case "package_clause":
        this.builder.facts.packageName = syntax.textOf(syntax.first(node));
        return;
      case "import_spec":
        return this.#import(node);
      case "function_declaration":
        return this.#function(node, scope);
      case "method_declaration":
        return this.#method(node, scope);
      case "func_literal":
      case "function_type":
        return this.#callable(node, scope);
      case "type_spec":
      case "type_alias":
        return this.#type(node, scope);
      case "const_spec":
      case "var_spec":
        return this.#variables(node, scope);
      case "struct_type":
      case "interface_type":
        return this.#body(node, scope, this.builder.unnamedType(node, scope));
      case "short_var_declaration":
      case "receive_statement":
      case "range_clause":
        return this.#assignment(node, scope, type);
      case "type_switch_statement":
        return this.#typeSwitch(node, scope);
      default:
        return this.visitAll(node, scope);
    }
  }

  #import(node: number): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const module = syntax.textOf(syntax.child(node, "path")).slice(1, -1);
    if (syntax.type(name) === "dot") this.builder.facts.stars.push(module);
    else if (syntax.type(name) !== "blank_identifier") {
      const local = name >= 0 ? syntax.textOf(name) : usualPackage(module);
      const at = name >= 0 ? name : node;
      this.builder.import({ local, name: WHOLE, module, node: at }, this.builder.top);
    }
  }

  #function(node: number, scope: Scope): void {
    const name = this.#syntax.child(node, "name");
    const text = this.#syntax.textOf(name);
    const details = this.#partsOf(node);
    // a package may have several functions of these names, which nothing can use
    const isUsable = text !== "init" && text !== "_";
    const made = isUsable
      ? this.builder.define(text, "function", name, scope, details)
      : this.builder.member(text, "function", name, scope, details);
    this.#callable(node, scope, made);
  }

  #method(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const parameter = syntax.first(syntax.child(node, "receiver"));
    const receiver = syntax.textOf(this.#baseOf(syntax.child(parameter, "type")));
    const details = { ...this.#partsOf(node), ...(receiver !== "" && { receiver }) };
    const made = this.builder.member(syntax.textOf(name), "method", name, scope, details);
    const { byReceiver } = this.builder.facts;
    byReceiver.set(receiver, [...(byReceiver.get(receiver) ?? []), made]);
    this.#callable(node, scope, made);
  }

  /** Returns the node of a type's name, without pointers and type arguments. */
  #baseOf(type: number): number {
    const syntax = this.#syntax;
    let at = type;
    for (;;)
      switch (syntax.type(at)) {
        case "pointer_type":
        case "parenthesized_type":
          at = syntax.first(at);
          break;
        case "generic_type":
          at = syntax.child(at, "type");
          break;
        default:
          return at;
      }
  }

  #partsOf(node: number): Details {
    const [resultNode, bodyNode] = [
      this.#syntax.child(node, "result"),
      this.#syntax.child(node, "body"),
    ];
    return { ...(resultNode >= 0 && { resultNode }), ...(bodyNode >= 0 && { bodyNode }) };
  }

  #callable(node: number, scope: Scope, definition?: Definition): void {
    const syntax = this.#syntax;
    const inner = this.builder.openFunction(node, scope, definition);
    this.#typeParameters(node, inner);
    const receiver = syntax.child(node, "receiver");
    this.#receiverParameters(receiver, inner);
    this.#parameters(receiver, inner);
    inner.taken = []; // a call does not pass the receiver
    this.#parameters(syntax.child(node, "parameters"), inner);
    const taken = inner.taken;
    this.#parameters(syntax.child(node, "result"), inner);
    inner.taken = taken.slice();
    const body = syntax.child(node, "body");
    if (body >= 0) this.visitAll(body, inner);
  }

  #typeParameters(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const parameters: Definition[] = [];
    for (const one of syntax.children(syntax.child(node, "type_parameters"))) {
      const typeNode = syntax.child(one, "type");
      const details = typeNode >= 0 ? { typeNode } : {};
      for (const name of syntax.inField(one, "name"))
        parameters.push(
          this.builder.define(syntax.textOf(name), "type parameter", name, scope, details),
        );
      this.visit(typeNode, scope);
    }
    if (parameters.length === 0) return;
    scope.parameters = parameters;
    if (scope.owner) scope.owner.parameters ??= parameters;
  }

  /** Declares the type parameters that a generic receiver names anew. */
  #receiverParameters(receiver: number, scope: Scope): void {
    const syntax = this.#syntax;
    let type = syntax.child(syntax.first(receiver), "type");
    if (syntax.type(type) === "pointer_type") type = syntax.first(type);
    if (syntax.type(type) !== "generic_type") return;
    for (const argument of syntax.children(syntax.child(type, "type_arguments"))) {
      const name = syntax.type(argument) === "type_elem" ? syntax.first(argument) : argument;
      if (syntax.type(name) === "type_identifier")
        (scope.parameters ??= []).push(
          this.builder.define(syntax.textOf(name), "type parameter", name, scope),
        );
    }
  }

  #parameters(list: number, scope: Scope): void {
    const syntax = this.#syntax;
    if (list < 0) return;
    if (syntax.type(list) !== "parameter_list") return this.visit(list, scope);
    const taken: Definition[] = [];
    for (const one of syntax.children(list)) {
      const typeNode = syntax.child(one, "type");
      const isVariadic = syntax.type(one) === "variadic_parameter_declaration";
      const details = {
        ...(typeNode >= 0 && { typeNode }),
        ...(isVariadic && { isVariadic, isRest: true }),
      };
      const names = syntax.inField(one, "name");
      for (const name of names)
        taken.push(this.builder.define(syntax.textOf(name), "parameter", name, scope, details));
      // a parameter without a name still has a position
      if (names.length === 0 && typeNode >= 0)
        taken.push({
          file: this.builder.facts,
          name: "",
          kind: "parameter",
          node: typeNode,
          scope,
          ...details,
        });
      this.visit(typeNode, scope);
    }
    scope.taken = taken;
  }

  #type(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const name = syntax.child(node, "name");
    const type = syntax.child(node, "type");
    const hasBody = ["struct_type", "interface_type"].includes(syntax.type(type));
    const definition = this.builder.define(syntax.textOf(name), "type", name, scope, {
      ...(!hasBody && { isAlias: true, typeNode: type }),
      ...(scope.kind !== "file" && { from: syntax.start(node) }),
    });
    const inner = this.builder.open(node, scope, "type", definition);
    this.#typeParameters(node, inner);
    if (hasBody) this.#body(type, inner, definition);
    else this.visit(type, inner);
  }

  #body(type: number, scope: Scope, owner: Definition): void {
    const syntax = this.#syntax;
    this.builder.facts.typeAt.set(type, owner);
    owner.supers = [];
    const list = syntax.type(type) === "struct_type" ? syntax.first(type) : type;
    for (const one of syntax.children(list))
      switch (syntax.type(one)) {
        case "field_declaration":
          this.#fields(one, scope, owner);
          break;
        case "method_elem": {
          const name = syntax.child(one, "name");
          const details = { owner, ...this.#partsOf(one) };
          const text = syntax.textOf(name);
          this.#callable(one, scope, this.builder.member(text, "method", name, scope, details));
          break;
        }
        case "type_elem": {
          const types = syntax.children(one);
          if (types.length === 1) owner.supers.push(types[0]!);
          this.visitAll(one, scope);
          break;
        }
        default:
          this.visit(one, scope);
      }
  }

  #fields(declaration: number, scope: Scope, owner: Definition): void {
    const syntax = this.#syntax;
    const typeNode = syntax.child(declaration, "type");
    const names = syntax.inField(declaration, "name");
    for (const name of names)
      this.builder.member(syntax.textOf(name), "field", name, scope, { owner, typeNode });
    if (names.length === 0 && typeNode >= 0) {
      // the name of an embedded type is also that of a field
      owner.supers!.push(typeNode);
      let base = this.#baseOf(typeNode);
      if (syntax.type(base) === "qualified_type") base = syntax.child(base, "name");
      const name = syntax.textOf(base);
      const { facts: file } = this.builder;
      this.builder.addMember(owner, {
        file,
        name,
        kind: "field",
        node: base,
        scope,
        owner,
        typeNode,
      });
    }
    this.visit(typeNode, scope);
  }

  #variables(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const names = syntax.inField(node, "name");
    const [typeNode, value] = [syntax.child(node, "type"), syntax.child(node, "value")];
    this.visit(typeNode, scope);
    this.visit(value, scope);
    const valueOf = this.#valuesOf(value, names.length);
    const from = scope.kind === "file" ? {} : { from: syntax.end(node) };
    for (const [i, name] of names.entries())
      if (syntax.textOf(name) !== "_")
        this.builder.define(syntax.textOf(name), "variable", name, scope, {
          ...(typeNode >= 0 ? { typeNode } : valueOf(i)),
          ...from,
        });
  }

  /** Returns what each of `count` names gets of the values on the right. */
  #valuesOf(right: number, count: number): (index: number) => Details {
    const values = this.#listed(right);
    return (i) => {
      if (values.length === count) return { values: [{ node: values[i]!, steps: [] }] };
      if (values.length !== 1) return {};
      return { values: [{ node: values[0]!, steps: [{ at: i }] }] };
    };
  }

  #listed(node: number): number[] {
    if (node < 0) return [];
    return this.#syntax.type(node) === "expression_list" ? this.#syntax.children(node) : [node];
  }

  #assignment(node: number, scope: Scope, type: string): void {
    const syntax = this.#syntax;
    const [left, right] = [syntax.child(node, "left"), syntax.child(node, "right")];
    this.visit(right, scope);
    if (left < 0) return;
    const isDeclared =
      type === "short_var_declaration" || syntax.between(left, right).includes(":=");
    if (!isDeclared) return this.visit(left, scope);
    const names = this.#listed(left);
    const valueOf = this.#valuesOf(right, names.length);
    for (const [i, name] of names.entries()) {
      if (type !== "range_clause") this.#declare(name, node, scope, valueOf(i));
      else {
        const steps = [i === 1 ? ELEMENT : RANGE_KEY];
        this.#declare(name, node, scope, { values: [{ node: right, steps }] });
      }
    }
  }

  /** Declares a name from the end of a statement on, unless the scope has the name already. */
  #declare(name: number, statement: number, scope: Scope, details: Details): void {
    const syntax = this.#syntax;
    if (syntax.type(name) !== "identifier") return this.visit(name, scope);
    const text = syntax.textOf(name);
    if (text === "_") return;
    const known = this.builder.bound(scope, text);
    if (known) this.builder.facts.againAt.set(name, known);
    else {
      const from = syntax.end(statement);
      this.builder.define(text, "variable", name, scope, { ...details, from });
    }
  }

  /** In each case with one type, the variable of the switch has this type. */
  #typeSwitch(node: number, scope: Scope): void {
    const syntax = this.#syntax;
    const inner = this.builder.open(node, scope, "block");
    this.visit(syntax.child(node, "initializer"), inner);
    const value = syntax.child(node, "value");
    this.visit(value, inner);
    const alias = syntax.child(node, "alias");
    const name = alias >= 0 ? syntax.first(alias) : NONE;
    const variable =
      name >= 0
        ? this.builder.define(syntax.textOf(name), "variable", name, inner, {
            values: [{ node: value, steps: [] }],
            from: syntax.end(value),
          })
        : undefined;
    for (const one of syntax.children(node)) {
      if (syntax.type(one) !== "type_case" && syntax.type(one) !== "default_case") continue;
      const own = this.builder.open(one, inner, "block");
      const types = syntax.inField(one, "type");
      if (variable && types.length === 1) {
        const { file, kind, name: text, node: at } = variable;
        const narrowed = { file, kind, name: text, node: at, scope: own, typeNode: types[0]! };
        this.builder.bind(own, text, narrowed);
      }
      this.visitAll(one, own);
    }
  }
}

/** Returns the name under which a package is usually imported. */
function usualPackage(path: string): string {
  const parts = path.split("/").filter((part) => part !== "");
  const isVersion = /^v\d+$/.test(parts.at(-1) ?? "") && parts.length > 1;
  const last = (isVersion ? parts.at(-2) : parts.at(-1)) ?? path;
  return last
    .replace(/\.v\d+$|[-.]go$/g, "")
    .replace(/^go-/, "")
    .replaceAll("-", "_");
}
