/** Adds an entry to a table of a JSON file and removes it, and leaves every other byte as it is, comments included. */

import type { ParseError } from "jsonc-parser";
import { invalid } from "../base/errors.ts";
import { isDeepStrictEqual } from "node:util";

/** Where an entry is in a file. */
export interface EntryPlace {
  /** The path of the file, for errors. */
  readonly file: string;
  /** The fields that lead to the table. */
  readonly table: readonly string[];
  readonly name: string;
}

async function loadParser() {
  const { default: named, ...rest } = await import("jsonc-parser");
  return (named as typeof named | undefined) ?? rest; // as CommonJS, or as a module of a bundle
}

/** Resolves to the text with the entry. Throws if the file cannot be edited safely. */
export async function withJsonEntry(
  text: string,
  place: EntryPlace,
  value: object,
): Promise<string> {
  const { jsonc, tree, path } = await open(text, place);
  if (isDeepStrictEqual(valueAt(tree, path), value)) return text;
  const edits = jsonc.modify(text, path, value, { formattingOptions: styleOf(text) });
  return jsonc.applyEdits(text, edits);
}

/** Resolves to the text without the entry, and without its table if the table would be empty. */
export async function withoutJsonEntry(text: string, place: EntryPlace): Promise<string> {
  const { jsonc, tree, path } = await open(text, place);
  const table = valueAt(tree, path.slice(0, -1)) as object | undefined;
  if (table === undefined || !Object.hasOwn(table, place.name)) return text;
  const gone = Object.keys(table).length === 1 ? path.slice(0, -1) : path;
  const edits = jsonc.modify(text, gone, undefined, { formattingOptions: styleOf(text) });
  return jsonc.applyEdits(text, edits);
}

/** Resolves to the value of the entry, or to undefined if there is none. */
export async function jsonEntry(text: string, place: EntryPlace): Promise<unknown> {
  const { tree, path } = await open(text, place);
  return valueAt(tree, path);
}

async function open(text: string, { file, table, name }: EntryPlace) {
  const jsonc = await loadParser();
  const errors: ParseError[] = [];
  const empty = text.trim() === "";
  const tree = empty ? {} : (jsonc.parse(text, errors, { allowTrailingComma: true }) as unknown);
  const [first] = errors;
  if (first) {
    const line = text.slice(0, first.offset).split("\n").length;
    throw invalid(
      `${file}:${line}: ${jsonc.printParseErrorCode(first.error)}; fix the file, or add the output of --print by hand`,
    );
  }
  const path = [...table, name];
  // opencode 2 has its servers one level deeper
  if (table[0] === "mcp" && isTable(valueAt(tree, ["mcp", "servers"])))
    path.splice(1, 0, "servers");
  for (let depth = 0; depth < path.length; depth++) {
    const value = valueAt(tree, path.slice(0, depth));
    if (value !== undefined && !isTable(value))
      throw invalid(
        `${file}: ${depth === 0 ? "the whole" : path.slice(0, depth).join(".")} is not an object, so there is no place for a server`,
      );
  }
  return { jsonc, tree, path };
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function valueAt(tree: unknown, path: readonly string[]): unknown {
  let value = tree;
  for (const name of path) {
    if (!isTable(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Returns the indentation and the ends of lines of a text. */
function styleOf(text: string) {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  return {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}
