/** Answers with the lines of a list that fit, from the beginning or from the position of a cursor. */

import { Answer } from "./answer.ts";
import type { Outcome, ToolContext } from "./tool.ts";

export interface ListArgs {
  readonly maxTokens: number;
  readonly cursor?: string | undefined;
}

/**
 * The object to which the cursor of a list refers. It contains the request, and the position where the answer ended.
 */
export interface ListPlace<Args> {
  readonly args: Args;
  /** The number of lines that the pages so far have shown. */
  readonly from: number;
  /** The key of the last line that was shown, or '' if none was shown. */
  readonly last: string;
}

/** Returns where an answer begins. This is the start of the list, or the position to which the cursor refers. */
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
  /** How many lines of the whole list come before `lines`. Default 0. */
  readonly before?: number;
  /** The length of the whole list. Default: the length of `lines`. */
  readonly total?: number;
  /**
   * The key of each line. The next page uses the keys to find the last line that was shown. Default: the lines
   * themselves.
   */
  readonly names?: readonly string[];
}

export interface Listing<Args> {
  readonly tool: string;
  readonly place: ListPlace<Args>;
  /** Own words before the list. */
  readonly head: readonly string[];
  /** Lines of a repository before the list. Default: none. */
  readonly intro?: readonly string[];
  readonly context: ToolContext;
}

/**
 * Answers with the next lines of a list. If not even one line fits, the line is cut, so that each answer makes
 * progress.
 */
export function tellList<Args extends ListArgs>(
  { lines, before = 0, total = lines.length, names = lines }: List,
  { tool, place, head, intro = [], context }: Listing<Args>,
): Outcome {
  const answer = new Answer(place.args.maxTokens, context.count);
  const partial = context.behind();
  for (const words of [...head, ...partial]) answer.head(words);
  answer.add(answer.takeSome(intro));
  const begin = beginOf(names, before, place);
  if (begin === undefined)
    answer.head(
      "The list has changed since the previous page: entries may be missing or repeated.",
    );
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

/**
 * Returns the position after the last line that was shown, even if that line has moved. Returns undefined if that
 * line no longer exists.
 */
function beginOf(
  names: readonly string[],
  before: number,
  { from, last }: ListPlace<unknown>,
): number | undefined {
  if (from <= before || names[from - before - 1] === last) return Math.max(0, from - before);
  const at = names.indexOf(last);
  return at < 0 ? undefined : at + 1;
}
