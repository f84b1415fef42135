/** The rules of Go: what its nodes mean, and where its packages are. go-facts.ts reads what a file declares. */

import { posix } from "node:path";
import { ELEMENT, isImport, type Facts, type Step } from "../facts/facts.ts";
import type { Module, Modules } from "../facts/modules.ts";
import type { Role, Rules, Shape } from "../facts/rules.ts";
import { readGo } from "./go-facts.ts";
import { wordSet } from "./word-set.ts";

const LITERALS = wordSet(
  "interpreted_string_literal raw_string_literal int_literal float_literal imaginary_literal rune_literal true false nil iota",
);
/** Functions of the language whose results have no members. */
const PLAIN_FUNCTIONS = wordSet("len cap copy delete close print println panic recover real imag");
const COMPARISONS = wordSet("== != < > <= >= && ||");

function shape({ syntax, typeAt }: Facts, node: number): Shape {
  const type = syntax.type(node);
  if (LITERALS.has(type)) return { is: "builtin" };
  switch (type) {
    case "identifier":
    case "type_identifier":
    case "package_identifier":
      return { is: "name", name: syntax.textOf(node), node };
    case "selector_expression":
      return {
        is: "member",
        object: syntax.child(node, "operand"),
        name: syntax.textOf(syntax.child(node, "field")),
      };
    case "qualified_type":
      return {
        is: "member",
        object: syntax.child(node, "package"),
        name: syntax.textOf(syntax.child(node, "name")),
      };
    case "call_expression": {
      const callee = syntax.child(node, "function");
      const list = syntax.child(node, "arguments");
      const first = syntax.first(list);
      const name = syntax.type(callee) === "identifier" ? syntax.textOf(callee) : "";
      if ((name === "new" || name === "make") && first >= 0) return { is: "typed", type: first };
      if (["append", "min", "max"].includes(name) && first >= 0) return { is: "same", of: first };
      if (PLAIN_FUNCTIONS.has(name)) return { is: "builtin" };
      return { is: "call", callee, ...(list >= 0 && { list }) };
    }
    case "type_conversion_expression":
    case "composite_literal":
    case "type_assertion_expression":
      return { is: "typed", type: syntax.child(node, "type") };
    case "unary_expression": {
      const operand = syntax.child(node, "operand");
      const operator = syntax.text[syntax.start(node)];
      if (operator === "<") return { is: "part", of: operand, step: ELEMENT };
      return operator === "&" || operator === "*" ? { is: "same", of: operand } : { is: "builtin" };
    }
    case "index_expression":
      return { is: "part", of: syntax.child(node, "operand"), step: ELEMENT };
    case "slice_expression":
      return { is: "same", of: syntax.child(node, "operand") };
    case "parenthesized_expression":
    case "parenthesized_type":
    case "pointer_type":
    case "type_constraint":
    case "type_elem":
    case "literal_element":
    case "variadic_argument":
    case "type_instantiation_expression":
    case "expression_list":
      return { is: "same", of: syntax.first(node) };
    case "slice_type":
    case "array_type":
    case "implicit_length_array_type":
      return { is: "list", element: syntax.child(node, "element") };
    case "channel_type":
      return { is: "list", element: syntax.child(node, "value") };
    case "map_type":
      return { is: "map", value: syntax.child(node, "value") };
    case "generic_type":
      return {
        is: "generic",
        base: syntax.child(node, "type"),
        of: syntax.children(syntax.child(node, "type_arguments")),
      };
    case "struct_type":
    case "interface_type": {
      const definition = typeAt.get(node);
      return definition ? { is: "record", definition, isType: false } : { is: "unknown" };
    }
    case "func_literal":
    case "function_type":
      return {
        is: "function",
        node,
        result: syntax.child(node, "result"),
        body: syntax.child(node, "body"),
        isAsync: false,
      };
    case "parameter_list":
      return { is: "tuple", of: syntax.children(node).flatMap((one) => resultTypes(syntax, one)) };
    case "binary_expression": {
      const left = syntax.child(node, "left");
      const operator = syntax.between(left, syntax.child(node, "right")).trim();
      return COMPARISONS.has(operator) ? { is: "builtin" } : { is: "same", of: left };
    }
    default:
      return { is: "unknown" };
  }
}

/** Returns the type of a result once for each of its names. */
function resultTypes(syntax: Facts["syntax"], parameter: number): number[] {
  const type = syntax.child(parameter, "type");
  const names = syntax.inField(parameter, "name").length;
  return Array.from({ length: Math.max(1, names) }, () => type);
}

function role(facts: Facts, node: number): Role {
  const { syntax } = facts;
  const definition = facts.definitionAt.get(node);
  if (definition) return { is: "definition", definition };
  if (facts.importAt.has(node)) return { is: "nothing" };
  const parent = syntax.parent(node);
  const field = syntax.field(node);
  switch (syntax.type(parent)) {
    case "selector_expression":
      if (field === "field") return { is: "member", object: syntax.child(parent, "operand") };
      break;
    case "qualified_type":
      if (field === "name") return { is: "member", object: syntax.child(parent, "package") };
      break;
    case "package_clause":
    case "import_spec":
    case "labeled_statement":
    case "label_name":
      return { is: "nothing" };
    case "literal_element": {
      const keyed = syntax.parent(parent);
      if (syntax.type(keyed) === "keyed_element" && syntax.first(keyed) === parent)
        return keyRole(facts, keyed);
    }
  }
  return { is: "name", isType: syntax.type(node) === "type_identifier" };
}

/** A key of a composite literal is a field if the literal's type is a struct. Literals in it may omit their type. */
function keyRole({ syntax }: Facts, keyed: number): Role {
  const steps: Step[] = [];
  let value = syntax.parent(keyed);
  for (;;) {
    const holder = syntax.parent(value);
    if (syntax.type(holder) === "composite_literal") {
      const container = syntax.child(holder, "type");
      return { is: "key", container, by: "type", steps, isNameInMap: true };
    }
    if (syntax.type(holder) !== "literal_element") return { is: "nothing" };
    const above = syntax.parent(holder);
    if (syntax.type(above) === "keyed_element") {
      const key = syntax.first(syntax.first(above));
      const isField = syntax.type(key) === "identifier";
      steps.unshift(isField ? { key: syntax.textOf(key) } : ELEMENT);
      value = syntax.parent(above);
    } else {
      steps.unshift(ELEMENT);
      value = above;
    }
  }
}

// ── packages ──

function filesOf(modules: Modules, folder: string): readonly Facts[] {
  return modules.memo(`go folder ${folder}`, () =>
    modules
      .inFolder(folder)
      .filter((path) => path.endsWith(".go"))
      .flatMap((path) => modules.facts(path) ?? []),
  );
}

const packageFiles: Rules["packageFiles"] = (modules, from) =>
  modules.memo(`go package ${from.path}`, () =>
    filesOf(modules, posix.dirname(from.path)).filter(
      ({ packageName }) => packageName === from.packageName,
    ),
  );

/** Returns the module paths of all go.mod files with their folders, the longest path first. */
const goModules = (modules: Modules): readonly (readonly [path: string, folder: string])[] =>
  modules.memo("go modules", () =>
    modules
      .named("go.mod")
      .flatMap((path) => {
        const name = /^module\s+"?([^\s"]+)/m.exec(modules.text(path))?.[1];
        return name === undefined ? [] : [[name, posix.dirname(path)] as const];
      })
      .sort(([a], [b]) => b.length - a.length),
  );

const module: Rules["module"] = (modules, _, specifier) =>
  modules.memo(`go module ${specifier}`, () => findPackage(modules, specifier));

function findPackage(modules: Modules, specifier: string): Module | undefined {
  for (const [name, folder] of goModules(modules)) {
    // the module of the language's library is called std, which no import names
    const isOwn = name === "std" || specifier === name || specifier.startsWith(`${name}/`);
    if (!isOwn) continue;
    const below = name === "std" ? specifier : specifier.slice(name.length + 1);
    const files = filesOf(modules, posix.join(folder, below)).filter(
      ({ path, packageName }) => !path.endsWith("_test.go") && packageName !== "main",
    );
    if (files.length > 0) return { files };
  }
  return undefined;
}

export const go: Rules = {
  languages: ["Go"],
  extensions: [".go"],
  grammar: () => "@vscode/tree-sitter-wasm/wasm/tree-sitter-go.wasm",
  identifiers: wordSet("identifier type_identifier field_identifier package_identifier"),
  comments: wordSet("comment"),
  strings: wordSet(
    "interpreted_string_literal raw_string_literal interpreted_string_literal_content raw_string_literal_content rune_literal",
  ),
  read: readGo,
  shape,
  role,
  module,
  packageFiles,
  sees: () => true,
  fits: () => true,
  isStarVisible: true,
  isTyped: true,
  libraryMembers: wordSet(
    "Error String Close Read Write Len Less Swap Name Type Value Add Done Wait Lock Unlock RLock RUnlock Get Set Header Body Method URL Path Context Run Fatal Fatalf Errorf Log Logf Helper Print Printf Println WriteString Bytes Reset Next Scan Now Sub Unix Format Parse Host Query Status StatusCode Do Err Cancel Load Store Delete Range Encode Decode Marshal Unmarshal Info Debug Warn Is As Unwrap",
  ),
  containers: new Map(),
  constructors: [],
  returns: wordSet("return_statement"),
  functions: wordSet("func_literal function_declaration method_declaration"),
  blocks: wordSet("block"),
};

/** Returns the definitions of a package's own names. */
export const ownNames = (facts: Facts, name: string) =>
  (facts.scopes[0]!.names.get(name) ?? []).filter((one) => !isImport(one));
