/** Lines of a list as far as there is room, from where a cursor says. */

import { Answer } from "./answer.ts";
import type { Outcome, ToolContext } from "./tool.ts";

export interface ListArgs {
  readonly maxTokens: number;
  readonly cursor?: string | undefined;
}

/** Where an answer of a list ended, and what was asked: a cursor stands for it. */
export interface ListPlace<Args> {
  readonly args: Args;
  /** Lines that were told. */
  readonly from: number;
  /** The last of them. */
  readonly last: string;
}

/** Where to begin: with what was asked, or where the cursor says. */
export function placeOf<Args extends ListArgs>(
  tool: string,
  args: Args,
  { cursors, note }: ToolContext,
): ListPlace<Args> {
  const { cursor, maxTokens } = args;
  if (cursor === undefined) return { args, from: 0, last: "" };
  const kept = cursors.find<ListPlace<Args>>(tool, cursor);
  note?.(kept.args);
  return { ...kept, args: { ...kept.args, maxTokens } };
}

export interface List {
  readonly lines: readonly string[];
  /** How many lines of the whole list stand before them. Default 0. */
  readonly before?: number;
  /** How long the whole list is. Default: `lines` is all of it. */
  readonly total?: number;
  /** By what the next page finds the last line that was told. Default: the lines. */
  readonly names?: readonly string[];
}

export interface Listing<Args> {
  readonly tool: string;
  readonly place: ListPlace<Args>;
  /** What is told first. */
  readonly head: readonly string[];
  readonly context: ToolContext;
}

/** A line that has no room by itself is cut, so that each answer tells one at least. */
export function tellList<Args extends ListArgs>(
  { lines, before = 0, total = lines.length, names = lines }: List,
  { tool, place, head, context }: Listing<Args>,
): Outcome {
  const answer = new Answer(place.args.maxTokens, context.count);
  const partial = context.behind();
  for (const words of [...head, ...partial]) answer.head(words);
  const begin = beginOf(names, before, place);
  if (begin === undefined)
    answer.head("The list has changed since the page before: some may be missing or come again.");
  const from = begin ?? Math.min(lines.length, place.from - before);
  const told = answer.takeSome(lines.slice(from));
  answer.add(told);
  const end = before + from + told.length;
  const isWhole = end >= total;
  const facts = { files: total, shown: told.length };
  const complete = isWhole && partial.length === 0 && begin !== undefined;
  if (isWhole) return { text: answer.text, facts: { ...facts, complete } };
  const next = { args: place.args, from: end, last: names[from + told.length - 1] ?? place.last };
  const cursor = context.cursors.keep(tool, next satisfies ListPlace<Args>);
  answer.tail(`Not all shown. The next ones: cursor "${cursor}"`);
  return { text: answer.text, facts: { ...facts, complete, cursor } };
}

/** Behind the last line that was told, wherever it stands now; undefined: it is gone. */
function beginOf(
  names: readonly string[],
  before: number,
  { from, last }: ListPlace<unknown>,
): number | undefined {
  if (from <= before || names[from - before - 1] === last) return Math.max(0, from - before);
  const at = names.indexOf(last);
  return at < 0 ? undefined : at + 1;
}
