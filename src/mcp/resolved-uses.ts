/** Lists the uses or callers of a symbol that the rules of its language resolve, for the tool `references`. */

import { QuernError } from "../base/errors.ts";
import { newPause } from "../base/yield.ts";
import { findOptions } from "../find/request.ts";
import type {
  Certainty,
  NavigationAnswer,
  NavigationPlace,
  NavigationTarget,
} from "../navigation/request.ts";
import { usesInWords } from "../navigation/wording.ts";
import { Answer, cutLine } from "./answer.ts";
import { partsOfName } from "./definitions-of.ts";
import { named } from "./delimit.ts";
import { plural } from "./plural.ts";
import { readText } from "./read-text.ts";
import { findRepository, searchOptions } from "./scope.ts";
import { TextLines } from "./text-lines.ts";
import type { Filters, Outcome, ToolContext } from "./tool.ts";

const MAX_PLACES = 1_000;
const LAST_LINE = "1 234 places are left out: give a higher maxTokens, or certainty.";

export interface ResolvedArgs extends Filters {
  readonly symbol?: string | undefined;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly certainty?: Certainty | undefined;
  readonly callers?: number | undefined;
  readonly maxTokens: number;
}

export async function tellResolved(args: ResolvedArgs, context: ToolContext): Promise<Outcome> {
  const { symbol, certainty, callers, maxTokens } = args;
  if (!symbol) throw new QuernError("INVALID_REQUEST", "certainty and callers require symbol");
  const target = await targetOf({ ...args, symbol }, context);
  const options = {
    ...findOptions(searchOptions(context, context.viewer)),
    limit: MAX_PLACES,
    ...(certainty && { atLeast: certainty }),
  };
  const found: NavigationAnswer =
    callers === undefined
      ? await context.engine.usesOf(target, options)
      : await context.engine.callersOf(target, { ...options, depth: callers });
  const answer = new Answer(maxTokens, context.count, LAST_LINE);
  const words =
    callers === undefined
      ? usesInWords(named(symbol), found)
      : callersInWords(named(symbol), found);
  for (const one of [...words, ...context.behind()]) answer.head(one);
  const shown = answer.takeSome(await linesOf(found.places, context));
  answer.add(shown);
  const left = found.places.length - shown.length;
  if (left > 0)
    answer.tail(`${plural(left, "place")} are left out: give a higher maxTokens, or certainty.`);
  const { resolved, likely, possible } = found.counts;
  const isWhole = left <= 0 && found.nextCursor === undefined;
  return {
    text: answer.text,
    facts: {
      matches: resolved + likely + possible,
      files: new Set(found.places.map(({ repository, path }) => `${repository}:${path}`)).size,
      shown: shown.length,
      complete: isWhole && found.isComplete && context.behind().length === 0,
    },
  };
}

async function targetOf(
  { symbol, file, line, repository, revision }: ResolvedArgs & { readonly symbol: string },
  context: ToolContext,
): Promise<NavigationTarget> {
  const more = revision === undefined ? {} : { revision };
  if (file && line) {
    const text = await readText({ file, repository, revision }, context);
    const code = text.lines.at(line);
    const at = code.indexOf(partsOfName(symbol).symbol);
    if (at < 0)
      throw new QuernError(
        "INVALID_REQUEST",
        `line ${line} of ${named(file)} does not name ${named(symbol)}`,
      );
    const column = Array.from(code.slice(0, at)).length + 1;
    return { repository: text.repository, path: text.path, line, column, ...more };
  }
  if (repository === undefined) return { symbol, ...more };
  return { symbol, repository: (await findRepository(repository, context)).name, ...more };
}

function callersInWords(
  symbol: string,
  { places, targets, isComplete }: NavigationAnswer,
): string[] {
  if (targets.length === 0) return [`No definition of ${symbol} is known.`];
  return [
    `${plural(places.length, "caller")} of ${symbol}. Reflection and other repositories are not seen.`,
    ...(isComplete ? [] : ["Not all files were read."]),
  ];
}

/** Returns a line for each place, with its code. */
async function linesOf(
  places: readonly NavigationPlace[],
  { engine, viewer, signal }: ToolContext,
): Promise<string[]> {
  const pause = newPause({ signal });
  const texts = new Map<string, TextLines | undefined>();
  const lines: string[] = [];
  for (const { repository, path, range, certainty, use, inside, ...more } of places) {
    const key = `${repository}:${path}`;
    if (!texts.has(key)) {
      const content = await engine.read({ repository, path }, viewer ? { viewer } : {});
      texts.set(key, content && (await TextLines.of(content.bytes, pause)));
    }
    const { lineNumber } = range.start;
    const name = inside
      ? ` in ${inside.parent ? `${inside.parent.symbol}.` : ""}${inside.symbol}`
      : "";
    const depth = "depth" in more ? ` depth ${String(more.depth)}` : "";
    const code = cutLine(texts.get(key)?.at(lineNumber) ?? "", 0).trim();
    lines.push(`${key}:${lineNumber} ${certainty} ${use}${name}${depth}: ${code}`);
  }
  return lines;
}
