/** Says which type the place of a value expects, so that keys of literals and parameters of callbacks have types. */

import { ELEMENT, type Definition, type Facts } from "../facts/facts.ts";
import type { Expectation } from "../facts/rules.ts";
import type { Syntax } from "../facts/syntax.ts";
import { isAsync } from "./typescript-facts.ts";
import { wordSet } from "./word-set.ts";

const RETURNING = wordSet(
  "arrow_function function_expression function_declaration method_definition",
);
const LITERALS = wordSet("arrow_function function_expression");
const LISTS = wordSet("formal_parameters arrow_function");

/** Returns what the place of a node expects of its value. */
export function expectation({ syntax }: Facts, node: number): Expectation | undefined {
  const parent = syntax.parent(node);
  const field = syntax.field(node);
  switch (syntax.type(parent)) {
    case "variable_declarator":
    case "public_field_definition":
    case "required_parameter":
    case "optional_parameter": {
      const type = syntax.child(parent, "type");
      return field === "value" && type >= 0 ? { is: "type", node: type } : undefined;
    }
    case "as_expression":
    case "satisfies_expression": {
      const type = syntax.next(syntax.first(parent));
      return type >= 0 && type !== node ? { is: "type", node: type } : { is: "same", node: parent };
    }
    case "arguments":
      return argument(syntax, parent, node);
    case "pair": {
      if (field !== "value") return undefined;
      const key = syntax.textOf(syntax.child(parent, "key")).replace(/^["']|["']$/g, "");
      return { is: "part", holder: syntax.parent(parent), step: { key } };
    }
    case "spread_element":
      return undefined;
    case "array":
      return { is: "part", holder: parent, step: ELEMENT };
    case "parenthesized_expression":
    case "await_expression":
      return { is: "same", node: parent };
    case "ternary_expression":
      return field === "condition" ? undefined : { is: "same", node: parent };
    case "binary_expression": {
      const operator = syntax
        .between(syntax.child(parent, "left"), syntax.child(parent, "right"))
        .trim();
      return /^(?:\|\||&&|\?\?)$/.test(operator) ? { is: "same", node: parent } : undefined;
    }
    case "assignment_expression":
      return field === "right" ? { is: "like", node: syntax.child(parent, "left") } : undefined;
    case "arrow_function":
      return field === "body" ? returned(syntax, parent) : undefined;
    case "return_statement":
      return returned(syntax, syntax.above(parent, RETURNING));
    case "jsx_expression": {
      const attribute = syntax.parent(parent);
      if (syntax.type(attribute) !== "jsx_attribute") return undefined;
      const key = syntax.textOf(syntax.first(attribute));
      return { is: "part", holder: attribute, step: { key } };
    }
    default:
      return undefined;
  }
}

function argument(syntax: Syntax, list: number, node: number): Expectation | undefined {
  const caller = syntax.parent(list);
  const isNew = syntax.type(caller) === "new_expression";
  if (!isNew && syntax.type(caller) !== "call_expression") return undefined;
  const types = syntax.child(caller, "type_arguments");
  return {
    is: "argument",
    callee: syntax.child(caller, isNew ? "constructor" : "function"),
    index: syntax.index(node),
    isNew,
    list,
    ...(types >= 0 && { types: syntax.children(types) }),
  };
}

function returned(syntax: Syntax, callable: number): Expectation | undefined {
  if (callable < 0) return undefined;
  const type = syntax.child(callable, "return_type");
  if (type < 0)
    return LITERALS.has(syntax.type(callable)) ? { is: "result", literal: callable } : undefined;
  return isAsync(syntax, callable) ? { is: "promised", node: type } : { is: "type", node: type };
}

/** Returns the function literal of a parameter without a type, and the parameter's position. */
export function literalOf({ syntax }: Facts, parameter: Definition) {
  let at = parameter.node;
  let holder = syntax.parent(at);
  while (holder >= 0 && !LISTS.has(syntax.type(holder))) {
    at = holder;
    holder = syntax.parent(at);
  }
  if (holder < 0) return undefined;
  const isBare = syntax.type(holder) === "arrow_function";
  const literal = isBare ? holder : syntax.parent(holder);
  if (!LITERALS.has(syntax.type(literal))) return undefined;
  return { literal, index: isBare ? 0 : syntax.index(at) };
}
