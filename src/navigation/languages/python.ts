/** The rules of Python: what its nodes mean, and where its modules are. python-facts.ts reads what a file declares. */

import { posix } from "node:path";
import type { Facts } from "../facts/facts.ts";
import type { Module, Modules } from "../facts/modules.ts";
import type { Container, Role, Rules, Shape } from "../facts/rules.ts";
import { readPython } from "./python-facts.ts";
import { wordSet } from "./word-set.ts";

const LITERALS = wordSet(
  "integer float true false none concatenated_string comparison_operator not_operator unary_operator dictionary_comprehension",
);
const IDENTIFIER = /^[A-Za-z_]\w*$/;

function shape({ syntax }: Facts, node: number): Shape {
  const type = syntax.type(node);
  if (LITERALS.has(type)) return { is: "builtin" };
  switch (type) {
    case "identifier":
      return { is: "name", name: syntax.textOf(node), node };
    case "attribute":
      return {
        is: "member",
        object: syntax.child(node, "object"),
        name: syntax.textOf(syntax.child(node, "attribute")),
      };
    case "dotted_name":
      return syntax.children(node).length === 1
        ? { is: "name", name: syntax.textOf(node), node }
        : { is: "unknown" };
    case "call":
      return call(syntax, node);
    case "subscript":
      return {
        is: "generic",
        base: syntax.child(node, "value"),
        of: syntax.inField(node, "subscript"),
      };
    case "generic_type":
      return {
        is: "generic",
        base: syntax.first(node),
        of: syntax.children(syntax.ofType(node, "type_parameter")),
      };
    case "member_type": {
      const object = syntax.first(node);
      return { is: "member", object, name: syntax.textOf(syntax.next(object)) };
    }
    case "union_type":
      return { is: "either", of: syntax.children(node) };
    case "type":
    case "parenthesized_expression":
    case "as_pattern":
      return { is: "same", of: syntax.first(node) };
    case "named_expression":
      return { is: "same", of: syntax.child(node, "value") };
    case "await":
      return { is: "await", of: syntax.first(node) };
    case "conditional_expression": {
      const [then, , otherwise] = syntax.children(node);
      return { is: "either", of: [then!, otherwise ?? then!] };
    }
    case "boolean_operator":
      return { is: "either", of: [syntax.child(node, "left"), syntax.child(node, "right")] };
    case "binary_operator": {
      const [left, right] = [syntax.child(node, "left"), syntax.child(node, "right")];
      const isUnion = syntax.between(left, right).trim() === "|";
      return isUnion ? { is: "either", of: [left, right] } : { is: "same", of: left };
    }
    case "string": {
      // a type may be written as a text
      const text = syntax.textOf(node).replace(/^["']|["']$/g, "");
      return IDENTIFIER.test(text) ? { is: "name", name: text, node } : { is: "builtin" };
    }
    case "list":
    case "set": {
      const first = syntax.first(node);
      return first >= 0 ? { is: "list", element: first } : { is: "builtin" };
    }
    case "list_comprehension":
    case "set_comprehension":
    case "generator_expression":
      return { is: "list", element: syntax.child(node, "body") };
    case "tuple":
    case "expression_list":
      return { is: "tuple", of: syntax.children(node) };
    case "dictionary": {
      const pair = syntax.ofType(node, "pair");
      return pair >= 0 ? { is: "map", value: syntax.child(pair, "value") } : { is: "builtin" };
    }
    case "lambda":
      return { is: "function", node, result: -1, body: syntax.child(node, "body"), isAsync: false };
    default:
      return { is: "unknown" };
  }
}

function call(syntax: Facts["syntax"], node: number): Shape {
  const callee = syntax.child(node, "function");
  const list = syntax.child(node, "arguments");
  const first = syntax.first(list);
  const name = syntax.textOf(callee);
  if (name === "super") return { is: "super" };
  if (name === "type" && first >= 0) return { is: "unknown" };
  if (/^(?:(?:t|typing)\.)?cast$/.test(name) && first >= 0) return { is: "typed", type: first };
  return { is: "call", callee, ...(list >= 0 && { list }) };
}

const IMPORTS = wordSet(
  "import_statement import_from_statement aliased_import relative_import future_import_statement",
);

function role(facts: Facts, node: number): Role {
  const { syntax } = facts;
  const parent = syntax.parent(node);
  const field = syntax.field(node);
  const holder = syntax.type(parent);
  if (syntax.type(node) === "string_content") {
    const isType = syntax.type(syntax.parent(parent)) === "type";
    return isType && IDENTIFIER.test(syntax.textOf(node))
      ? { is: "name", isType: true }
      : { is: "nothing" };
  }
  const definition = facts.definitionAt.get(node);
  if (definition) return { is: "definition", definition };
  if (holder === "attribute" && field === "attribute")
    return { is: "member", object: syntax.child(parent, "object") };
  if (holder === "keyword_argument" && field === "name") {
    const caller = syntax.parent(syntax.parent(parent));
    if (syntax.type(caller) !== "call") return { is: "nothing" };
    return { is: "argument", callee: syntax.child(caller, "function") };
  }
  if (holder === "keyword_pattern") return { is: "nothing" };
  if (facts.importAt.has(node)) return { is: "import" };
  if (holder === "dotted_name" && IMPORTS.has(syntax.type(syntax.parent(parent))))
    return { is: "nothing" };
  return { is: "name" };
}

// ── modules ──

function moduleAt(modules: Modules, path: string): Module | undefined {
  for (const one of [`${path}.py`, `${path}.pyi`]) {
    const facts = modules.facts(one);
    if (facts) return { files: [facts] };
  }
  for (const name of ["__init__.py", "__init__.pyi"]) {
    const facts = modules.facts(posix.join(path, name));
    if (facts) return { files: [facts], folder: path };
  }
  const isFolder = path !== "" && path !== "." && modules.hasFolder(path);
  return isFolder ? { files: [], folder: path } : undefined;
}

/** Returns the folders in which absolute imports may begin: those around the file, and usual folders of sources. */
const rootsOf = (modules: Modules, { path }: Facts): readonly string[] =>
  modules.memo(`python roots ${posix.dirname(path)}`, () => {
    const roots: string[] = [];
    for (let at = posix.dirname(path); ; at = posix.dirname(at)) {
      if (!modules.has(posix.join(at, "__init__.py"))) roots.push(at);
      if (at === "." || at === "/") return [...roots, "src", "lib", "python"];
    }
  });

const module: Rules["module"] = (modules, from, specifier) =>
  modules.memo(`python module ${posix.dirname(from.path)} ${specifier}`, () => {
    const dots = /^\.*/.exec(specifier)![0].length;
    const parts = specifier
      .slice(dots)
      .split(".")
      .filter((part) => part !== "");
    if (dots === 0) {
      for (const root of rootsOf(modules, from)) {
        const found = moduleAt(modules, posix.join(root, ...parts));
        if (found) return found;
      }
      return undefined;
    }
    let folder = posix.dirname(from.path);
    for (let i = 1; i < dots; i++) folder = posix.dirname(folder);
    return moduleAt(modules, posix.join(folder, ...parts));
  });

const LISTS =
  "List list Sequence MutableSequence Iterable Iterator Generator Set set frozenset FrozenSet AbstractSet ValuesView KeysView Collection deque Deque AsyncIterator AsyncIterable AsyncGenerator";
const containers = new Map<string, Container>([
  ...LISTS.split(" ").map((name) => [name, "list"] as const),
  ...["tuple", "Tuple"].map((name) => [name, "tuple"] as const),
  ...["Dict", "dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict"].map(
    (name) => [name, "map"] as const,
  ),
  ...["Optional", "Annotated", "Final", "ClassVar", "Type", "type", "Required", "NotRequired"].map(
    (name) => [name, "same"] as const,
  ),
  ["Union", "either"],
  ["Awaitable", "promise"],
]);

export const python: Rules = {
  languages: ["Python"],
  extensions: [".py", ".pyi"],
  grammar: () => "@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm",
  identifiers: wordSet("identifier string_content"),
  comments: wordSet("comment"),
  strings: wordSet("string string_content string_start string_end"),
  read: readPython,
  shape,
  role,
  module,
  submodule: (modules, { folder }, name) =>
    folder === undefined ? undefined : moduleAt(modules, posix.join(folder, name)),
  sees: (scope, from) => scope.kind !== "type" || scope === from,
  fits: () => true,
  isStarVisible: true,
  isTyped: false,
  libraryMembers: wordSet(
    "append extend insert remove pop clear index count sort reverse copy keys values items get update setdefault add discard union split rsplit join strip lstrip rstrip replace startswith endswith lower upper format encode decode find rfind read write readline readlines close flush seek tell open name path exists mkdir group groups match search sub start end args kwargs message code data url method status host port json text content headers type value id size time date year month day now run wait send recv call result set done cancel put connect execute commit",
  ),
  containers,
  constructors: ["__init__"],
  returns: wordSet("return_statement"),
  functions: wordSet("function_definition lambda class_definition"),
  blocks: wordSet("block"),
};
