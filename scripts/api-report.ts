/**
 * Writes the public surface as text, etc/quern.api.md, so that a change of it is a readable diff.
 * `npm run api-report` runs this; a test fails if the file is not up to date.
 *
 * For each entry point of the package, lists what it exports, by name, as the compiler declares it, without comments.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
export const REPORT = resolve(root, "etc/quern.api.md");

/** The source of each entry that package.json exports, by the name under which hosts import it. */
const ENTRIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(
    (JSON.parse(readFileSync(resolve(root, "package.json"), "utf8")) as { exports: object })
      .exports,
  )
    .filter((path) => !path.endsWith(".json"))
    .sort()
    .map((path) => [path.replace(/^\./, "quern"), sourceOf(path.slice(2))]),
);

function sourceOf(name: string): string {
  const file = `src/${name === "" ? "index" : name}.ts`;
  return existsSync(resolve(root, file)) ? file : `src/${name}/index.ts`;
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  types: ["node"],
  module: ts.ModuleKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  declaration: true,
  emitDeclarationOnly: true,
  removeComments: true,
};

export interface PublicEntry {
  /** The name under which hosts import it, such as `quern/http`. */
  readonly name: string;
  readonly symbols: readonly ts.Symbol[];
}

export interface PublicSurface {
  readonly program: ts.Program;
  readonly entries: readonly PublicEntry[];
}

/** Returns what the package exports, with the compiler's program. */
export function publicEntries(): PublicSurface {
  const program = ts.createProgram(
    Object.values(ENTRIES).map((entry) => resolve(root, entry)),
    OPTIONS,
  );
  const entries = Object.entries(ENTRIES).map(([name, entry]) => ({
    name,
    symbols: exportsOf(program, resolve(root, entry)),
  }));
  return { program, entries };
}

export async function apiReport({ program, entries }: PublicSurface): Promise<string> {
  const missing = undeclared({ program, entries });
  if (missing.length > 0) throw new Error(`the entries do not export: ${missing.join(", ")}`);
  const sections = entries.map(({ name, symbols }) => {
    const declarations = symbols.map((symbol) => declare(program, symbol)).sort();
    return `## ${name}\n\n\`\`\`ts\n${declarations.join("\n\n")}\n\`\`\`\n`;
  });
  const page = [
    "# The public surface",
    "",
    "Made by `npm run api-report`. What is not here is not for hosts.",
    "",
    sections.join("\n"),
  ].join("\n");
  return format(page, { parser: "markdown", printWidth: 100 });
}

/**
 * Returns our types that a declaration in the report names but no entry point exports. There must be none, because a
 * change of such a type would change the surface but not the report.
 */
export function undeclared({ program, entries }: PublicSurface): string[] {
  const exported = new Set(entries.flatMap(({ symbols }) => symbols));
  return [...exported].flatMap((symbol) => {
    const scope = namesInScope(program, symbol);
    const isKnown = (name: string): boolean => {
      const named = scope.get(name);
      return named !== undefined && (exported.has(named) || !isOurs(named));
    };
    return typeNames(declare(program, symbol))
      .filter((name) => !isKnown(name))
      .map((name) => `${name} (named by ${symbol.name})`);
  });
}

/** Whether a symbol is declared in this project, not in a package, in Node or in the language. */
export function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((one) => !one.getSourceFile().fileName.includes("node_modules"));
}

/** Returns what names mean where the symbol is declared, in types and in `typeof`. */
function namesInScope(program: ts.Program, symbol: ts.Symbol): ReadonlyMap<string, ts.Symbol> {
  const checker = program.getTypeChecker();
  const { Type, Value, Namespace, Alias } = ts.SymbolFlags;
  const scope = checker.getSymbolsInScope(
    symbol.declarations![0]!.getSourceFile(),
    Type | Value | Namespace | Alias,
  );
  return new Map(scope.map((one) => [one.name, original(checker, one)]));
}

/** Returns the names that are used as types in a declaration, except its own type parameters. */
function typeNames(declaration: string): string[] {
  const names = new Set<string>();
  const own = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeParameterDeclaration(node)) own.add(node.name.text);
    if (ts.isImportTypeNode(node)) names.add(node.getText()); // a type that the file itself does not name
    if (ts.isTypeReferenceNode(node)) names.add(firstName(node.typeName));
    if (ts.isTypeQueryNode(node)) names.add(firstName(node.exprName));
    if (ts.isExpressionWithTypeArguments(node)) names.add(node.expression.getText());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("declaration.d.ts", declaration, ts.ScriptTarget.ES2023, true));
  return [...names].filter((name) => !own.has(name));
}

const firstName = (name: ts.EntityName): string =>
  ts.isIdentifier(name) ? name.text : firstName(name.left);

const original = (checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol =>
  symbol.flags & ts.SymbolFlags.Alias
    ? checker.getAliasedSymbol(symbol)
    : checker.getExportSymbolOfSymbol(symbol);

function exportsOf(program: ts.Program, entry: string): ts.Symbol[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry);
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${entry} exports nothing`);
  return checker.getExportsOfModule(module).map((symbol) => original(checker, symbol));
}

function declare(program: ts.Program, symbol: ts.Symbol): string {
  const file = symbol.declarations?.[0]?.getSourceFile();
  const statement = file && emitted(program, file).get(symbol.name);
  if (statement === undefined) throw new Error(`${symbol.name} has no declaration`);
  const text = statement.replace(/^export (declare )?/, "");
  return /^type .*(typeof |Record<)/.test(text) ? unfold(program.getTypeChecker(), symbol) : text;
}

/** Returns an alias that is derived from a table, as the type that results. */
function unfold(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const show = (part: ts.Type): string =>
    checker.typeToString(
      part,
      undefined,
      ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias,
    );
  if (type.isUnion()) return `type ${symbol.name} = ${type.types.map(show).sort().join(" | ")};`;
  const fields = checker
    .getPropertiesOfType(type)
    .map((field) => `${field.name}: ${show(checker.getTypeOfSymbol(field))};`);
  return `type ${symbol.name} = {\n${fields.join("\n")}\n};`;
}

const emissions = new WeakMap<ts.SourceFile, ReadonlyMap<string, string>>();

/** Returns the declarations of a file by name. */
function emitted(program: ts.Program, file: ts.SourceFile): ReadonlyMap<string, string> {
  const known = emissions.get(file);
  if (known) return known;
  let text = "";
  program.emit(file, (_, written) => void (text = written), undefined, true);
  const parsed = ts.createSourceFile("emitted.d.ts", text, ts.ScriptTarget.ES2023, true);
  const byName = new Map(
    parsed.statements.flatMap((statement) =>
      namesOf(statement).map((name) => [name, statement.getText()]),
    ),
  );
  emissions.set(file, byName);
  return byName;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map((one) => one.name.getText());
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
}

const [, script] = process.argv;
if (script !== undefined && resolve(script) === fileURLToPath(import.meta.url))
  writeFileSync(REPORT, await apiReport(publicEntries()));
