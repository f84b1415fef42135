/**
 * The rules of TypeScript and JavaScript: what their nodes mean. typescript-facts.ts reads what a file declares,
 * typescript-modules.ts finds what a specifier means, and typescript-expectations.ts what a place expects.
 */

import type { Facts, Step } from "../facts/facts.ts";
import { ELEMENT } from "../facts/facts.ts";
import type { Container, KeyRole, Role, Rules, Shape } from "../facts/rules.ts";
import type { Syntax } from "../facts/syntax.ts";
import { expectation, literalOf } from "./typescript-expectations.ts";
import { isAsync, readTypescript } from "./typescript-facts.ts";
import { typescriptModule } from "./typescript-modules.ts";
import { reword } from "./typescript-rewording.ts";
import { wordSet } from "./word-set.ts";

const LITERALS = wordSet(
  "string template_string number true false regex literal_type null undefined template_literal_type unary_expression update_expression",
);
/** Nodes that have the value or type of their first child. */
const WRAPPERS = wordSet(
  "parenthesized_expression non_null_expression type_annotation readonly_type parenthesized_type satisfies_expression optional_type rest_type instantiation_expression spread_element constraint default_type",
);
const FUNCTIONS = wordSet("arrow_function function_expression generator_function function_type");

function shape(facts: Facts, node: number): Shape {
  const { syntax, typeAt } = facts;
  const type = syntax.type(node);
  if (LITERALS.has(type)) return { is: "builtin" };
  if (WRAPPERS.has(type)) return { is: "same", of: syntax.first(node) };
  if (FUNCTIONS.has(type))
    return {
      is: "function",
      node,
      result: syntax.child(node, "return_type"),
      body: syntax.child(node, "body"),
      isAsync: isAsync(syntax, node),
    };
  switch (type) {
    case "identifier":
    case "type_identifier":
    case "shorthand_property_identifier":
      return { is: "name", name: syntax.textOf(node), node };
    case "predefined_type":
      // a value of these types may have any type
      return { is: /^(?:any|unknown|object)$/.test(syntax.textOf(node)) ? "unknown" : "builtin" };
    case "this":
    case "this_type":
      return { is: "self" };
    case "super":
      return { is: "super" };
    case "member_expression":
    case "nested_identifier":
      return {
        is: "member",
        object: syntax.child(node, "object"),
        name: syntax.textOf(syntax.child(node, "property")),
      };
    case "nested_type_identifier":
      return {
        is: "member",
        object: syntax.child(node, "module"),
        name: syntax.textOf(syntax.child(node, "name")),
      };
    case "subscript_expression": {
      const [of, index] = [syntax.child(node, "object"), syntax.child(node, "index")];
      return { is: "part", of, step: stepOf(syntax, index) };
    }
    case "lookup_type": {
      const of = syntax.first(node);
      return { is: "part", of, step: stepOf(syntax, syntax.next(of)) };
    }
    case "call_expression":
      return call(syntax, node);
    case "new_expression": {
      const types = syntax.child(node, "type_arguments");
      return {
        is: "new",
        type: syntax.child(node, "constructor"),
        ...(types >= 0 && { types: syntax.children(types) }),
      };
    }
    case "await_expression":
      return { is: "await", of: syntax.first(node) };
    case "as_expression": {
      const target = syntax.next(syntax.first(node));
      // `as const` has no type
      return target >= 0 ? { is: "typed", type: target } : { is: "same", of: syntax.first(node) };
    }
    case "type_assertion":
      return { is: "typed", type: syntax.first(syntax.first(node)) };
    case "object":
    case "object_type":
    case "class": {
      const definition = typeAt.get(node);
      if (!definition) return { is: "unknown" };
      return { is: "record", definition, isType: type === "class" };
    }
    case "array": {
      const first = syntax.first(node);
      return first >= 0 ? { is: "list", element: first } : { is: "builtin" };
    }
    case "ternary_expression": {
      const of = [syntax.child(node, "consequence"), syntax.child(node, "alternative")];
      return { is: "either", of };
    }
    case "binary_expression":
      return binary(syntax, node);
    case "assignment_expression":
      return { is: "same", of: syntax.child(node, "right") };
    case "generic_type":
      return {
        is: "generic",
        base: syntax.child(node, "name"),
        of: syntax.children(syntax.ofType(node, "type_arguments")),
      };
    case "extends_clause":
      return {
        is: "generic",
        base: syntax.child(node, "value"),
        of: syntax.children(syntax.child(node, "type_arguments")),
      };
    case "array_type":
      return { is: "list", element: syntax.first(node) };
    case "tuple_type":
      return { is: "tuple", of: syntax.children(node) };
    case "union_type":
      return { is: "either", of: syntax.children(node) };
    case "intersection_type":
      return { is: "all", of: syntax.children(node) };
    case "conditional_type":
      return {
        is: "either",
        of: [syntax.child(node, "consequence"), syntax.child(node, "alternative")],
      };
    case "type_query":
      return { is: "type of", of: syntax.first(node) };
    case "type_predicate":
    case "asserts":
      return { is: "builtin" };
    default:
      return { is: "unknown" };
  }
}

/** Returns the step to a member that is written in brackets. */
function stepOf(syntax: Syntax, index: number): Step {
  const key = /^["'](.*)["']$/.exec(syntax.textOf(index))?.[1];
  return key === undefined ? ELEMENT : { key };
}

function call(syntax: Syntax, node: number): Shape {
  const callee = syntax.child(node, "function");
  const list = syntax.child(node, "arguments");
  const first = syntax.first(list);
  const name = syntax.textOf(callee);
  const isModule = (name === "import" || name === "require") && syntax.type(first) === "string";
  if (isModule) return { is: "module", module: syntax.textOf(first).slice(1, -1) };
  const types = syntax.child(node, "type_arguments");
  return {
    is: "call",
    callee,
    ...(list >= 0 && { list }),
    ...(types >= 0 && { types: syntax.children(types) }),
  };
}

function binary(syntax: Syntax, node: number): Shape {
  const [left, right] = [syntax.child(node, "left"), syntax.child(node, "right")];
  switch (syntax.between(left, right).trim()) {
    case "&&":
      return { is: "same", of: right };
    case "||":
    case "??":
      return { is: "either", of: [left, right] };
    default:
      return { is: "builtin" };
  }
}

function role(facts: Facts, node: number): Role {
  const { syntax } = facts;
  const type = syntax.type(node);
  const parent = syntax.parent(node);
  const holder = syntax.type(parent);
  const field = syntax.field(node);
  const definition = facts.definitionAt.get(node);
  if (definition) {
    const isKey =
      (holder === "pair" && field === "key") ||
      (holder === "method_definition" && syntax.type(syntax.parent(parent)) === "object");
    const also: KeyRole | undefined = isKey
      ? { is: "key", container: syntax.parent(parent), by: "expected" }
      : type === "shorthand_property_identifier_pattern"
        ? patternKey(syntax, node)
        : undefined;
    return { is: "definition", definition, ...(also && { also }) };
  }
  if (facts.importAt.has(node)) return { is: "import" };
  switch (holder) {
    case "member_expression":
    case "nested_identifier":
      if (field === "property") return { is: "member", object: syntax.child(parent, "object") };
      break;
    case "nested_type_identifier":
      if (field === "name") return { is: "member", object: syntax.child(parent, "module") };
      break;
    case "pair":
      if (field === "key") return { is: "key", container: syntax.parent(parent), by: "expected" };
      break;
    case "pair_pattern":
      if (field === "key") return patternKey(syntax, parent) ?? { is: "nothing" };
      break;
    case "export_specifier": {
      if (field === "alias") return { is: "nothing" };
      const source = syntax.child(syntax.parent(syntax.parent(parent)), "source");
      if (source < 0) return { is: "name" };
      return { is: "exported", module: syntax.textOf(source).slice(1, -1) };
    }
    case "jsx_attribute": {
      const element = syntax.child(syntax.parent(parent), "name");
      const isComponent = /^[A-Z]/.test(syntax.textOf(element));
      return isComponent ? { is: "property", callee: element } : { is: "nothing" };
    }
    case "import_specifier":
      return { is: "import" };
    case "namespace_export":
    case "method_definition":
    case "labeled_statement":
    case "meta_property":
      return { is: "nothing" };
  }
  const isTag = /^jsx_(?:opening|closing|self_closing)_element$/.test(holder);
  if (isTag && /^[a-z]/.test(syntax.textOf(node))) return { is: "nothing" };
  if (type === "shorthand_property_identifier")
    return { is: "name", also: { is: "key", container: parent, by: "expected" } };
  return { is: "name", isType: type === "type_identifier" };
}

/** Finds what a key in a pattern is taken of: the value that the pattern takes apart, after some steps. */
function patternKey(syntax: Syntax, member: number): KeyRole | undefined {
  const steps: Step[] = [];
  let at = syntax.parent(member);
  if (syntax.type(at) === "object_assignment_pattern") at = syntax.parent(at);
  for (;;) {
    const holder = syntax.parent(at);
    switch (syntax.type(holder)) {
      case "pair_pattern":
        steps.unshift({ key: syntax.textOf(syntax.child(holder, "key")) });
        at = syntax.parent(holder);
        break;
      case "array_pattern":
        steps.unshift({ at: syntax.index(at) });
        at = holder;
        break;
      case "assignment_pattern":
      case "object_assignment_pattern":
        at = holder;
        break;
      case "variable_declarator":
      case "required_parameter":
      case "optional_parameter": {
        const [typeNode, value] = [syntax.child(holder, "type"), syntax.child(holder, "value")];
        if (typeNode >= 0) return { is: "key", container: typeNode, by: "type", steps };
        if (value >= 0) return { is: "key", container: value, by: "value", steps };
        // the parameter of a callback has the type that the place of the callback expects
        return { is: "key", container: at, by: "expected", steps };
      }
      case "for_in_statement": {
        const container = syntax.child(holder, "right");
        return { is: "key", container, by: "value", steps: [ELEMENT, ...steps] };
      }
      default:
        return undefined;
    }
  }
}

const LISTS =
  "Array ReadonlyArray Set ReadonlySet Iterable Iterator IterableIterator Generator AsyncGenerator AsyncIterable AsyncIterableIterator ArrayLike";
const SAME =
  "Partial Required Readonly NonNullable Omit Pick InstanceType Awaited Exclude Extract Mutable";
const containers = new Map<string, Container>([
  ...LISTS.split(" ").map((name) => [name, "list"] as const),
  ...SAME.split(" ").map((name) => [name, "same"] as const),
  ...["Map", "ReadonlyMap", "Record", "WeakMap"].map((name) => [name, "map"] as const),
  ...["Promise", "PromiseLike"].map((name) => [name, "promise"] as const),
]);

export const typescript: Rules = {
  languages: ["TypeScript", "TSX", "JavaScript"],
  extensions: [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"],
  grammar: (path) =>
    /\.[cm]?ts$/.test(path)
      ? "@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm"
      : "@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm",
  identifiers: wordSet(
    "identifier type_identifier property_identifier shorthand_property_identifier shorthand_property_identifier_pattern private_property_identifier",
  ),
  comments: wordSet("comment"),
  strings: wordSet("string template_string string_fragment regex regex_pattern"),
  reword,
  read: readTypescript,
  shape,
  role,
  expectation,
  literalOf,
  module: typescriptModule,
  sees: () => true,
  fits: ({ kind, isTypeOnly }, isType) => {
    if (kind === "module") return true;
    if (kind === "type parameter") return isType;
    return isType ? kind === "type" : !isTypeOnly;
  },
  isStarVisible: false,
  isTyped: false,
  libraryMembers: wordSet(
    "constructor toString valueOf length name message stack cause push pop shift unshift slice splice map filter forEach find findIndex some every reduce includes indexOf join concat sort reverse flat flatMap keys values entries get set has delete add clear size then catch finally next return throw call apply bind test exec match replace split trim startsWith endsWith at charCodeAt padStart padEnd toLowerCase toUpperCase parse stringify log error warn info text json body headers status method url type value key data on off emit once close open write read end pipe abort signal ok path host port search hash href origin",
  ),
  containers,
  constructors: ["constructor"],
  returns: wordSet("return_statement"),
  functions: wordSet(
    "arrow_function function_expression function_declaration generator_function generator_function_declaration method_definition class_declaration class",
  ),
  blocks: wordSet("statement_block"),
};
