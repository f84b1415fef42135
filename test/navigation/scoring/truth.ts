/**
 * Reads a SCIP index as the truth about a repository: which symbol each place names. Indexers are wrong, too, so what
 * they are known to lose or to confuse is left out: it says nothing about what a place names.
 */

import { COLUMN, ROLE, ROW } from "../scip/scip-document.ts";
import { readScip } from "../scip/read-scip.ts";

/** A place is `path:offset`, where the offset is in UTF-16 units. */
export interface TruthUse {
  readonly path: string;
  readonly place: string;
  readonly start: number;
  readonly end: number;
  readonly symbol: string;
  readonly isDefinition: boolean;
}

export interface Truth {
  readonly tool: string;
  readonly paths: Set<string>;
  uses: TruthUse[];
  /** The places where a symbol is defined. A local symbol has the path before its name. */
  readonly definitions: Map<string, string[]>;
  readonly definedAt: Map<string, string[]>;
  readonly namedAt: Map<string, string[]>;
  /** Places at which the indexer has lost what is named. */
  readonly lost: Set<string>;
}

export async function readTruth(
  chunks: AsyncIterable<Uint8Array>,
  textOf: (path: string) => string | undefined,
): Promise<Truth> {
  let tool = "";
  const uses: TruthUse[] = [];
  const paths = new Set<string>();
  for await (const part of readScip(chunks)) {
    if (part.is === "metadata") ({ tool } = part.metadata);
    if (part.is !== "document") continue;
    const { path, rows, count, names, encoding } = part.document;
    const text = textOf(path);
    if (text === undefined) continue;
    paths.add(path);
    const isUtf8 = encoding === "utf-8" || (encoding === "unset" && tool === "scip-go");
    const offsetOf = offsetsIn(text, isUtf8);
    for (let at = 0; at < count * ROW; at += ROW) {
      const own = names[rows[at + COLUMN.symbol]!]!;
      const isDefinition = (rows[at + COLUMN.roles]! & ROLE.definition) !== 0;
      const symbol = own.startsWith("local ") ? `${path} ${own}` : unitedPackage(classOf(own));
      const isConstructor = !own.startsWith("local ") && classOf(own) !== own;
      if (isDefinition && isConstructor) continue;
      const start = offsetOf(rows[at + COLUMN.startLine]!, rows[at + COLUMN.startColumn]!);
      const end = offsetOf(rows[at + COLUMN.endLine]!, rows[at + COLUMN.endColumn]!);
      uses.push({ path, place: `${path}:${start}`, start, end, symbol, isDefinition });
    }
  }
  const truth: Truth = {
    tool,
    paths,
    uses,
    definitions: new Map(),
    definedAt: new Map(),
    namedAt: new Map(),
    lost: new Set(),
  };
  for (const { symbol, place, isDefinition } of uses) {
    append(truth.namedAt, place, symbol);
    if (!isDefinition) continue;
    append(truth.definitions, symbol, place);
    append(truth.definedAt, place, symbol);
  }
  if (tool === "scip-typescript") leaveOutLostSymbols(truth);
  if (tool === "scip-python") {
    // what is imported from a package that is not installed is a local symbol without a definition
    leaveOut(truth, ({ symbol }) => / local \d+$/.test(symbol) && !truth.definitions.has(symbol));
    leaveOutStarImports(truth, textOf);
    uniteModuleVariables(truth);
  }
  return truth;
}

/** `new T()` names the constructor. Here, it is a use of the class. */
const classOf = (symbol: string): string => symbol.replace(/#`<constructor>`\(\+?\w*\)\.$/, "#");

/**
 * If a released version of the package is installed, scip-python names that package where the repository imports
 * itself. The names in it are the same.
 */
const unitedPackage = (symbol: string): string =>
  symbol.replace(/^scip-python python \S+ \S+ `(?:src\.)?/, "scip-python python . . `");

function offsetsIn(text: string, isUtf8: boolean): (line: number, column: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (line, column) => {
    const from = starts[line] ?? text.length;
    if (!isUtf8) return from + column;
    const content = text.slice(from, starts[line + 1] ?? text.length);
    return from + Buffer.from(content).subarray(0, column).toString().length;
  };
}

/** scip-typescript loses the definitions of some local names, and of declarations that augment another module. */
function leaveOutLostSymbols(truth: Truth): void {
  const isLost = (symbol: string): boolean =>
    (/ local \d+$/.test(symbol) && !truth.definitions.has(symbol)) ||
    /`["'][^`]*["']`/.test(symbol);
  leaveOut(truth, ({ symbol }) => isLost(symbol));
}

/** scip-python gives the first definition of a module for every name that comes through a star import. */
function leaveOutStarImports(truth: Truth, textOf: (path: string) => string | undefined): void {
  const wrong = new Set(
    truth.uses.flatMap(({ path, place, start, end, symbol, isDefinition }) => {
      if (isDefinition || !truth.definitions.has(symbol) || / local \d+$/.test(symbol)) return [];
      const word = textOf(path)!.slice(start, end);
      const name = nameOf(symbol);
      const isWrong = /^\w+$/.test(word) && name !== word && !/^(?:__init__|\w*\/)$/.test(name);
      return isWrong ? [place] : [];
    }),
  );
  leaveOut(truth, ({ place }) => wrong.has(place));
}

function leaveOut(truth: Truth, isWrong: (use: TruthUse) => boolean): void {
  const kept = truth.uses.filter((use) => !isWrong(use));
  const places = new Set(kept.map(({ place }) => place));
  for (const use of truth.uses) {
    if (!isWrong(use)) continue;
    const others = truth.namedAt.get(use.place)?.filter((symbol) => symbol !== use.symbol) ?? [];
    if (places.has(use.place)) truth.namedAt.set(use.place, others);
    else {
      truth.namedAt.delete(use.place);
      truth.lost.add(use.place);
    }
  }
  truth.uses = kept;
}

/** scip-python has two names for some variables: one where it defines them, and one elsewhere. */
function uniteModuleVariables(truth: Truth): void {
  const other = new Map<string, string>();
  for (const symbol of truth.definitions.keys()) {
    const parts = /^(.*\/)(\w+)\.(?:\2\.)?$/.exec(symbol);
    if (!parts) continue;
    for (const one of [`${parts[1]}${parts[2]}#`, `${parts[1]}${parts[2]}.`])
      if (!truth.definitions.has(one)) other.set(one, symbol);
  }
  const united = (symbol: string): string => other.get(symbol) ?? symbol;
  for (const [place, symbols] of truth.namedAt) truth.namedAt.set(place, symbols.map(united));
  truth.uses = truth.uses.map((use) => ({ ...use, symbol: united(use.symbol) }));
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

// ── symbols ──

export const KINDS = [
  "type",
  "function",
  "method",
  "field",
  "variable",
  "type parameter",
  "parameter",
  "local",
] as const;
export type SymbolKind = (typeof KINDS)[number] | "module" | "other";

export function kindOf(symbol: string): SymbolKind {
  if (/ local \d+$/.test(symbol)) return "local";
  const parts = descriptorsOf(symbol);
  const [parent = "", last = ""] = [parts.at(-2), parts.at(-1)];
  const isMember = /[#:]$/.test(parent);
  if (last.endsWith("#")) return "type";
  if (/^`<[gs]et>/.test(last)) return "field";
  if (last.endsWith(").")) return isMember ? "method" : "function";
  if (last.endsWith(".")) return isMember ? "field" : "variable";
  if (last.endsWith("]")) return "type parameter";
  if (last.endsWith(")")) return "parameter";
  return last.endsWith("/") ? "module" : "other";
}

const DESCRIPTOR =
  /(?:`(?:[^`]|``)*`|\[[^\]]*\]|[\w+\-$]+|\((?:[\w+\-$]+|`[^`]*`)\))?(?:\((?:\+?\w*)\)\.|[#./:!]|(?<=\])|(?<=\)))/g;

/** Returns what follows the scheme, manager, name and version. Two blanks stand for one within a part. */
function descriptorsOf(symbol: string): string[] {
  const parts = symbol.replaceAll("  ", "\0").split(" ");
  const rest = parts.slice(4).join(" ").replaceAll("\0", "  ");
  return (rest.match(DESCRIPTOR) ?? []).filter((one) => one !== "");
}

const nameOf = (symbol: string): string =>
  (descriptorsOf(symbol).at(-1) ?? "")
    .replace(/\(\+?\w*\)\.$|[#./:!]$/, "")
    .replace(/^[[(]|[\])]$/g, "")
    .replace(/^`|`$/g, "");
