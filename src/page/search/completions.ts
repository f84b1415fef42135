/** Completes the word at the caret to the name of a filter, repository, language or symbol, or to a path. */

import type { Client } from "../wire/client.ts";
import { LANGUAGES } from "./languages.ts";
import { escapeExpression, filterFor, filterWord, quoteValue, wordAt } from "./query-text.ts";

export interface Completion {
  /** The text that replaces the word at the caret. */
  text: string;
  label: string;
  detail: string;
}

const FILTERS: readonly (readonly [keyword: string, detail: string])[] = [
  ["repo", "repositories by name"],
  ["file", "files by path"],
  ["lang", "a language"],
  ["sym", "definitions by name"],
  ["rev", "a branch or tag"],
  ["content", "text, also after a minus sign"],
  ["archived", "yes, no, only"],
  ["fork", "yes, no, only"],
  ["visibility", "public, private, any"],
];

const SHOWN = 8;

type Completing = Pick<Client, "repositories" | "search">;

export async function complete(
  client: Completing,
  query: string,
  caret: number,
  signal: AbortSignal,
): Promise<Completion[]> {
  const { text } = wordAt(query, caret);
  const filter = filterWord(text);
  if (filter === undefined) return filterNames(text);
  const { before, keyword, value } = filter;
  const values = await valuesOf(client, { keyword, value, query }, signal);
  return values.map((completion) => ({ ...completion, text: before + completion.text }));
}

function filterNames(text: string): Completion[] {
  const [, before = "", typed = ""] = /^([-(]*)([a-z]{2,})$/.exec(text) ?? [];
  if (typed === "") return [];
  return FILTERS.filter(([keyword]) => keyword.startsWith(typed)).map(([keyword, detail]) => ({
    text: `${before}${keyword}:`,
    label: `${keyword}:`,
    detail,
  }));
}

interface Wanted {
  keyword: string;
  value: string;
  query: string;
}

async function valuesOf(
  client: Completing,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Completion[]> {
  switch (wanted.keyword) {
    case "repo":
    case "r":
    case "reposet":
      return repositories(client, plain(wanted.value), signal);
    case "lang":
      return languages(wanted.value);
    case "file":
    case "f":
      return wanted.value === "" ? [] : paths(client, wanted, signal);
    case "sym":
      return wanted.value === "" ? [] : symbols(client, wanted, signal);
    default:
      return choices(wanted);
  }
}

/** Returns the literal text of an expression that is being typed. This text may be a part of a name. */
const plain = (expression: string): string => expression.replace(/^\^|\$$|\\/g, "");

async function repositories(
  client: Completing,
  query: string,
  signal: AbortSignal,
): Promise<Completion[]> {
  const { items } = await client.repositories({ query, perPage: SHOWN }, signal);
  return items.map(({ repoName, repoDisplayName }) => ({
    text: `${filterFor("repo", repoName)} `,
    label: repoName,
    detail: repoDisplayName ?? "repository",
  }));
}

function languages(value: string): Completion[] {
  const wanted = value.toLowerCase();
  const found = LANGUAGES.filter((name) => name.toLowerCase().includes(wanted));
  const first = found.filter((name) => name.toLowerCase().startsWith(wanted));
  return [...new Set([...first, ...found])]
    .slice(0, SHOWN)
    .map((name) => ({ text: `${filterFor("lang", name)} `, label: name, detail: "language" }));
}

function choices({ keyword, value }: Wanted): Completion[] {
  const [, detail = ""] = FILTERS.find(([name]) => name === keyword) ?? [];
  if (!/^\w+, \w+, \w+$/.test(detail)) return [];
  return detail
    .split(", ")
    .filter((choice) => choice.startsWith(value))
    .map((choice) => ({ text: `${keyword}:${choice} `, label: choice, detail: keyword }));
}

// ── completions that need a search ──

/** Returns the filters of a query that limit where it searches. */
const scopeOf = (query: string): string =>
  (query.match(/(?<=^|\s)(?:repo|r|reposet|rev|lang|context):\S+/g) ?? []).join(" ");

async function paths(client: Completing, wanted: Wanted, signal: AbortSignal) {
  const query = `${scopeOf(wanted.query)} file:${quoteValue(wanted.value)}`;
  const { files } = await client.search({ query, matches: SHOWN }, signal);
  return files.slice(0, SHOWN).map(({ fileName: { text }, repository }) => ({
    text: `${filterFor("file", text)} `,
    label: text,
    detail: repository,
  }));
}

async function symbols(client: Completing, wanted: Wanted, signal: AbortSignal) {
  const query = `${scopeOf(wanted.query)} sym:${quoteValue(wanted.value)}`;
  const { files } = await client.search({ query, matches: 4 * SHOWN }, signal);
  const kinds = new Map<string, string>();
  for (const { chunks } of files)
    for (const { symbols = [] } of chunks)
      for (const { symbol, kind } of symbols) kinds.set(symbol, kinds.get(symbol) ?? kind);
  return [...kinds].slice(0, SHOWN).map(([symbol, kind]) => ({
    text: `sym:${quoteValue(`^${escapeExpression(symbol)}$`)} `,
    label: symbol,
    detail: kind,
  }));
}
