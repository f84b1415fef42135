/** Compiles the code in pages and in comments as modules of a host. */

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import ts from "typescript";

export interface Snippet {
  readonly name: string;
  readonly text: string;
}

const CONFIG = resolve("examples/tsconfig.json"); // it resolves the package by its names

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(CONFIG, (path) => readFileSync(path, "utf8")) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(CONFIG));
  const lenient = { noUnusedLocals: false, noUnusedParameters: false, verbatimModuleSyntax: false };
  return { ...options, ...lenient, moduleDetection: ts.ModuleDetectionKind.Force };
}

/**
 * Returns the compiler's complaints about each snippet, by name. Snippets without complaints are left out. Takes the
 * sources from a program that has read them, which saves a third of the time.
 */
export function complaints(
  snippets: readonly Snippet[],
  { getSourceFile }: Pick<ts.Program, "getSourceFile">,
): Record<string, string[]> {
  const files = new Map(snippets.map((one, n) => [resolve(`examples/snippet-${n}.ts`), one]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const disk = { ...host };
  host.fileExists = (path) => files.has(path) || disk.fileExists(path);
  host.readFile = (path) => files.get(path)?.text ?? disk.readFile(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = files.get(path)?.text;
    return text === undefined
      ? (getSourceFile(path) ?? disk.getSourceFile(path, version, ...rest))
      : ts.createSourceFile(path, text, version);
  };
  const roots = [...files.keys(), resolve("src/kernel/webassembly.d.ts")];
  const program = ts.createProgram(roots, options, host);
  const said: Record<string, string[]> = {};
  for (const [path, { name }] of files) {
    const file = program.getSourceFile(path);
    const found = [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ];
    for (const { messageText } of found)
      (said[name] ??= []).push(ts.flattenDiagnosticMessageText(messageText, "\n"));
  }
  return said;
}

/** Whether a text uses a name that it does not declare or import. */
export function lacks(text: string, name: string): boolean {
  const declared = new RegExp(
    `\\b(const|let|using|function|class|interface|type) ${name}\\b|import [^;]*\\b${name}\\b[^;]* from`,
  );
  return new RegExp(`(?<!\\w|(?<!\\.)\\.)${name}\\b`).test(text) && !declared.test(text);
}
