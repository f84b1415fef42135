/** read: numbered lines of a file, or one of its definitions. */

import { z } from "zod";
import { QuernError } from "../base/errors.ts";
import { Answer } from "./answer.ts";
import { definitionsOf, endOfBody } from "./definitions-of.ts";
import { cutLong, lineRange, rangeOf } from "./line-range.ts";
import { plural } from "./plural.ts";
import { readText, type FileText } from "./read-text.ts";
import { findRepository, nearest } from "./scope.ts";
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
  async run(args, context) {
    const file = await readText(
      { ...args, repository: args.repository, revision: args.revision },
      context,
    );
    const [from, to] = args.definition
      ? await bodyOf(args.definition, file, { args, context })
      : stretch(args.lines, file);
    const answer = new Answer(args.maxTokens, context.count);
    const total = file.lines.length;
    answer.head(`${file.repository}:${file.path}, ${plural(total, "line")}`);
    for (const words of context.behind()) answer.head(words);
    const wanted = file.lines.slice(from - 1, to).map((line, i) => `${from + i}: ${cutLong(line)}`);
    const told = answer.fillWith(wanted);
    answer.add(told);
    const end = from + told.length - 1;
    const isAll = told.length === wanted.length;
    if (!isAll)
      answer.tail(
        `Lines ${end + 1} to ${to} are not shown: read them with lines "${end + 1}-${to}".`,
      );
    return {
      text: answer.text,
      facts: { shown: told.length, complete: isAll && context.behind().length === 0 },
    };
  },
});

/** First and last line, 1-based. */
function stretch(lines: string | undefined, { lines: all, path }: FileText): [number, number] {
  if (lines === undefined) return [1, all.length];
  const { first, last } = rangeOf(lines);
  const from = Math.max(1, first);
  if (from > all.length && all.length > 0)
    throw new QuernError(
      "INVALID_REQUEST",
      `${path} has ${plural(all.length, "line")}, and none is ${from}`,
    );
  return [from, Math.min(last, all.length)];
}

async function bodyOf(
  name: string,
  file: FileText,
  { args, context }: { readonly args: Args; readonly context: ToolContext },
): Promise<[number, number]> {
  const { id } = await findRepository(file.repository, context);
  const viewer = { repositoryIds: new Set([id]) };
  const found = await definitionsOf([file.path], { viewer, revision: args.revision }, context);
  const all = found.get(`${file.repository}:${file.path}`)?.definitions ?? [];
  const wanted = name.split(/[.#:]+/).at(-1)!;
  const one = all.find(({ symbol }) => symbol.symbol === wanted);
  if (one) return [one.line, endOfBody(file.lines, one.line)];
  const near = nearest(
    wanted,
    all.map(({ symbol }) => symbol.symbol),
  );
  throw new QuernError(
    "INVALID_REQUEST",
    `${file.path} defines no ${JSON.stringify(name)}.${near.length > 0 ? ` Near names: ${near.join(", ")}` : ""}`,
  );
}
