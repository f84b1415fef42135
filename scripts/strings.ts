/**
 * Prints the strings of the sources that people and models read, each with its place: literals and templates with at
 * least two words. `npx tsx scripts/strings.ts [FOLDER …]` reads `src` by default. test/strings.test.ts holds them to a
 * list of words.
 */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";

export interface SourceString {
  readonly path: string;
  readonly line: number;
  /** The text. Each expression in a template is `…`. */
  readonly text: string;
}

/** Returns the strings of the sources in a folder, in the order of paths and lines. */
export function stringsIn(folder: string): SourceString[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
    .toSorted()
    .flatMap((name) => stringsOf(join(folder, name)));
}

function stringsOf(path: string): SourceString[] {
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest);
  const found: SourceString[] = [];
  const add = (node: ts.Node, text: string) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    if (isForPeople(text)) found.push({ path, line: line + 1, text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    if (ts.isTemplateExpression(node)) add(node, templateText(node));
    else if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
      add(node, node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const templateText = ({ head, templateSpans }: ts.TemplateExpression): string =>
  head.text + templateSpans.map(({ literal }) => `…${literal.text}`).join("");

/** Two words of letters beside each other, of which code, markup and expressions have few. */
const isForPeople = (text: string): boolean =>
  /(?:^|[\s("'])[A-Za-z']+[,:;]? [A-Za-z'…]/.test(text);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const folders = process.argv.slice(2);
  for (const { path, line, text } of (folders.length > 0 ? folders : ["src"]).flatMap(stringsIn))
    console.log(`${path}:${line}: ${text.replaceAll("\n", "⏎")}`);
}
