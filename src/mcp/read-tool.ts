/** Implements the tool `read`. It returns numbered lines of a file, or the body of one of its definitions. */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import { Answer } from "./answer.ts";
import { pathsFilter } from "./alternations.ts";
import { endOfBody } from "./body.ts";
import { definitionsOf, partsOfName } from "./definitions-of.ts";
import { named } from "./delimit.ts";
import { cutLong, lineRange, rangeOf } from "./line-range.ts";
import { partialWords } from "./partial-words.ts";
import { plural } from "./plural.ts";
import { readText, type FileText } from "./read-text.ts";
import { findRepository, nearest, searchOptions } from "./scope.ts";
import { maxTokens, text, tool, type ToolContext } from "./tool.ts";

const input = z.object({
  file: z.string(),
  repository: text,
  revision: text,
  lines: lineRange,
  definition: text.describe("read its body"),
  maxTokens,
});
type Args = z.output<typeof input>;

export const read = tool({
  name: "read",
  title: "Read a file",
  description: "Numbered lines of a file, or the body of a definition in it.",
  input,
  output: ["shown", "complete"],
  aliases: { path: "file" },
  async run(args, context) {
    const file = await readText(
      { ...args, repository: args.repository, revision: args.revision },
      context,
    );
    const { from, to, remark } = args.definition
      ? await bodyOf(args.definition, file, { args, context })
      : stretch(args.lines, file);
    const answer = new Answer(args.maxTokens, context.count, restWords(to, to));
    const total = file.lines.count;
    answer.head(`${named(`${file.repository}:${file.path}`)}, ${plural(total, "line")}`);
    for (const words of [...(remark ? [remark] : []), ...context.behind()]) answer.head(words);
    const most = from + answer.left; // each line takes at least one token
    const wanted = file.lines
      .slice(from, Math.min(to, most))
      .map((line, i) => `${from + i}: ${cutLong(line)}`);
    const told = answer.fillWith(wanted);
    answer.add(told);
    const end = from + told.length - 1;
    const isAll = end === to;
    if (!isAll) answer.tail(restWords(end + 1, to));
    return {
      text: answer.text,
      facts: { shown: told.length, complete: isAll && context.behind().length === 0 },
    };
  },
});

const restWords = (from: number, to: number): string =>
  `Lines ${from} to ${to} are not shown: read them with lines "${from}-${to}".`;

/** The first and the last line to show. Lines are counted from 1. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly remark?: string;
}

function stretch(lines: string | undefined, { lines: all, path }: FileText): Stretch {
  if (lines === undefined) return { from: 1, to: all.count };
  const { first, last } = rangeOf(lines);
  const from = Math.max(1, first);
  if (from > all.count && all.count > 0)
    throw new QuernError(
      "INVALID_REQUEST",
      `${named(path)} has ${plural(all.count, "line")}, and none is ${from}`,
    );
  return { from, to: Math.min(last, all.count) };
}

/** The maximum number of other definitions of a name that are listed. */
const MOST_OTHERS = 10;

async function bodyOf(
  name: string,
  file: FileText,
  { args, context }: { readonly args: Args; readonly context: ToolContext },
): Promise<Stretch> {
  const { id } = await findRepository(file.repository, context);
  const viewer = { repositoryIds: new Set([id]) };
  const found = await definitionsOf([file.path], { viewer, revision: args.revision }, context);
  const all = found.get(`${file.repository}:${file.path}`) ?? [];
  const { symbol: wanted, parent } = partsOfName(name);
  const sameName = all.filter(({ symbol }) => symbol.symbol === wanted);
  const own = sameName.filter(({ symbol }) => symbol.parent?.symbol === parent);
  const [one, ...others] = parent === undefined || own.length === 0 ? sameName : own;
  if (one) {
    const pause = newPause({ signal: context.signal });
    const { line: to } = await endOfBody(file.lines, one.line, { most: Infinity, pause });
    const lines = others.slice(0, MOST_OTHERS).map(({ line }) => line);
    const remark = `The first of ${others.length + 1} definitions of ${named(name)}; others in lines ${lines.join(", ")}${others.length > lines.length ? ", …" : ""}.`;
    return { from: one.line, to, ...(others.length > 0 && { remark }) };
  }
  const near = nearest(
    wanted,
    all.map(({ symbol }) => symbol.symbol),
  );
  const asked = { query: `sym:. ${pathsFilter([file.path])}`, matches: 0 };
  const known = await context.engine.search(asked, searchOptions(context, viewer));
  const [partial = ""] = partialWords(known);
  throw new QuernError(
    "INVALID_REQUEST",
    `${named(file.path)} defines no ${JSON.stringify(name)}.${near.length > 0 ? ` Near names: ${near.map(named).join(", ")}` : ""} ${partial}`.trimEnd(),
  );
}
