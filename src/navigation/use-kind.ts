/** Says what a place does with the name that stands there. The names of nodes are those of all languages with rules. */

import type { NavigationUse } from "./request.ts";
import type { Facts } from "./facts/facts.ts";
import { wordSet } from "./languages/word-set.ts";

const MEMBERS = new Map([
  ["member_expression", "property"],
  ["selector_expression", "field"],
  ["attribute", "attribute"],
]);
const CALLS = wordSet("call_expression call new_expression");
const CALLEES = wordSet("function constructor");
const ASSIGNMENTS = wordSet(
  "assignment_expression augmented_assignment_expression assignment augmented_assignment assignment_statement short_var_declaration",
);
const UPDATES = wordSet("update_expression inc_statement dec_statement");
const LISTS = wordSet("expression_list pattern_list tuple_pattern parenthesized_expression");
const TYPES = wordSet(
  "type_annotation type type_arguments type_parameters extends_clause implements_clause extends_type_clause type_alias_declaration generic_type qualified_type pointer_type slice_type parameter_declaration field_declaration",
);
const WRAPPERS = wordSet("type_instantiation_expression non_null_expression await_expression");

/** Returns the use of a name. REQUIRES: nothing is defined or imported there. */
export function useAt({ syntax, importAt }: Facts, node: number): NavigationUse {
  if (importAt.has(node)) return "import";
  let at = node;
  for (;;) {
    const parent = syntax.parent(at);
    const isMember = MEMBERS.get(syntax.type(parent)) === syntax.field(at);
    if (!isMember && !WRAPPERS.has(syntax.type(parent))) break;
    at = parent;
  }
  const parent = syntax.parent(at);
  const type = syntax.type(parent);
  const field = syntax.field(at);
  if (CALLS.has(type) && CALLEES.has(field)) return "call";
  if (type === "decorator") return "call";
  if (ASSIGNMENTS.has(type) && field === "left") return "write";
  if (UPDATES.has(type)) return "write";
  const holder = syntax.parent(parent);
  if (LISTS.has(type) && ASSIGNMENTS.has(syntax.type(holder)) && syntax.field(parent) === "left")
    return "write";
  if (syntax.type(node) === "type_identifier") return "type";
  return TYPES.has(type) && field !== "value" && field !== "name" ? "type" : "read";
}
