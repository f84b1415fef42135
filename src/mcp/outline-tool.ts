/**
 * Implements the tool `outline`. It lists the definitions of a file, or writes a map of a folder, which names the
 * most used definitions of each file.
 */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { newPause, type Pause } from "../base/yield.ts";
import { quote } from "../query/ast.ts";
import { Answer } from "./answer.ts";
import {
  CLAUSES,
  definitionsIn,
  fileKey,
  fullName,
  STEP,
  type Definition,
} from "./definitions-of.ts";
import { placeOf, tellList } from "./listing.ts";
import { partialWords } from "./partial-words.ts";
import { plural } from "./plural.ts";
import {
  escapeExpression,
  findRepository,
  folderPath,
  queryWith,
  scopeOf,
  searchOptions,
  splitPath,
} from "./scope.ts";
import { cursor, MATCHED, maxTokens, text, tool, type Outcome, type ToolContext } from "./tool.ts";
import { usesOf } from "./uses-of.ts";

const input = z.object({
  path: text.describe("file or folder"),
  repository: text,
  revision: text,
  maxTokens,
  cursor,
});
type Args = z.output<typeof input>;

/** The maximum number of definitions that are read for one outline. */
const MOST_OUTLINED = 20_000;

export const outline = tool({
  name: "outline",
  title: "Outline",
  description: "Definitions of a file; of a folder or repository the most used ones of its files.",
  input,
  output: MATCHED,
  async run(given, context) {
    const place = placeOf("outline", splitPath(given), context);
    const { args } = place;
    const path = folderPath(args.path);
    if (path === "" && args.repository === undefined)
      throw new QuernError("INVALID_REQUEST", "outline needs a path, a repository, or both");
    const { filter, viewer } = await scopeOf({ ...args, path: undefined }, context);
    const inPath = path === "" ? "" : `file:${quote(`^${escapeExpression(path)}(?:/|$)`)}`;
    const query = queryWith(`sym:.* ${inPath}`.trim(), filter);
    const options = searchOptions(context, viewer);
    const response = await context.engine.search({ query, matches: MOST_OUTLINED }, options);
    const { totalMatchCount: matches, fileCount: files } = response.stats;
    if (matches === 0) {
      if (args.repository !== undefined) await findRepository(args.repository, context);
      return nothing(path, { args, context, partial: partialWords(response) });
    }
    const pause = newPause({ signal: context.signal });
    const outlined: Outlined[] = [];
    for (const file of response.files)
      outlined.push({ name: fileKey(file), definitions: await definitionsIn(file, pause) });
    const lines =
      outlined.length === 1
        ? await linesOf(outlined[0]!, pause)
        : await mapOf(outlined, { args, inPath }, context);
    await pause();
    const listed = outlined.reduce((sum, { definitions }) => sum + definitions.length, 0);
    const partial = [
      ...partialWords(response),
      ...(listed < matches
        ? [`INCOMPLETE: only ${plural(listed, "definition")} were read: outline a folder below.`]
        : []),
    ];
    const head = [`${plural(matches, "definition")} in ${plural(files, "file")}.`, ...partial];
    const told = tellList({ lines }, { tool: "outline", place, head, context });
    const complete = told.facts.complete && partial.length === 0;
    return { text: told.text, facts: { ...told.facts, matches, files, complete } };
  },
});

function nothing(
  path: string,
  {
    args,
    context,
    partial,
  }: { readonly args: Args; readonly context: ToolContext; readonly partial: readonly string[] },
): Outcome {
  const answer = new Answer(args.maxTokens, context.count);
  answer.head(
    `No definitions under ${JSON.stringify(path)}. find_files shows whether the path exists.`,
  );
  const words = [...partial, ...context.behind()];
  for (const one of words) answer.head(one);
  const facts = { matches: 0, files: 0, shown: 0, complete: words.length === 0 };
  return { text: answer.text, facts };
}

interface Outlined {
  /** The name that a model uses for the file. */
  readonly name: string;
  readonly definitions: readonly Definition[];
}

/** Lists every definition of one file. Each level of nesting is indented by two spaces. */
async function linesOf({ name, definitions }: Outlined, pause: Pause): Promise<string[]> {
  const around: string[] = [];
  const lines = [name];
  for (const { line, symbol } of definitions) {
    const depth = symbol.parent ? around.lastIndexOf(symbol.parent.symbol) + 1 : 0;
    around.splice(depth, Infinity, symbol.symbol);
    const shown = depth > 0 ? symbol.symbol : fullName(symbol);
    lines.push(`${"  ".repeat(depth)}${line} ${symbol.kind} ${shown}`);
    if (lines.length % STEP === 0) await pause();
  }
  return lines;
}

/**
 * How many definitions a map may name for each file. The map uses the first of these numbers with which all files fit.
 */
const NAMED = [30, 12, 6, 3, 1];

const isOutermost = ({ symbol }: Definition): boolean =>
  !symbol.parent && !CLAUSES.has(symbol.kind);

/**
 * Returns a line for each file, sorted by path. The line names the most used definitions of the file, and says how
 * many more the file has. Names as many definitions as possible while all files fit into the answer.
 */
async function mapOf(
  files: readonly Outlined[],
  { args, inPath }: { readonly args: Args; readonly inPath: string },
  context: ToolContext,
): Promise<string[]> {
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const outermost = sorted.map(({ definitions }) => [
    ...new Set(definitions.filter(isOutermost).map((one) => one.symbol.symbol)),
  ]);
  const { repository, revision } = args;
  const uses = await usesOf(outermost, { repository, revision, inFolder: inPath }, context);
  const usesOfOne = (name: string): number => uses.get(name) ?? 0;
  const ranked = outermost.map((names) =>
    names.toSorted((a, b) => usesOfOne(b) - usesOfOne(a)).slice(0, NAMED[0]),
  );
  let lines: string[] = [];
  for (const most of NAMED) {
    lines = sorted.map((file, i) => mapLine(file, ranked[i]!.slice(0, most)));
    if (context.count(lines.join("\n")) <= args.maxTokens * FOR_LINES) break;
  }
  return lines;
}

/** The share of the budget for the lines of a map. The rest is for the lines before and after them. */
const FOR_LINES = 0.9;

function mapLine({ name, definitions }: Outlined, names: readonly string[]): string {
  const others = definitions.length - names.length;
  return `${name}: ${names.join(", ")}${others > 0 ? ` (+${others})` : ""}`;
}
