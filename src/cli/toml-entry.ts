/**
 * Adds a table such as [mcp_servers.quern] to a TOML file and removes it, and leaves every other byte as it is. Knows no
 * more of TOML than where tables begin: a header is a line outside of texts, comments and lists.
 */

import { invalid } from "../base/errors.ts";
import type { EntryPlace } from "./json-entry.ts";

interface Header {
  /** Where the line of the header begins. */
  readonly start: number;
  /** The names in the header, without quotes. */
  readonly names: readonly string[];
}

/** Returns the text with the entry at its end, or in place of an entry of the same name. */
export function withTomlEntry(
  text: string,
  place: EntryPlace,
  { command, args }: { readonly command: string; readonly args: readonly string[] },
): string {
  const rest = withoutTomlEntry(text, place);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [
    `[${[...place.table, place.name].join(".")}]`,
    `command = ${quoted(command)}`,
    `args = [${args.map(quoted).join(", ")}]`,
    "",
  ];
  const gap = rest === "" ? "" : rest.endsWith("\n") ? eol : eol + eol;
  return rest + gap + lines.join(eol);
}

/** Returns the text without the entry, its own tables, and the empty line before it. */
export function withoutTomlEntry(text: string, place: EntryPlace): string {
  let rest = text;
  for (;;) {
    const headers = headersOf(rest, place);
    const at = headers.findIndex(({ names }) => isOf(names, place));
    if (at < 0) return rest;
    const end = headers[at + 1]?.start ?? rest.length;
    const before = rest.slice(0, headers[at]!.start).replace(/(\r?\n)\r?\n$/, "$1");
    rest = before + rest.slice(end);
  }
}

/** Returns the text of the entry, or undefined if there is none. */
export function tomlEntry(text: string, place: EntryPlace): string | undefined {
  const headers = headersOf(text, place);
  const at = headers.findIndex(({ names }) => isOf(names, place));
  return at < 0 ? undefined : text.slice(headers[at]!.start, headers[at + 1]?.start);
}

const isOf = (names: readonly string[], { table, name }: EntryPlace): boolean =>
  [...table, name].every((one, i) => names[i] === one);

/** A basic text of TOML is a text of JSON, but for one character. */
const quoted = (value: string): string => JSON.stringify(value).replaceAll("\u007f", "\\u007F");

/** What may follow at a place outside of texts: a text, a comment, a bracket, or anything else. */
const TOKEN =
  /"""(?:[^\\]|\\[^])*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|[^"'#[\]{}]+|[^]/gy;
const HEADER = /^[ \t]*\[([^[\]]*)\][ \t]*(?:#[^\n]*)?\r?$/;

/** Returns the headers of the tables. Throws if the servers are written in a form that has no headers. */
function headersOf(text: string, { file, table, name }: EntryPlace): Header[] {
  const headers: Header[] = [];
  let depth = 0;
  let at = 0;
  let outside = ""; // the file without what is in texts and brackets
  for (const [token] of text.matchAll(TOKEN)) {
    const start = text.lastIndexOf("\n", at - 1) + 1;
    const isFirst = text.slice(start, at).trim() === "";
    if (token === "[" && depth === 0 && isFirst) {
      const end = text.indexOf("\n", at);
      const line = text.slice(start, end < 0 ? text.length : end);
      const names = HEADER.exec(line)?.[1];
      headers.push({ start, names: names === undefined ? [] : namesIn(names) });
    }
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth = Math.max(0, depth - 1);
    else if (depth === 0) outside += token.startsWith("#") ? "" : token;
    at += token.length;
  }
  if (new RegExp(`^[ \\t]*${table[0]!}[ \\t]*[.=]`, "m").test(outside))
    throw invalid(
      `${file}: ${table[0]!} is not written as tables [${table[0]!}.${name}]; add the output of --print by hand`,
    );
  return headers;
}

/** Splits the names of a header at the dots outside of quotes. */
const namesIn = (header: string): string[] =>
  [...header.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s."']+)/g)].map(
    ([, basic, literal, bare]) => basic ?? literal ?? bare ?? "",
  );
