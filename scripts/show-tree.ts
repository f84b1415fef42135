/**
 * Prints the tree that a grammar makes of a file, for writing queries. If the language already has a query, prints its
 * symbols, too:
 *
 *     node --import tsx scripts/show-tree.ts FILE [GRAMMAR]
 *
 * GRAMMAR is a package and path, such as `tree-sitter-wasms/out/tree-sitter-c.wasm`. Default: the grammar of the file's
 * language. A query may use the names of nodes. ERROR marks what the grammar does not understand.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Language, Parser } from "web-tree-sitter";
import { languageOf } from "../src/ingest/classification/languages.ts";
import { createExtractor } from "../src/ingest/symbols/extract.ts";
import { languageQuery } from "../src/ingest/symbols/languages.ts";
import { Decoder } from "../src/ingest/symbols/source-text.ts";
import { showSymbols } from "../test/ingest/symbols/show.ts";

/** Formats a tree with one node per line, indented by its depth. Brackets in quotes are names of nodes. */
function indented(tree: string): string {
  let depth = 0;
  return tree.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'| ?(?:\w+: )?\(|\)/g, (part) => {
    if (part === ")") depth--;
    if (!part.endsWith("(")) return part;
    return `\n${"  ".repeat(depth++)}${part.trimStart()}`;
  });
}

const [file, given] = process.argv.slice(2);
if (file === undefined) throw new Error("which file?");
const bytes = readFileSync(file);
const language = languageOf(file, bytes);
const grammar = given ?? languageQuery(language)?.grammar;
if (grammar === undefined) throw new Error(`${language} has no grammar: name one`);
await Parser.init();
const parser = new Parser();
parser.setLanguage(await Language.load(createRequire(import.meta.url).resolve(grammar)));
const text = new Decoder().decode(bytes);
const tree = parser.parse(`${text.slice(0, text.length)}\n`)!; // a scanner may need the newline after a comment
console.log(indented(tree.rootNode.toString()));
const extractor = await createExtractor();
if (given === undefined && (await extractor.prepare(language))) {
  const found = extractor.extract(language, bytes);
  console.log(found.outcome === "symbols" ? showSymbols(found.table, bytes).join("\n") : found);
}
