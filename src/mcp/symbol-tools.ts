/** definitions, references and outline. */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { quote } from "../query/ast.ts";
import type { FileResult } from "../search/messages/response.ts";
import { Answer, cutLine } from "./answer.ts";
import { definitionsIn, endOfBody, fileKey, fullName, type Definition } from "./definitions-of.ts";
import { partialWords, tellMatches } from "./match-pages.ts";
import { plural } from "./plural.ts";
import { readText } from "./read-text.ts";
import {
  escapeExpression,
  findRepository,
  nearest,
  queryWith,
  scopeOf,
  searchOptions,
} from "./scope.ts";
import {
  cursor,
  filters,
  MATCHED,
  maxTokens,
  text,
  tool,
  type Outcome,
  type ToolContext,
} from "./tool.ts";

const symbolInput = z.object({
  symbol: text,
  file: text.describe("of a use, with line"),
  line: z.int().min(1).optional(),
  ...filters,
  maxTokens,
  cursor,
});
type SymbolArgs = z.output<typeof symbolInput>;

const MOST_DEFINITIONS = 200;
const MOST_NAMES = 30;

/** The expression of what is asked for: a name, or the names that stand on a line. */
async function namesOf(args: SymbolArgs, context: ToolContext): Promise<string[]> {
  const { symbol, file, line, revision } = args;
  if (symbol) return [symbol.split(/[.#:]+/).at(-1)!];
  if (!file || !line)
    throw new QuernError("INVALID_REQUEST", "give symbol, or file and line of a use");
  const { lines } = await readText({ file, repository: args.repository, revision }, context);
  const names = new Set((lines[line - 1] ?? "").match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
  if (names.size === 0)
    throw new QuernError("INVALID_REQUEST", `line ${line} of ${file} holds no name`);
  return [...names].slice(0, MOST_NAMES);
}

const anyOf = (names: readonly string[]): string => names.map(escapeExpression).join("|");

export const definitions = tool({
  name: "definitions",
  title: "Find definitions",
  description: "Where a symbol is defined, with its body.",
  input: symbolInput,
  output: MATCHED,
  async run(args, context) {
    const names = await namesOf(args, context);
    const { filter, viewer } = await scopeOf({ ...args, path: args.path }, context);
    const request = {
      query: queryWith(`sym:${quote(`^(?:${anyOf(names)})$`)}`, filter),
      matches: MOST_DEFINITIONS,
      isCaseSensitivityEnabled: true,
    };
    const response = await context.engine.search(request, searchOptions(context, viewer));
    const { totalMatchCount: total, fileCount: files } = response.stats;
    const answer = new Answer(args.maxTokens, context.count);
    if (total === 0) return noDefinition(names, answer, { args, context });
    answer.head(`${plural(total, "definition")} in ${plural(files, "file")}.`);
    const partial = [...partialWords(response), ...context.behind()];
    for (const words of partial) answer.head(words);
    const told = await tellDefinitions(response.files, answer, context);
    const isAll = told === total;
    if (!isAll)
      answer.tail(
        `${total - told} more are not shown: narrow down with repository, path or language.`,
      );
    return {
      text: answer.text,
      facts: { matches: total, files, shown: told, complete: isAll && partial.length === 0 },
    };
  },
});

/** First the line of each, then the bodies as far as there is room. Returns how many are told. */
async function tellDefinitions(
  files: readonly FileResult[],
  answer: Answer,
  context: ToolContext,
): Promise<number> {
  const all = files.flatMap((file) =>
    definitionsIn(file).map((definition) => ({ file, definition })),
  );
  const told: { lines: string[]; file: FileResult; definition: Definition }[] = [];
  for (const { file, definition } of all) {
    const { symbol, line, text: code } = definition;
    const lines = [
      `${fileKey(file)}:${line} ${symbol.kind} ${fullName(symbol)}`,
      `${line}: ${cutLine(code, 0)}`,
    ];
    if (!answer.take(lines)) break;
    told.push({ lines, file, definition });
  }
  for (const one of told) {
    const { file, definition } = one;
    const content = await context.engine.read(
      {
        repository: file.repository,
        path: file.fileName.text,
        ...(file.branches?.[0] !== undefined && { revision: file.branches[0] }),
      },
      context.viewer ? { viewer: context.viewer } : {},
    );
    const lines = content?.content.split("\n") ?? [];
    const end = endOfBody(lines, definition.line);
    const body = lines
      .slice(definition.line, end)
      .map((code, i) => `${definition.line + 1 + i}: ${cutLine(code, 0)}`);
    const shown = answer.takeSome(body);
    one.lines.push(...shown);
    if (shown.length < body.length) break;
  }
  answer.add(told.flatMap(({ lines }) => lines));
  return told.length;
}

async function noDefinition(
  names: readonly string[],
  answer: Answer,
  { args, context }: { readonly args: SymbolArgs; readonly context: ToolContext },
): Promise<Outcome> {
  const { filter, viewer } = await scopeOf(args, context);
  const [name = ""] = names;
  const part = escapeExpression(name.slice(0, Math.max(3, Math.ceil(name.length / 2))));
  const request = {
    query: queryWith(`sym:${quote(part)}`, filter),
    matches: 500,
    matchesPerFile: 5,
  };
  const { files } = await context.engine.search(request, searchOptions(context, viewer));
  const others = new Set(
    files.flatMap((file) => definitionsIn(file).map(({ symbol }) => symbol.symbol)),
  );
  const near = nearest(name, [...others]);
  answer.head(`No definition of ${names.join(", ")}.`);
  const words = [
    ...context.behind(),
    ...(near.length > 0 ? [`Near names: ${near.join(", ")}`] : []),
    "It may be defined outside of what is indexed, or in a language without symbols: search finds its text.",
  ];
  answer.add(answer.takeSome(words));
  return {
    text: answer.text,
    facts: { matches: 0, files: 0, shown: 0, complete: context.behind().length === 0 },
  };
}

export const references = tool({
  name: "references",
  title: "Find references",
  description: "Lines that name a symbol, its definition among them.",
  input: symbolInput,
  output: MATCHED,
  async run(args, context) {
    if (args.cursor !== undefined)
      return tellMatches({ tool: "references", cursor: args.cursor }, args.maxTokens, context);
    const names = await namesOf(args, context);
    const [name] = names;
    if (!args.symbol && names.length > 1) {
      const known = await definedNames(names, args, context);
      names.splice(0, names.length, ...(known.length > 0 ? known : [name!]));
    }
    const { filter } = await scopeOf(args, context);
    const request = {
      query: queryWith(`content:${quote(`\\b(?:${anyOf(names)})\\b`)}`, filter),
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    };
    return tellMatches({ tool: "references", request, filters: args }, args.maxTokens, context);
  },
});

/** Those of some names that something defines. */
async function definedNames(
  names: readonly string[],
  args: SymbolArgs,
  context: ToolContext,
): Promise<string[]> {
  const { filter, viewer } = await scopeOf({ ...args, path: undefined }, context);
  const request = {
    query: queryWith(`sym:${quote(`^(?:${anyOf(names)})$`)}`, filter),
    matches: 100,
    isCaseSensitivityEnabled: true,
  };
  const { files } = await context.engine.search(request, searchOptions(context, viewer));
  const known = new Set(
    files.flatMap((file) => definitionsIn(file).map(({ symbol }) => symbol.symbol)),
  );
  return names.filter((name) => known.has(name));
}

const outlineInput = z.object({
  path: text.describe("file or folder"),
  repository: text,
  revision: text,
  maxTokens,
  cursor,
});

const MOST_OUTLINED = 5_000;

export const outline = tool({
  name: "outline",
  title: "Outline",
  description: "Definitions of a file, or of the files of a folder or repository.",
  input: outlineInput,
  output: MATCHED,
  async run(args, context) {
    const path = (args.path ?? "").replace(/^\.?\/+|\/+$/g, "");
    if (path === "" && args.repository === undefined)
      throw new QuernError("INVALID_REQUEST", "outline needs a path, a repository, or both");
    const { filter, viewer } = await scopeOf({ ...args, path: undefined }, context);
    const inPath = path === "" ? "" : `file:${quote(`^${escapeExpression(path)}(?:/|$)`)}`;
    const query = queryWith(`sym:.* ${inPath}`.trim(), filter);
    const from =
      args.cursor === undefined
        ? 0
        : context.cursors.find<{ from: number }>("outline", args.cursor).from;
    const response = await context.engine.search(
      { query, matches: MOST_OUTLINED },
      searchOptions(context, viewer),
    );
    return tellOutline(response.files, from, { args, context, response });
  },
});

async function tellOutline(
  files: readonly FileResult[],
  from: number,
  {
    args,
    context,
    response,
  }: {
    readonly args: z.output<typeof outlineInput>;
    readonly context: ToolContext;
    readonly response: Parameters<typeof partialWords>[0];
  },
): Promise<Outcome> {
  const answer = new Answer(args.maxTokens, context.count);
  const { totalMatchCount: matches, fileCount } = response.stats;
  if (matches === 0) {
    if (args.repository !== undefined) await findRepository(args.repository, context);
    answer.head(
      `No definitions under ${JSON.stringify(args.path ?? "")}. find_files tells whether there is such a path.`,
    );
    for (const words of context.behind()) answer.head(words);
    return {
      text: answer.text,
      facts: { matches: 0, files: 0, shown: 0, complete: context.behind().length === 0 },
    };
  }
  answer.head(`${plural(matches, "definition")} in ${plural(fileCount, "file")}.`);
  const partial = [...partialWords(response), ...context.behind()];
  for (const words of partial) answer.head(words);
  const lines = outlineLines(files);
  const told = answer.takeSome(lines.slice(from).map(({ line }) => line));
  answer.add(told);
  const end = from + told.length;
  const shown = lines.slice(from, end).filter(({ isDefinition }) => isDefinition).length;
  const listed = lines.filter(({ isDefinition }) => isDefinition).length;
  const facts = { matches, files: fileCount, shown };
  if (end < lines.length) {
    const kept = context.cursors.keep("outline", { from: end });
    answer.tail(`Not all shown. The next ones: the same arguments and cursor "${kept}"`);
    return { text: answer.text, facts: { ...facts, complete: false, cursor: kept } };
  }
  if (listed < matches)
    answer.tail(`${matches - listed} more are not listed: outline a folder of it.`);
  return {
    text: answer.text,
    facts: { ...facts, complete: listed === matches && partial.length === 0 },
  };
}

interface OutlineLine {
  readonly line: string;
  readonly isDefinition: boolean;
}

/** Of several files outermost definitions only come first in no file: each is told in its own order, nested by two blanks. */
function outlineLines(files: readonly FileResult[]): OutlineLine[] {
  return files.flatMap((file) => {
    const depths = new Map<string, number>();
    const own = definitionsIn(file).map(({ line, symbol }): OutlineLine => {
      const depth = symbol.parent ? (depths.get(symbol.parent.symbol) ?? 0) + 1 : 0;
      depths.set(symbol.symbol, depth);
      return {
        line: `${"  ".repeat(depth)}${line} ${symbol.kind} ${symbol.symbol}`,
        isDefinition: true,
      };
    });
    return [{ line: fileKey(file), isDefinition: false }, ...own];
  });
}
